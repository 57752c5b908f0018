// Who the bot is, asked of Slack once and remembered; asked again while it fails. Those who ask at once share the answer.
import { defined, SwitchboardError } from '../../contract/index.ts'
import type { SlackClient } from './client.ts'

export interface Self {
  readonly userId: string
  readonly botId: string | null
  readonly teamId: string
  readonly name: string
  readonly team: string
  /** What was granted; null: Slack did not say. */
  readonly scopes: readonly string[] | null
}

export async function askSelf(client: SlackClient, timeoutMs?: number): Promise<Self> {
  const { answer, scopes } = await client.call(
    'auth.test',
    {},
    { repeatable: true, ...defined({ timeoutMs }) },
  )
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

export interface KnownSelf {
  (): Promise<Self>
  /** What is known already. */
  readonly known: () => Self | null
  /** Asked anew the next time: the token may have been changed at Slack. */
  readonly forget: () => void
}

export function createSelf(client: SlackClient): KnownSelf {
  let asking: Promise<Self> | null = null
  let known: Self | null = null
  const ask = () => {
    asking ??= askSelf(client).then(
      (self) => {
        known = self
        return self
      },
      (thrown: unknown) => {
        asking = null
        throw thrown
      },
    )
    return asking
  }
  return Object.assign(ask, {
    known: () => known,
    forget: () => {
      asking = null
    },
  })
}
