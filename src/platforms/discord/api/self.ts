// The bot's own identity, requested once and remembered.
import { SwitchboardError } from '../../../contract/index.ts'
import { type MemoizedAsync, memoizeAsync } from '../../../kit/index.ts'
import type { DiscordClient } from './client.ts'
import { isStatus } from './refusals.ts'
import { isSnowflake } from './snowflakes.ts'

export interface Self {
  readonly userId: string
  readonly name: string
  readonly appId: string
  /** The application's flags, which show its intents. Null: Discord did not report them. */
  readonly flags: number | null
}

export async function askSelf(client: DiscordClient): Promise<Self> {
  const options = { repeatable: true }
  const me = await client.call('GET', '/users/@me', options)
  if (!isSnowflake(me.id))
    throw new SwitchboardError('platform_unavailable', 'Discord: /users/@me names nobody')
  // A compatible server may lack this route. An application has its bot's id, unless it is very old.
  const app = await client.call('GET', '/applications/@me', options).catch((thrown: unknown) => {
    if (isStatus(thrown, 400, 403, 404, 405, 501)) return {}
    throw thrown
  })
  const { id, flags } = app as { readonly id?: unknown; readonly flags?: unknown }
  return {
    userId: me.id,
    name: typeof me.username === 'string' ? me.username : '',
    appId: isSnowflake(id) ? id : me.id,
    flags: typeof flags === 'number' ? flags : null,
  }
}

export type KnownSelf = MemoizedAsync<Self>

export const createSelf = (client: DiscordClient): KnownSelf => memoizeAsync(() => askSelf(client))
