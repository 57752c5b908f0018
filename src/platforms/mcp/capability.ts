// Reads what a channel server declares in `initialize`, before any gate is evaluated. The values are foreign and are
// judged by the seed's table of truth, because a server may write `true` where the protocol wants an object.
import type { ChannelPrefix } from '../../contract/index.ts'

export interface DeclaredChannel {
  /** Null: it is not a channel, whatever else it declares. */
  readonly prefix: ChannelPrefix | null
  readonly permissionRelay: boolean
}

// A server that declares both gets the stricter dialect, because both would send every message twice.
const PREFIXES: readonly ChannelPrefix[] = ['nexo', 'claude']

/** Objects, `true`, non-empty strings and lists, and numbers other than 0 count as declared. Other values do not. */
export function isDeclared(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return Boolean(value)
}

/** `experimental` is the unread `capabilities.experimental` of the server's answer. */
export function readCapability(experimental: unknown): DeclaredChannel {
  const declared = (key: string) =>
    typeof experimental === 'object' &&
    experimental !== null &&
    Object.hasOwn(experimental, key) &&
    isDeclared((experimental as Record<string, unknown>)[key])
  const prefix = PREFIXES.find((one) => declared(`${one}/channel`)) ?? null
  return { prefix, permissionRelay: prefix !== null && declared(`${prefix}/channel/permission`) }
}
