// The scopes that a Slack integration uses, and what fails without each. The manifest asks for exactly these, and
// doctor compares them with the granted ones.
import type { GateView, Options } from '../../../contract/index.ts'

interface ScopeUse {
  readonly scope: string
  /** What does not work without it, for people. */
  readonly without: string
  readonly when?: (options: Options) => boolean
}

const hasSurface = ({ surface }: Options) => surface !== 'none'
const hasCommands = ({ command, shortcut }: Options) => command !== undefined || shortcut === true

const SCOPES: readonly ScopeUse[] = [
  { scope: 'app_mentions:read', without: 'mentions in channels are not heard' },
  {
    scope: 'channels:history',
    without: 'messages in public channels are not heard, and missed ones not found',
  },
  { scope: 'channels:read', without: 'public channels are not looked through for missed messages' },
  {
    scope: 'groups:history',
    without: 'messages in private channels are not heard, and missed ones not found',
  },
  { scope: 'groups:read', without: 'private channels are not looked through for missed messages' },
  { scope: 'im:history', without: 'direct messages are not heard, and missed ones not found' },
  { scope: 'im:read', without: 'direct chats are not looked through for missed messages' },
  { scope: 'im:write', without: 'nobody can be written to who has not written first' },
  { scope: 'mpim:history', without: 'group direct messages are not heard, and missed ones not found' },
  { scope: 'mpim:read', without: 'group direct messages are not looked through for missed messages' },
  { scope: 'chat:write', without: 'nothing can be said' },
  { scope: 'reactions:read', without: 'reactions are not heard' },
  { scope: 'reactions:write', without: 'the acknowledging reaction cannot be set' },
  { scope: 'files:read', without: 'files that people send cannot be fetched' },
  { scope: 'files:write', without: 'files cannot be sent, nor long questions shown whole' },
  { scope: 'users:read', without: 'people appear by their ids, without names' },
  { scope: 'assistant:write', without: 'no titles and no suggested prompts', when: hasSurface },
  { scope: 'commands', without: 'the slash command and the shortcut do not exist', when: hasCommands },
]

export function scopesInUse(options: Options): readonly string[] {
  return SCOPES.filter(({ when }) => when?.(options) ?? true).map(({ scope }) => scope)
}

/** Returns one gate for each missing scope, or one that passes. Null: Slack did not report the scopes. */
export function scopeGates(granted: readonly string[] | null, options: Options): readonly GateView[] {
  if (granted === null) return []
  const used = new Set(scopesInUse(options))
  const missing = SCOPES.filter(({ scope }) => used.has(scope) && !granted.includes(scope))
  if (missing.length === 0)
    return [{ gate: 'scopes', pass: true, reason: `all ${used.size} scopes are granted`, key: 'bot_token' }]
  return missing.map(({ scope, without }) => ({
    gate: `scope ${scope}`,
    pass: false,
    reason: `missing: ${without}; add it under OAuth & Permissions and install the app again`,
    key: 'bot_token',
  }))
}
