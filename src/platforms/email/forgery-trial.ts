// `doctor --security --send-test`: sends a mail with a forged Authentication-Results header through the SMTP server to
// the mailbox. The header of the received mail shows whether such a forgery would be believed.
import type { ImapFlow } from 'imapflow'
import {
  asSwitchboardError,
  type Clock,
  type PlatformTrial,
  type Random,
  SwitchboardError,
} from '../../contract/index.ts'
import type { EmailConfig, Timings } from './config.ts'
import { answered, uidsOf } from './link/imap-client.ts'
import type { SideConnection } from './link/side-connection.ts'
import type { Smtp } from './link/smtp.ts'
import { readHeaders } from './mail/headers.ts'
import { judgeResults, parseAuthResults } from './mail/verify.ts'

const WAIT_MS = 20_000
const LOOK_MS = 1_000
/** A reserved domain that cannot be registered. */
const FORGED_DOMAIN = 'forged.invalid'

export function createForgeryTrial(deps: {
  readonly config: EmailConfig
  readonly timings: Timings
  readonly clock: Clock
  readonly random: Random
  readonly side: SideConnection
  readonly smtp: Smtp
}): () => Promise<PlatformTrial> {
  const { config, timings, clock, side } = deps
  const { address, authservIds, options } = config

  /** Returns the header of the received mail, and removes the mail. Null: it has not arrived. */
  const look = async (client: ImapFlow, id: string): Promise<Uint8Array | null> => {
    const ask = <T>(asked: Promise<T>) => answered(client, asked, timings.commandMs, clock)
    const [uid] = await uidsOf(client, { header: { 'message-id': id } }, timings.commandMs, clock)
    if (uid === undefined) return null
    const found = await ask(client.fetchOne(String(uid), { uid: true, headers: true }, { uid: true }))
    await ask(client.messageDelete(String(uid), { uid: true })).catch(() => false)
    return found === false ? null : (found?.headers ?? null)
  }

  const arrived = async (id: string): Promise<Uint8Array | null> => {
    for (const end = clock.now() + WAIT_MS; clock.now() < end; ) {
      const header = await side.within(options.mailbox, (client) => look(client, id))
      if (header !== null) return header
      await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve))
    }
    return null
  }

  return async () => {
    const server = authservIds[0]?.replace(/^\*\./, 'mx.')
    if (server === undefined)
      return { found: [], told: ['no authserv_id is set, so Authentication-Results are never believed'] }
    const id = `<forgery-trial.${deps.random.uuid()}@${config.domain}>`
    const raw = Buffer.from(
      [
        `Authentication-Results: ${server}; dmarc=pass header.from=${FORGED_DOMAIN}`,
        `From: ${address}`,
        `To: ${address}`,
        `Message-ID: ${id}`,
        `Date: ${new Date(clock.now()).toUTCString()}`,
        'Subject: Switchboard: trial of a forged header',
        'Auto-Submitted: auto-generated',
        '',
        'This mail was sent by doctor --security --send-test and is taken away again.',
        '',
      ].join('\r\n'),
    )
    const key = options.results_below_received === true ? 'results_below_received' : 'authserv_id'
    try {
      await deps.smtp.deliver({ to: address, raw })
      const header = await arrived(id)
      if (header === null)
        throw new SwitchboardError(
          'platform_unavailable',
          `the mail did not arrive within ${WAIT_MS / 1_000} s`,
        )
      const fields = readHeaders(header)
      if (judgeResults(fields, config, `anybody@${FORGED_DOMAIN}`)?.proven === true)
        return {
          found: [
            {
              severity: 'high',
              key,
              what: `a forged Authentication-Results header of ${server} is believed: a mail with one went through ${config.smtp.host} and the server left it where it counts`,
            },
          ],
          told: [],
        }
      const isThere = fields.some(
        ({ name, value }) =>
          name === 'authentication-results' &&
          parseAuthResults(value).results.some(({ props }) => props.get('header.from') === FORGED_DOMAIN),
      )
      const why = isThere ? 'it stands where it does not count' : 'the server took it out'
      return { found: [], told: [`a forged Authentication-Results header was not believed: ${why}`] }
    } catch (thrown) {
      return {
        found: [],
        told: [`a forged header could not be tried: ${asSwitchboardError(thrown).message}`],
      }
    }
  }
}
