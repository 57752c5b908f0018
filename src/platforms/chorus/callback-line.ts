// Posts events to a delivery's callback, one after the other, with `processing` first. Lines are independent, so a slow
// or dead callback delays only its own delivery.
import {
  asSwitchboardError,
  type Clock,
  createSerialLines,
  defined,
  SwitchboardError,
} from '../../contract/index.ts'
import { type ChorusEvent, type GuardedFetch, postChorus } from '../../kit/index.ts'
import type { KeptDelivery } from './recent-deliveries.ts'

export interface CallbackLines {
  /**
   * Resolves when the service took it. Throws as `postChorus`, with `platform_rejected` for a callback that no longer
   * exists.
   */
  post(kept: KeptDelivery, event: ChorusEvent, options?: { readonly first?: boolean }): Promise<void>
  /** Lossy: tried once, in order. Of several that wait, only the newest is sent. */
  hint(kept: KeptDelivery, event: ChorusEvent): void
}

export function createCallbackLines(deps: {
  readonly clock: Clock
  readonly fetch: GuardedFetch
  readonly allowPrivate: boolean
  /** The service reports that the callback no longer exists. */
  readonly onGone: (kept: KeptDelivery) => void
}): CallbackLines {
  const lines = createSerialLines<string>()
  // The waiting hint of each line. The newest replaces the others.
  const hints = new Map<string, { event: ChorusEvent }>()

  const send = async (kept: KeptDelivery, event: ChorusEvent) => {
    const to = { url: kept.callback, body: event, whom: 'the callback', allowPrivate: deps.allowPrivate }
    const key = defined({ idempotencyKey: event.event_id })
    try {
      await postChorus({ ...to, ...key, now: deps.clock.now() }, deps.fetch)
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      if (error.code === 'gone') deps.onGone(kept)
      if (error.code !== 'gone' && error.code !== 'forbidden') throw error
      throw new SwitchboardError('platform_rejected', error.message, error.hint ? { hint: error.hint } : {})
    }
  }

  /** A service that does not know `lifecycle` may refuse it. The other events are still sent. */
  const begin = async (kept: KeptDelivery) => {
    if (kept.begun) return
    const event = { type: 'lifecycle', status: 'processing', event_id: `${kept.name}.processing` } as const
    await send(kept, event).catch((thrown: unknown) => {
      const error = asSwitchboardError(thrown)
      if (error.code !== 'platform_rejected') throw error
    })
    kept.begun = true
  }

  return {
    post: (kept, event, options = {}) =>
      lines.run(kept.name, async () => {
        if (options.first !== false) await begin(kept)
        await send(kept, event)
      }),
    hint(kept, event) {
      const waiting = hints.get(kept.name)
      if (waiting !== undefined) {
        if (event.type !== 'lifecycle') waiting.event = event
        return
      }
      const hint = { event }
      hints.set(kept.name, hint)
      const hinting = lines.run(kept.name, async () => {
        hints.delete(kept.name)
        if (kept.gone) return
        await begin(kept)
        if (hint.event.type !== 'lifecycle') await send(kept, hint.event)
      })
      hinting.catch(() => undefined)
    },
  }
}
