// Whether an address is Discord's. The gateway brings only what we asked for, over our own connection with our token.
// So the address must be checked, because answers and messages name it.
import { isVendorUrl, type VendorServer } from '../../kit/index.ts'

/** Where the bot's token may be sent over a WebSocket: Discord's own hosts, or those that a private server names. */
export function isGatewayUrl(url: string, { ownServer }: VendorServer): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  if (ownServer) return protocol === 'ws:' || protocol === 'wss:'
  return protocol === 'wss:' && /(^|\.)discord\.(gg|com)$/.test(hostname)
}

/** Where files may be fetched: Discord's own hosts, or the configured server's. */
export function isDiscordHost(url: string, server: VendorServer): boolean {
  return isVendorUrl(url, server, /(^|\.)(discordapp\.(com|net)|discord\.com)$/)
}
