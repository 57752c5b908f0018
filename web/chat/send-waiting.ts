// Sends the browser's outbox in order, one message at a time. The next follows when the gateway accepted the last.
import { defined } from '../../src/contract/defined.ts'
import { call } from '../shared/http.ts'
import { pause } from '../shared/pause.ts'
import type { StateNews } from './model.ts'
import type { Outbox } from './outbox.ts'

// Refusals that are final when the gateway itself gives them, because a retry would get the same. Other failures (a
// restart, a proxy) may pass.
const FOR_GOOD: readonly (string | null)[] = ['input_invalid', 'forbidden', 'too_large', 'unsupported_media']

interface WaitingDeps {
  readonly outbox: () => Outbox | null
  readonly isOnline: () => boolean
  /** Whether the session still belongs to this page's person. */
  readonly stillOurs: () => Promise<boolean>
  /** The gateway accepted it, with its state. */
  readonly taken: (news: StateNews) => void
  /** The gateway refused it for good. */
  readonly refused: (news: StateNews) => void
}

/** Calls during a run do nothing. A run continues until nothing waits, or the gateway cannot be reached. */
export function createSendWaiting(deps: WaitingDeps): () => Promise<void> {
  let sending = false

  /** False: it waits for the stream's return, or for the next message. */
  async function sendFirst(outbox: Outbox): Promise<boolean> {
    const item = outbox.all()[0]
    if (item === undefined) return false
    const answer = await call('POST', '/chat/messages', {
      clientId: item.clientId,
      text: item.text,
      attachments: item.attachments.map((file) => file.id),
      ...(item.replyTo === null ? {} : { replyTo: item.replyTo }),
    })
    if (answer.ok && typeof answer.body.state === 'string') {
      outbox.remove(item.clientId)
      const { state, reason, reasonText } = answer.body as unknown as StateNews
      deps.taken({ id: item.clientId, state, ...defined({ reason, reasonText }) })
    } else if (answer.status === 429) {
      await pause(answer.retryAfterMs ?? 2_000)
    } else if (FOR_GOOD.includes(answer.code)) {
      outbox.remove(item.clientId)
      deps.refused({ id: item.clientId, state: 'refused', reasonText: answer.problem })
    } else {
      if (answer.status !== 0) await pause(1_500)
      if (answer.status === 401 && !(await deps.stillOurs())) return false
      if (!deps.isOnline()) return false
      await pause(1_500)
    }
    return true
  }

  return async () => {
    const outbox = deps.outbox()
    if (sending || outbox === null) return
    sending = true
    try {
      while (await sendFirst(outbox));
    } finally {
      sending = false
    }
  }
}
