// Tries the login at both servers before anything is stored. It needs no integration.
import { type Clock, type Options, SwitchboardError } from '../../contract/index.ts'
import { TRIAL_TIMEOUT_MS, trialOf } from '../../kit/index.ts'
import { DEFAULT_TIMINGS, readConfig } from './config.ts'
import { connectImap } from './link/imap-client.ts'
import { createAccessTokens } from './link/oauth.ts'
import { createSmtp } from './link/smtp.ts'

/** `options` contain the secrets themselves. Throws a server's answer, never a password. */
export async function tryLogin(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const config = readConfig(trialOf(options, ['password', 'ca', 'client_secret', 'refresh_token']))
  const deadlines = { connectMs: TRIAL_TIMEOUT_MS, commandMs: TRIAL_TIMEOUT_MS, sendMs: TRIAL_TIMEOUT_MS }
  const timings = { ...DEFAULT_TIMINGS, ...deadlines }
  const tokens = config.oauth === null ? null : createAccessTokens(config.oauth, clock)
  const client = await connectImap(config, timings, { clock, tokens })
  try {
    const box = await client.mailboxOpen(config.options.mailbox).catch(() => null)
    if (box === null)
      throw new SwitchboardError(
        'platform_unavailable',
        `IMAP: there is no folder "${config.options.mailbox}"`,
      )
    const smtp = createSmtp(config, timings, { clock, tokens })
    await smtp.tryLogin().finally(() => smtp.close())
    return { who: `${config.address} (${box.exists} mails in ${config.options.mailbox})` }
  } finally {
    client.close()
  }
}
