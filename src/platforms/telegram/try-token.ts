// Asks Telegram whether a token is valid, before it is stored.
import { type Clock, type Options, SwitchboardError } from '../../contract/index.ts'
import { TRIAL_TIMEOUT_MS, trialOf } from '../../kit/index.ts'
import { createTelegramClient } from './client.ts'
import { DEFAULT_TIMINGS, readConfig } from './config.ts'

/** `options` contain the token itself. Throws Telegram's answer, never the token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const config = readConfig(trialOf(options, ['token', 'secret_token']))
  const timings = { ...DEFAULT_TIMINGS, requestTimeoutMs: TRIAL_TIMEOUT_MS }
  const client = createTelegramClient(config, timings, { clock })
  const { username } = await client.call('getMe', {} as never, { repeatable: true })
  if (typeof username !== 'string') throw new SwitchboardError('platform_unavailable', 'getMe names nobody')
  return { who: `@${username}` }
}
