// Whether tokens are what they should be, asked of Slack itself: before anything is kept, and without an integration.
import { type Clock, defined, type Options, SwitchboardError } from '../../contract/index.ts'
import { createSlackClient } from './api/client.ts'
import { scopesInUse } from './api/scopes.ts'
import { askSelf } from './api/self.ts'
import { DEFAULT_TIMINGS, readConfig } from './config.ts'

const TRY_TIMEOUT_MS = 10_000

/** `options` hold the tokens themselves. Throws what Slack said, never a token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const { bot_token, app_token, api_url, mode, signing_secret } = options
  const secrets: Readonly<Record<string, unknown>> = { bot_token, app_token, signing_secret }
  const config = readConfig({
    integration: {
      id: 'try',
      options: {
        bot_token: 'secret:bot_token',
        ...(app_token === undefined ? {} : { app_token: 'secret:app_token' }),
        ...(signing_secret === undefined ? {} : { signing_secret: 'secret:signing_secret' }),
        ...defined({ api_url, mode }),
      },
    },
    secret: (reference) => String(secrets[reference.slice('secret:'.length)]),
  })
  const client = createSlackClient(config, DEFAULT_TIMINGS, { clock })
  const self = await askSelf(client, TRY_TIMEOUT_MS)
  if (config.appToken !== null) {
    const open = { as: 'app', repeatable: true, timeoutMs: TRY_TIMEOUT_MS } as const
    await client.call('apps.connections.open', {}, open).catch((thrown: unknown) => {
      const said = thrown instanceof SwitchboardError ? thrown.message : 'it could not be tried'
      throw new SwitchboardError('platform_unavailable', `app_token: ${said}`)
    })
  }
  const missing = scopesInUse(options).filter((scope) => self.scopes !== null && !self.scopes.includes(scope))
  const lacks = missing.length === 0 ? '' : ` (missing scopes: ${missing.join(', ')})`
  return { who: `@${self.name} in ${self.team}${lacks}` }
}
