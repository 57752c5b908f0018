// Sends what waits in the browser's outbox: one at a time and in order, the next when the one before was taken.
import { defined } from '../../src/contract/defined.ts'
import { call } from '../shared/http.ts'
import { pause } from '../shared/pause.ts'
import type { StateNews } from './model.ts'
import type { Outbox } from './outbox.ts'

// The only answers that end a message without its being taken, and only when the gateway gave them: it would say the
// same again. Anything else (a restart, a proxy) may be otherwise next time.
const FOR_GOOD: readonly (string | null)[] = ['input_invalid', 'forbidden', 'too_large', 'unsupported_media']

interface WaitingDeps {
  readonly outbox: () => Outbox | null
  readonly isOnline: () => boolean
  /** Whether the session is still this page's. */
  readonly stillOurs: () => Promise<boolean>
  /** The gateway has it, and says what became of it. */
  readonly taken: (news: StateNews) => void
  /** It will never be taken. */
  readonly refused: (news: StateNews) => void
}

/** Calls while one is under way do nothing: it goes on until nothing waits, or the gateway cannot be reached. */
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
