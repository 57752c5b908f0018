// Claude Code's gates before a channel, for its double: in its order, with its words, for servers of .mcp.json and for
// those of plugins.

export interface InstalledPlugin {
  readonly name: string
  readonly marketplace: string
  /** The key in the plugin's .mcp.json. Absent: the plugin's name. */
  readonly server?: string
}

/** How the session was started, and what its account and organisation allow. */
export interface ChannelSession {
  /** What follows --dangerously-load-development-channels: `server:NAME`, `plugin:NAME@MARKETPLACE`. */
  readonly channels?: readonly string[]
  /** What follows --channels: only what is approved passes. */
  readonly approvedChannels?: readonly string[]
  /** The server is that of an installed plugin. */
  readonly plugin?: InstalledPlugin
  readonly gates?: {
    readonly provider?: boolean
    readonly feature?: boolean
    readonly policy?: boolean
    /** `allowedChannelPlugins` of the organisation, as NAME@MARKETPLACE: it replaces the list of the maker. */
    readonly allowedChannelPlugins?: readonly string[]
  }
}

export interface ChannelCandidate {
  /** As Claude Code calls it: `NAME`, or `plugin:PLUGIN:SERVER`. */
  readonly name: string
  /** It declared the capability. */
  readonly declared: boolean
  /** It answered the probe for a revision that has no way to push. */
  readonly modern: boolean
}

/** The maker's own list. */
const APPROVED = ['telegram', 'discord', 'imessage', 'fakechat'].map(
  (name) => `${name}@claude-plugins-official`,
)

export function pluginServerName({ name, server = name }: InstalledPlugin): string {
  return `plugin:${name}:${server}`
}

/** Null: the server is registered as a channel. Else the reason, as the debug log has it. */
export function closedGate(session: ChannelSession, candidate: ChannelCandidate): string | null {
  const { gates = {} } = session
  if (!candidate.declared) return 'server did not declare claude/channel capability'
  if (candidate.modern)
    return 'connection negotiated a modern protocol revision with no unsolicited notification path'
  if (gates.provider === false) return 'channels are not available on third-party providers'
  if (gates.feature === false) return 'channels feature is not currently available'
  if (gates.policy === false)
    return 'channels not enabled by org policy (set channelsEnabled: true in managed settings)'
  return closedByEntry(session, candidate.name)
}

/**
 * The last three look at what the session was started with; the flag for development opens the last, entry by entry.
 */
function closedByEntry(session: ChannelSession, name: string): string | null {
  const { plugin, channels = [], approvedChannels = [], gates = {} } = session
  const entries = [...channels, ...approvedChannels]
  const whole = plugin ? `${plugin.name}@${plugin.marketplace}` : name
  const entry = plugin ? `plugin:${whole}` : `server:${name}`
  const asked = plugin ? entries.filter((one) => one.startsWith(`plugin:${plugin.name}@`)) : [entry]
  if (!entries.some((one) => asked.includes(one)))
    return `server ${name} not in --channels list for this session`
  if (!asked.includes(entry)) return `you asked for ${asked[0]} but the installed plugin is ${whole}`
  if (channels.includes(entry)) return null
  const { allowedChannelPlugins: org } = gates
  if (plugin && (org ?? APPROVED).includes(whole)) return null
  // Its words for a server that was asked for without the flag were not seen: those for a plugin stand in for them.
  const what = `${plugin ? 'plugin' : 'server'} ${whole}`
  return org === undefined || !plugin
    ? `${what} is not on the approved channels allowlist (use --dangerously-load-development-channels for local dev)`
    : `${what} is not on your org's approved channels list (set allowedChannelPlugins in managed settings)`
}
