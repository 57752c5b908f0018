// Before a byte of a push is read: does the server pass its gates now, in the dialect it declared, and is there a token
// left in its bucket? What does not pass is barred, with the reason and the key that would let it in.
import type { ChannelPrefix, ReasonCode, ServerPush, Skip, TokenBuckets } from '../../contract/index.ts'
import type { InboundLimit } from './channel-options.ts'

export interface Barred {
  readonly reason: ReasonCode
  readonly key: string
}

export interface Admission {
  /** The gate that is closed; null: all are open. */
  readonly skip: Skip | null
  /** What the connection declared that brought it. */
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
  // It was asked while it relayed permissions; one that came back without them answers for nobody.
  if (news.kind === 'verdict' && !now.permissionRelay)
    return { reason: 'gate_capability', key: `experimental['${news.prefix}/channel/permission']` }
  if (news.kind === 'verdict' || now.limit === null) return null
  return now.bucket.take('', now.limit.limit).over ? { reason: 'rate_limited', key: now.limit.key } : null
}
