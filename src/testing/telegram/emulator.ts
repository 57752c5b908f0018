// The command `switchboard emulate telegram`: the fake Bot API with one person in it, and the configuration for it.
import type { StartEmulator } from '../../contract/index.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import { controlServer } from './control.ts'
import { createFakeTelegram } from './fake-telegram.ts'

/** Housekeeping calls of the bot. The emulator does not print them. */
const SILENT: readonly string[] = ['sendChatAction', 'getMe', 'setWebhook', 'getWebhookInfo']

export const emulateTelegram: StartEmulator = async ({ port, faults, onBot }) => {
  const fake = await createFakeTelegram({
    port,
    faults: parseFaultRules(faults),
    otherwise: controlServer,
    onCall(method, params, result) {
      if (SILENT.includes(method)) return
      const said = result as { readonly text?: string; readonly caption?: string }
      const text = said.text ?? said.caption ?? params.text ?? ''
      onBot(`${method}: ${String(text)}`)
    },
  })
  const kate = fake.person()
  return {
    url: fake.url,
    token: fake.token,
    integration: { id: 'tg', platform: 'telegram', token: 'env:TELEGRAM_BOT_TOKEN', api_root: fake.url },
    environment: { TELEGRAM_BOT_TOKEN: fake.token },
    more: [`curl ${fake.url}/_person -d '{"text":"hello"}'`, `curl ${fake.url}/_chat/412587349`],
    says: (text) => void kate.says(text),
    taps: (label) => void kate.taps(label),
    stop: () => fake.stop(),
  }
}
