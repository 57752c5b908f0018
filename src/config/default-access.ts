// Who may speak where the file says nothing: as the adapter's module has it. What says nothing, or nonsense, opens nothing.
import type { DefaultAccess, KnownAdapter, Options } from '../contract/index.ts'

const LISTED_ONLY: DefaultAccess = { dm: 'allowlist' }
const CLOSED: DefaultAccess = { dm: 'disabled' }

/** Null: the module that would have brought the adapter failed. */
export function defaultAccessOf(adapter: KnownAdapter | null, options: Options): DefaultAccess {
  if (adapter === null) return CLOSED
  const { defaultAccess } = adapter
  try {
    const access =
      typeof defaultAccess === 'function' ? defaultAccess(options) : (defaultAccess ?? LISTED_ONLY)
    return isDefaultAccess(access) ? access : CLOSED
  } catch {
    return CLOSED
  }
}

const POLICIES: readonly unknown[] = ['pairing', 'allowlist', 'disabled', 'credential']

export function isDefaultAccess(access: unknown): access is DefaultAccess {
  if (typeof access !== 'object' || access === null) return false
  const { dm, approvers = [], allowFrom = [] } = access as Partial<DefaultAccess>
  return POLICIES.includes(dm) && isTexts(approvers) && isTexts(allowFrom)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
