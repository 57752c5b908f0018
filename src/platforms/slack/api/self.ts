// The bot's own identity, requested once and remembered.
import { SwitchboardError } from '../../../contract/index.ts'
import { type MemoizedAsync, memoizeAsync } from '../../../kit/index.ts'
import type { SlackClient } from './client.ts'

export interface Self {
  readonly userId: string
  readonly botId: string | null
  readonly teamId: string
  readonly name: string
  readonly team: string
  /** The granted scopes; null: Slack did not report them. */
  readonly scopes: readonly string[] | null
}

export async function askSelf(client: SlackClient): Promise<Self> {
  const { answer, scopes } = await client.call('auth.test', {}, { repeatable: true })
  const { user_id, bot_id, team_id, user, team } = answer
  if (typeof user_id !== 'string')
    throw new SwitchboardError('platform_unavailable', 'Slack: auth.test names nobody')
  return {
    userId: user_id,
    botId: typeof bot_id === 'string' ? bot_id : null,
    teamId: typeof team_id === 'string' ? team_id : '',
    name: typeof user === 'string' ? user : '',
    team: typeof team === 'string' ? team : '',
    scopes,
  }
}

export type KnownSelf = MemoizedAsync<Self>

export const createSelf = (client: SlackClient): KnownSelf => memoizeAsync(() => askSelf(client))
