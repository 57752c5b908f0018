// The command `switchboard emulate email`: the fake mail provider with Kate in it, and the configuration for it.
import type { StartEmulator } from '../../contract/index.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import { createFakeMail, FAKE_KATE_ADDRESS } from './fake-mail.ts'

export const emulateEmail: StartEmulator = async ({ port, faults, onBot }) => {
  const fake = await createFakeMail({
    port,
    faults: parseFaultRules(faults),
    onMail({ to }) {
      // Printed as its reader sees it, after delivery.
      setImmediate(async () => {
        const mail = (await fake.person(to).reads()).at(-1)
        if (mail !== undefined) onBot(`mail to ${to}: ${mail.subject}\n${mail.text}`)
      })
    },
  })
  const server = (name: number) =>
    `{ host: 127.0.0.1, port: ${name}, password: env:MAIL_PASSWORD, tls: false }`
  return {
    url: fake.url,
    token: fake.password,
    integration: {
      id: 'mail',
      platform: 'email',
      address: fake.bot,
      imap: server(fake.imapPort),
      smtp: server(fake.smtpPort),
      authserv_id: fake.authservId,
      access: `{ allow_from: ["${FAKE_KATE_ADDRESS}"], approvers: ["${FAKE_KATE_ADDRESS}"] }`,
    },
    environment: { MAIL_PASSWORD: fake.password },
    more: [
      `curl ${fake.url}/_person -d '{"text":"hello"}'`,
      `curl ${fake.url}/_mailbox/${FAKE_KATE_ADDRESS}`,
      'mail to nobody@… is refused with 550',
    ],
    says: (text) => void fake.kate.writes(text),
    taps: (label) => void fake.kate.decides(label).catch((thrown: Error) => onBot(thrown.message)),
    stop: () => fake.stop(),
  }
}
