// Our own number as the API knows it, requested from the start until it answers. A private server that does not know
// this request is still up.
import { type Clock, defined, SwitchboardError } from '../../contract/index.ts'
import type { WhatsAppClient } from './client.ts'
import type { Timings, WhatsAppConfig } from './config.ts'
import { textOf } from './fields.ts'
import { isTokenRefusal } from './refusals.ts'

export type LinkState = {
  readonly state: 'up' | 'connecting' | 'down'
  readonly since?: number
  readonly detail?: string
}

export interface Self {
  readonly number: string
  readonly name: string
}

/** Throws WhatsApp's answer, never a token. */
export async function askSelf(
  client: WhatsAppClient,
  { phoneNumberId }: Pick<WhatsAppConfig, 'phoneNumberId'>,
): Promise<Self> {
  const path = `${phoneNumberId}?fields=display_phone_number,verified_name`
  const answer = await client.call(path, { repeatable: true })
  return {
    number: textOf(answer.display_phone_number) ?? phoneNumberId,
    name: textOf(answer.verified_name) ?? '',
  }
}

export interface SelfWatch {
  known(): Self | null
  link(): LinkState
  start(connected: () => void): void
  /** A call was refused because of the token, or succeeded. */
  refused(thrown: unknown): void
  worked(): void
  stop(): void
}

export function createSelfWatch(
  client: WhatsAppClient,
  config: WhatsAppConfig,
  { clock, timings }: { readonly clock: Clock; readonly timings: Timings },
): SelfWatch {
  let self: Self | null = null
  let link: LinkState = { state: 'connecting' }
  let stopped = true
  let cancel = () => {}
  const up = (detail?: string) => {
    link = { state: 'up', since: clock.now(), ...defined({ detail }) }
  }

  const look = async (connected: () => void, attempt = 1): Promise<void> => {
    try {
      self = await askSelf(client, config)
      up()
      connected()
    } catch (thrown) {
      if (stopped) return
      const error = thrown instanceof SwitchboardError ? thrown : null
      if (error?.code === 'platform_rejected') {
        up(`the number could not be looked up: ${error.message}`)
        return connected()
      }
      link = { state: 'down', detail: error?.message ?? 'WhatsApp does not answer' }
      const delayMs = Math.min(timings.retryMaxMs, timings.retryBaseMs * 2 ** Math.min(attempt, 20))
      cancel = clock.after(delayMs, () => void (stopped ? undefined : look(connected, attempt + 1)))
    }
  }

  return {
    known: () => self,
    link: () => link,
    start(connected) {
      stopped = false
      void look(connected)
    },
    refused(thrown) {
      if (!isTokenRefusal(thrown) || link.state === 'down') return
      link = { state: 'down', detail: thrown.message }
      cancel()
      cancel = clock.after(timings.retryMaxMs, () => void (stopped ? undefined : look(() => undefined)))
    },
    worked() {
      if (link.state === 'down') up()
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}
