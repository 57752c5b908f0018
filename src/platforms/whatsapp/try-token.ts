// Asks WhatsApp whether a token and a number belong together, before they are stored.
import type { Clock, Options } from '../../contract/index.ts'
import { TRIAL_TIMEOUT_MS, trialOf } from '../../kit/index.ts'
import { createWhatsAppClient } from './client.ts'
import { readConfig } from './config.ts'
import { askSelf } from './self.ts'

/** `options` contain the secrets themselves. Throws WhatsApp's answer, never a token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const config = readConfig(trialOf(options, ['access_token', 'app_secret', 'verify_token']))
  const client = createWhatsAppClient(config, { requestTimeoutMs: TRIAL_TIMEOUT_MS }, { clock })
  const { number, name } = await askSelf(client, config)
  return { who: `${number}${name === '' ? '' : ` (${name})`}` }
}
