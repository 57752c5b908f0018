// Claude Code's gates before a channel, for its double. They have its order and its texts, for servers of .mcp.json and
// for servers of plugins.

export interface InstalledPlugin {
  readonly name: string
  readonly marketplace: string
  /** The key in the plugin's .mcp.json. The default is the plugin's name. */
  readonly server?: string
}

/** How the session started, and what its account and organisation allow. */
export interface ChannelSession {
  /** The values of --dangerously-load-development-channels: `server:NAME`, `plugin:NAME@MARKETPLACE`. */
  readonly channels?: readonly string[]
  /** The values of --channels. Only approved ones pass. */
  readonly approvedChannels?: readonly string[]
  /** The installed plugin, if the server belongs to one. */
  readonly plugin?: InstalledPlugin
  readonly gates?: {
    readonly provider?: boolean
    readonly feature?: boolean
    readonly policy?: boolean
    /** The organisation's `allowedChannelPlugins`, as NAME@MARKETPLACE. It replaces the vendor's list. */
    readonly allowedChannelPlugins?: readonly string[]
  }
}

export interface ChannelCandidate {
  /** The name that Claude Code uses: `NAME`, or `plugin:PLUGIN:SERVER`. */
  readonly name: string
  /** Whether the server declared the capability. */
  readonly declared: boolean
  /** Whether the server answered the probe for a revision that cannot push. */
  readonly modern: boolean
}

/** The vendor's own list. */
const APPROVED = ['telegram', 'discord', 'imessage', 'fakechat'].map(
  (name) => `${name}@claude-plugins-official`,
)

export function pluginServerName({ name, server = name }: InstalledPlugin): string {
  return `plugin:${name}:${server}`
}

/** Returns null for a server that registers as a channel. Otherwise the reason, as in the debug log. */
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
 * The last three gates check the flags of the session. The development flag opens the last gate, entry by entry.
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
  // The text for a server without the flag was never observed. This uses the text for a plugin.
  const what = `${plugin ? 'plugin' : 'server'} ${whole}`
  return org === undefined || !plugin
    ? `${what} is not on the approved channels allowlist (use --dangerously-load-development-channels for local dev)`
    : `${what} is not on your org's approved channels list (set allowedChannelPlugins in managed settings)`
}
