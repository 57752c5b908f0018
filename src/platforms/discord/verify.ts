// Is it really Discord? Its gateway brings only what we asked for, over a connection of our own, with our token: so what has to be
// checked is where we connect to, for those addresses are told by answers and messages.
import type { DiscordConfig } from './config.ts'

type Server = Pick<DiscordConfig, 'apiUrl' | 'ownServer'>

/** Where the bot's token may be said over a WebSocket: Discord's own hosts, or wherever one's own server says. */
export function isGatewayUrl(url: string, { ownServer }: Server): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  if (ownServer) return protocol === 'ws:' || protocol === 'wss:'
  return protocol === 'wss:' && /(^|\.)discord\.(gg|com)$/.test(hostname)
}

/** Where files may be fetched from: Discord's own hosts, or that of the configured server. */
export function isDiscordHost(url: string, { apiUrl, ownServer }: Server): boolean {
  if (!URL.canParse(url)) return false
  const { host, hostname, protocol } = new URL(url)
  if (ownServer && host === new URL(apiUrl).host) return true
  return protocol === 'https:' && /(^|\.)(discordapp\.(com|net)|discord\.com)$/.test(hostname)
}
