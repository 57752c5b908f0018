// Checks a push before any byte of it is read: the server passes its gates now, in its declared dialect, and its bucket
// has a token left. Otherwise the push is barred, with the reason and the key that would let it in.
import type { ChannelPrefix, ReasonCode, ServerPush, Skip, TokenBuckets } from '../../contract/index.ts'
import type { InboundLimit } from './channel-options.ts'

export interface Barred {
  readonly reason: ReasonCode
  readonly key: string
}

export interface Admission {
  /** The closed gate, or null if all are open. */
  readonly skip: Skip | null
  /** The declaration of the connection that brought it. */
  readonly prefix: ChannelPrefix | null
  readonly permissionRelay: boolean
  readonly limit: InboundLimit | null
  readonly bucket: TokenBuckets
}

/** Null: it may be read. */
export function verifyNews(news: Pick<ServerPush, 'kind' | 'prefix'>, now: Admission): Barred | null {
  if (now.skip) return { reason: `gate_${now.skip.kind}`, key: now.skip.key }
  if (news.prefix !== now.prefix)
    return { reason: 'gate_capability', key: `experimental['${news.prefix}/channel']` }
  // The request was sent while the server relayed permissions. It reconnected without them, so its verdict is refused.
  if (news.kind === 'verdict' && !now.permissionRelay)
    return { reason: 'gate_capability', key: `experimental['${news.prefix}/channel/permission']` }
  if (news.kind === 'verdict' || now.limit === null) return null
  return now.bucket.take('', now.limit.limit).over ? { reason: 'rate_limited', key: now.limit.key } : null
}
