// Whether a token is one, asked of Telegram itself: before anything is kept of it, and without an integration.
import { type Clock, defined, type Options, SwitchboardError } from '../../contract/index.ts'
import { createTelegramClient } from './client.ts'
import { DEFAULT_TIMINGS, readConfig } from './config.ts'

const TRY_TIMEOUT_MS = 10_000

/** `options` hold the token itself. Throws what Telegram said, never the token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const { token, api_root } = options
  const config = readConfig({
    integration: {
      id: 'try',
      options: { token: 'secret:token', ...defined({ api_root }) },
    },
    secret: () => String(token),
  })
  const client = createTelegramClient(config, DEFAULT_TIMINGS, { clock })
  const { username } = await client.call('getMe', {} as never, {
    repeatable: true,
    timeoutMs: TRY_TIMEOUT_MS,
  })
  if (typeof username !== 'string') throw new SwitchboardError('platform_unavailable', 'getMe names nobody')
  return { who: `@${username}` }
}
