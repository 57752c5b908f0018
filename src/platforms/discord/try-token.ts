// Whether a token is what it should be, asked of Discord itself: before anything is kept, and without an integration.
import { type Clock, defined, type Options } from '../../contract/index.ts'
import { createDiscordClient } from './api/client.ts'
import { inviteUrl } from './api/permissions.ts'
import { askSelf } from './api/self.ts'
import { DEFAULT_TIMINGS, readConfig } from './config.ts'
import { intentGates } from './link/intents.ts'

const TRY_TIMEOUT_MS = 10_000

/** `options` hold the token itself. Throws what Discord said, never the token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const { token, api_url, message_content } = options
  const config = readConfig({
    integration: {
      id: 'try',
      options: { token: 'secret:token', ...defined({ api_url, message_content }) },
    },
    secret: () => String(token),
  })
  const client = createDiscordClient(config, DEFAULT_TIMINGS, { clock })
  const self = await askSelf(client, TRY_TIMEOUT_MS)
  const off = intentGates(self, config.options, false).find(({ pass }) => !pass)
  const lacks = off === undefined ? '' : ` (${off.gate}: ${off.reason})`
  return { who: `@${self.name}, invited to a server by ${inviteUrl(self.appId)}${lacks}` }
}
