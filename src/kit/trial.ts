// Makes a temporary configuration to try credentials before they are stored.
import type { Options } from '../contract/index.ts'

/** The deadline of a call that tries a credential, because a person waits for its answer. */
export const TRIAL_TIMEOUT_MS = 10_000

/** The parts of `PlatformDeps` that contain the configuration. */
export interface Trial {
  readonly integration: { readonly id: string; readonly options: Options }
  readonly secret: (reference: string) => string
}

/**
 * Makes a configuration from options that contain the secrets themselves, in the form that an adapter reads from a
 * file: each secret is a reference, which `secret` resolves. `secretKeys` are the keys of secrets, at any depth.
 */
export function trialOf(options: Options, secretKeys: readonly string[]): Trial {
  const secrets = new Map<string, string>()
  const withReferences = (value: unknown, path: string): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value).flatMap(([key, inner]) => {
      if (inner === undefined) return []
      const at = `${path}_${key}`
      if (!secretKeys.includes(key) || typeof inner !== 'string') return [[key, withReferences(inner, at)]]
      secrets.set(`secret:${at}`, inner)
      return [[key, `secret:${at}`]]
    })
    return Object.fromEntries(entries)
  }
  const integration = { id: 'try', options: withReferences(options, 'try') as Options }
  return { integration, secret: (reference) => secrets.get(reference) ?? '' }
}
