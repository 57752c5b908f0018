// Brings updates to the bot. Either one poller at a time polls and confirms by offset, or a webhook gets each update
// until it answers 2xx.
import type { FaultRule } from '../faults/fault-plan.ts'
import type { CallBody } from '../request-body.ts'
import { type Answer, refuse } from './methods.ts'
import type { FakeUpdate, World } from './world.ts'

export interface UpdateQueue {
  /** The offset of every getUpdates so far, in order. */
  readonly polls: readonly number[]
  /** How many polls ended because another poller came. */
  conflicts(): number
  /** Whether the bot asked for a later update. */
  confirmed(updateId: number): boolean
  getUpdates(body: CallBody, fault: FaultRule | null, peer: Peer): Promise<Answer>
  method(name: string, body: CallBody): Answer | null
  stop(): void
}

/** The connection that waits for the answer. */
export interface Peer {
  onGone(run: () => void): void
}

interface WaitingPoll {
  readonly end: (answer: Answer | null) => void
}

interface Hook {
  readonly url: string
  readonly secret: string
}

// The Bot API sends these only on request.
const OPTIONAL = new Set(['chat_member', 'message_reaction', 'message_reaction_count'])
const HOOK_RETRY_MS = 100
const OTHER_POLLER =
  'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running'
const HOOK_ACTIVE =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"

export function createUpdateQueue(world: World): UpdateQueue {
  const polls: number[] = []
  let waiting: WaitingPoll | null = null
  let allowed: readonly string[] | null = null
  let hook: Hook | null = null
  let hookError: { readonly last_error_message: string; readonly last_error_date: number } | null = null
  let posting = false
  let stopped = false
  let conflicts = 0

  const wanted = (update: FakeUpdate) => {
    const kind = Object.keys(update).find((key) => key !== 'update_id') ?? ''
    return allowed === null || allowed.length === 0 ? !OPTIONAL.has(kind) : allowed.includes(kind)
  }

  const forget = (before: number) => {
    const kept = world.updates.filter((update) => update.update_id >= before)
    world.updates.splice(0, world.updates.length, ...kept)
  }

  const batch = (limit: number) => world.updates.filter(wanted).slice(0, limit)

  const troubled = (list: readonly FakeUpdate[], fault: FaultRule | null): readonly FakeUpdate[] => {
    if (fault?.do === 'reorder') return list.toReversed()
    if (fault?.do !== 'duplicate' || list.length === 0) return list
    // The batch has each update twice. The same messages also come later, under other update ids.
    for (const { update_id: _id, ...content } of list)
      for (const [kind, value] of Object.entries(content)) world.push(kind, value)
    return [...list, ...list]
  }

  const post = async (): Promise<void> => {
    if (posting || hook === null || stopped) return
    posting = true
    while (hook !== null && !stopped) {
      const [update] = batch(1)
      if (update === undefined) break
      const { url, secret } = hook as Hook
      const status = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(secret === '' ? {} : { 'x-telegram-bot-api-secret-token': secret }),
        },
        body: JSON.stringify(update),
      }).then(
        (response) => response.status,
        () => 0,
      )
      if (status >= 200 && status < 300) {
        hookError = null
        forget(update.update_id + 1)
      } else {
        const said = status === 0 ? 'Connection refused' : `Wrong response from the webhook: ${status}`
        hookError = { last_error_message: said, last_error_date: world.now() }
        await new Promise((resolve) => setTimeout(resolve, HOOK_RETRY_MS))
      }
    }
    posting = false
  }

  world.onUpdate(() => void post())

  return {
    polls,
    conflicts: () => conflicts,
    confirmed: (updateId) => !world.updates.some((update) => update.update_id === updateId),
    async getUpdates({ params }, fault, peer) {
      if (hook !== null) return refuse(HOOK_ACTIVE, 409)
      // The new poller gets the updates. The waiting one gets the refusal.
      if (waiting) conflicts += 1
      waiting?.end(refuse(OTHER_POLLER, 409))
      const offset = Number(params.offset ?? 0)
      polls.push(offset)
      if (Array.isArray(params.allowed_updates)) allowed = params.allowed_updates as string[]
      if (offset > 0) forget(offset)
      if (offset < 0) forget(world.updates.at(offset)?.update_id ?? 0)
      const limit = Math.min(100, Math.max(1, Number(params.limit ?? 100)))
      const ready = batch(limit)
      const timeoutMs = Math.min(50, Number(params.timeout ?? 0)) * 1000
      if (ready.length > 0 || timeoutMs <= 0) return { result: troubled(ready, fault) }
      return new Promise<Answer>((resolve) => {
        const end = (answer: Answer | null) => {
          clearTimeout(timer)
          unsubscribe()
          if (waiting === mine) waiting = null
          resolve(answer ?? { result: troubled(batch(limit), fault) })
        }
        const mine: WaitingPoll = { end }
        const timer = setTimeout(() => end(null), timeoutMs)
        waiting = mine
        // A short delay lets updates that are written together arrive together.
        const unsubscribe = world.onUpdate(() => {
          setTimeout(() => waiting === mine && batch(1).length > 0 && end(null), 2)
        })
        peer.onGone(() => end(null))
      })
    },
    method(name, { params }) {
      switch (name.toLowerCase()) {
        case 'setwebhook': {
          const url = String(params.url ?? '')
          hook = url === '' ? null : { url, secret: String(params.secret_token ?? '') }
          if (Array.isArray(params.allowed_updates)) allowed = params.allowed_updates as string[]
          waiting?.end(refuse('Conflict: terminated by setWebhook request', 409))
          if (params.drop_pending_updates === true) forget(Number.POSITIVE_INFINITY)
          void post()
          return { result: true }
        }
        case 'deletewebhook':
          hook = null
          if (params.drop_pending_updates === true) forget(Number.POSITIVE_INFINITY)
          return { result: true }
        case 'getwebhookinfo':
          return {
            result: {
              url: hook?.url ?? '',
              has_custom_certificate: false,
              pending_update_count: world.updates.length,
              ...hookError,
            },
          }
        default:
          return null
      }
    },
    stop() {
      stopped = true
      waiting?.end({ result: [] })
    },
  }
}
