// The command `switchboard emulate whatsapp`: the fake Cloud API with one person in it, and the configuration for it.
import type { StartEmulator } from '../../contract/index.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import { whatsappControlServer } from './control.ts'
import { createFakeWhatsApp } from './fake-whatsapp.ts'
import { KATE } from './person.ts'

/** The default webhook address of a daemon on the same machine. */
const USUAL_WEBHOOK = 'http://127.0.0.1:4747/hooks/wa'

export const emulateWhatsApp: StartEmulator = async ({ port, faults, onBot }) => {
  const fake = await createFakeWhatsApp({
    port,
    faults: parseFaultRules(faults),
    otherwise: whatsappControlServer,
    onMessage: ({ type, text }) => onBot(`${type}: ${text}`),
  })
  fake.webhook.aim(USUAL_WEBHOOK)
  const kate = fake.person()
  return {
    url: fake.url,
    token: fake.token,
    integration: {
      id: 'wa',
      platform: 'whatsapp',
      phone_number_id: fake.phoneNumberId,
      access_token: 'env:WHATSAPP_TOKEN',
      app_secret: 'env:WHATSAPP_APP_SECRET',
      verify_token: 'env:WHATSAPP_VERIFY_TOKEN',
      api_url: fake.url,
    },
    environment: {
      WHATSAPP_TOKEN: fake.token,
      WHATSAPP_APP_SECRET: fake.appSecret,
      WHATSAPP_VERIFY_TOKEN: fake.verifyToken,
    },
    more: [
      `posts go to ${USUAL_WEBHOOK}; another place: curl ${fake.url}/_webhook -d '{"url":"http://127.0.0.1:PORT/hooks/wa"}'`,
      `curl ${fake.url}/_person -d '{"text":"hello"}'`,
      `curl ${fake.url}/_person -d '{"text":"hello","hours_ago":25}'`,
      `curl ${fake.url}/_chat/${KATE}`,
    ],
    says: (text) => void kate.says(text),
    taps: (label) => void kate.taps(label),
    stop: () => fake.stop(),
  }
}
