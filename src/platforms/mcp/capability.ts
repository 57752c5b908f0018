// What a channel server declares in `initialize`: read before any gate is asked. The values come from strangers and are
// looked at as the seed's table of truth says, for a server may well write `true` where the protocol wants an object.
import type { ChannelPrefix } from '../../contract/index.ts'

export interface DeclaredChannel {
  /** Null: no channel, whatever else it declares. */
  readonly prefix: ChannelPrefix | null
  readonly permissionRelay: boolean
}

// A server that declares both is spoken to in the stricter dialect: two copies of every message would be one too many.
const PREFIXES: readonly ChannelPrefix[] = ['nexo', 'claude']

/** Objects, `true`, non-empty strings and lists and numbers other than 0 declare; anything else does not. */
export function isDeclared(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return Boolean(value)
}

/** `experimental` is `capabilities.experimental` of the server's answer, unread. */
export function readCapability(experimental: unknown): DeclaredChannel {
  const declared = (key: string) =>
    typeof experimental === 'object' &&
    experimental !== null &&
    Object.hasOwn(experimental, key) &&
    isDeclared((experimental as Record<string, unknown>)[key])
  const prefix = PREFIXES.find((one) => declared(`${one}/channel`)) ?? null
  return { prefix, permissionRelay: prefix !== null && declared(`${prefix}/channel/permission`) }
}
