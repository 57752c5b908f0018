// One-time links to the web chat: printed at start, and created by `switchboard link` and by the page for another
// device.
import { type Clock, iso, type Settings, SwitchboardError } from '../../contract/index.ts'
import { reachableAddress } from '../../runtime/reachable-address.ts'
import type { Tokens } from './tokens.ts'

const LINK_LIFE_MS = 15 * 60_000

/** Returns a fresh one-time link to the web chat. `phone`: a link for another device, and why it may not open there. */
export type ChatLinks = () => Promise<{
  readonly url: string
  readonly expires_at: string
  readonly phone: { readonly url: string; readonly warning: string | null }
}>

export function createChatLinks(deps: {
  readonly tokens: Tokens
  readonly clock: Clock
  readonly settings: () => Settings
  readonly baseUrl: () => string
  readonly owner: string
}): ChatLinks {
  return async () => {
    const web = deps.settings().integrations.find((one) => one.platform === 'web' && one.enabled)
    if (!web) {
      throw new SwitchboardError('not_found', 'no web integration is configured', {
        hint: 'add { id: web, platform: web } to integrations and bind an agent to it',
      })
    }
    const scope = { integration: web.id, sender: deps.owner }
    const { token, expiresAt } = await deps.tokens.mint({ kind: 'web-ticket', scope, ttlMs: LINK_LIFE_MS })
    // The ticket is in the fragment, so it reaches no server log and no referrer.
    const path = `/chat#ticket=${token}`
    const { base, warning } = reachableAddress(deps.baseUrl())
    return {
      url: `${deps.baseUrl()}${path}`,
      expires_at: iso(expiresAt ?? deps.clock.now()),
      phone: { url: `${base}${path}`, warning },
    }
  }
}
