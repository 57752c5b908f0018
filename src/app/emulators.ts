// Fake platforms for development, loaded when asked for: what `switchboard emulate` runs.
import type { FaultRule } from '../testing/emulate.ts'

export interface RunningEmulator {
  readonly url: string
  readonly token: string
  /** A person in the direct chat with the bot. */
  says(text: string): void
  taps(label: string): void
  stop(): Promise<void>
}

export interface EmulatorOptions {
  readonly port: number
  readonly faults: readonly FaultRule[]
  /** Told what the bot does, one line each. */
  readonly onBot: (line: string) => void
}

/** Housekeeping of the bot that says nothing to anybody. */
const SILENT: readonly string[] = ['sendChatAction', 'getMe', 'setWebhook', 'getWebhookInfo']

export async function emulateTelegram(options: EmulatorOptions): Promise<RunningEmulator> {
  const { controlDoor, createFakeTelegram } = await import('../testing/emulate.ts')
  const fake = await createFakeTelegram({
    port: options.port,
    faults: options.faults,
    otherwise: controlDoor,
    onCall(method, params, result) {
      if (SILENT.includes(method)) return
      const said = result as { readonly text?: string; readonly caption?: string }
      const text = said.text ?? said.caption ?? params.text ?? ''
      options.onBot(`${method}: ${String(text)}`)
    },
  })
  const kate = fake.person()
  return {
    url: fake.url,
    token: fake.token,
    says: (text) => void kate.says(text),
    taps: (label) => void kate.taps(label),
    stop: () => fake.stop(),
  }
}

/** Rules as they stand in a file. Throws `input_invalid` naming the rule. */
export async function readFaults(value: unknown): Promise<readonly FaultRule[]> {
  const { parseFaultRules } = await import('../testing/emulate.ts')
  return parseFaultRules(value)
}
