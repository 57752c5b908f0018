// Asks Slack whether the tokens are what they should be, before they are kept.
import { type Clock, type Options, SwitchboardError } from '../../contract/index.ts'
import { TRIAL_TIMEOUT_MS, trialOf } from '../../kit/index.ts'
import { createSlackClient } from './api/client.ts'
import { scopesInUse } from './api/scopes.ts'
import { askSelf } from './api/self.ts'
import { readConfig } from './config.ts'

/** `options` hold the tokens themselves. Throws what Slack said, never a token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const config = readConfig(trialOf(options, ['bot_token', 'app_token', 'signing_secret']))
  const client = createSlackClient(config, { requestTimeoutMs: TRIAL_TIMEOUT_MS }, { clock })
  const self = await askSelf(client)
  if (config.appToken !== null) {
    const open = { as: 'app', repeatable: true } as const
    await client.call('apps.connections.open', {}, open).catch((thrown: unknown) => {
      const said = thrown instanceof SwitchboardError ? thrown.message : 'it could not be tried'
      throw new SwitchboardError('platform_unavailable', `app_token: ${said}`)
    })
  }
  const missing = scopesInUse(options).filter((scope) => self.scopes !== null && !self.scopes.includes(scope))
  const lacks = missing.length === 0 ? '' : ` (missing scopes: ${missing.join(', ')})`
  return { who: `@${self.name} in ${self.team}${lacks}` }
}
