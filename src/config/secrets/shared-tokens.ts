// One credential in two integrations of a platform: the platform would take the two for one, and each would miss what the
// other hears. Told by reference for every reader of the file, and by value where `check` can read what is behind it.
import type { ModuleSetup } from '../../contract/index.ts'

interface Holder {
  readonly id: string
  readonly platform: string
  readonly enabled: boolean
  readonly options: Readonly<Record<string, unknown>>
}

/**
 * `setupOf`: how the platform is set up; only where its credential says who it is (`try`) are two of them one account: a
 * secret that signs may be anybody's. `reveal`: the value behind a reference, null where it is not known here.
 */
export function sharedTokens(
  integrations: readonly Holder[],
  setupOf: (platform: string) => ModuleSetup | undefined,
  reveal?: (reference: string) => string | null,
): readonly string[] {
  const first = new Map<string, { readonly place: string; readonly reference: string }>()
  const found: string[] = []
  for (const [index, { platform, enabled, options }] of integrations.entries()) {
    const setup = setupOf(platform)
    if (!enabled || setup?.try === undefined) continue
    for (const { key, secret } of setup.questions) {
      const reference = options[key]
      if (secret !== true || typeof reference !== 'string') continue
      const place = `integrations[${index}].${key}`
      const known = JSON.stringify([platform, key, reveal?.(reference) ?? reference])
      const before = first.get(known)
      if (before === undefined) first.set(known, { place, reference })
      // Equal references are reported with the file itself.
      else if (reveal === undefined || before.reference !== reference)
        found.push(
          `${place} is the same as ${before.place}: ${platform} takes the two for one account, and each misses what the other hears (one integration can serve several agents: inbound_bindings with conversations)`,
        )
    }
  }
  return found
}
