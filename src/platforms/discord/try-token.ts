// Asks Discord whether a token is valid, before it is stored.
import type { Clock, Options } from '../../contract/index.ts'
import { TRIAL_TIMEOUT_MS, trialOf } from '../../kit/index.ts'
import { createDiscordClient } from './api/client.ts'
import { inviteUrl } from './api/permissions.ts'
import { askSelf } from './api/self.ts'
import { readConfig } from './config.ts'
import { intentGates } from './link/intents.ts'

/** `options` contain the token itself. Throws Discord's answer, never the token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const config = readConfig(trialOf(options, ['token']))
  const client = createDiscordClient(config, { requestTimeoutMs: TRIAL_TIMEOUT_MS }, { clock })
  const self = await askSelf(client)
  const off = intentGates(self, config.options, false).find(({ pass }) => !pass)
  const lacks = off === undefined ? '' : ` (${off.gate}: ${off.reason})`
  return { who: `@${self.name}, invited to a server by ${inviteUrl(self.appId)}${lacks}` }
}
