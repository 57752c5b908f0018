// Which arrangements a scenario runs on. `npm test` runs each on one, dealt out by its name, so that the same scenario
// always gets the same and every arrangement is used. `npm run test:all` runs all, `npm test -- --changed` the first alone.

export type Scope = 'first' | 'dealt' | 'all'

/** Asked for by scripts/test.mjs. */
export const SCOPE = scopeOf(process.env.SWITCHBOARD_TEST_SCOPE)

/** Whether the scenario runs on this one of its arrangements. */
export function isDealt<Kind extends string>(
  scenario: string,
  kind: Kind,
  arrangements: readonly Kind[],
  scope: Scope = SCOPE,
): boolean {
  if (scope === 'all') return true
  return arrangements[scope === 'first' ? 0 : digest(scenario) % arrangements.length] === kind
}

/**
 * Of a product of plans with places (a crash point at each step of a conversation, say) every plan once, in turn at another
 * place; with `npm run test:all` the whole product.
 */
export function dealtPlans<Plan>(
  plans: readonly Plan[],
  nameOf: (plan: Plan) => string,
  scope: Scope = SCOPE,
): readonly Plan[] {
  if (scope === 'all') return plans
  const byName = new Map<string, Plan[]>()
  for (const plan of plans) byName.set(nameOf(plan), [...(byName.get(nameOf(plan)) ?? []), plan])
  return [...byName.values()].map((same, at) => same[at % same.length] as Plan)
}

/** Throws on a word that is none: a misspelt one would leave proofs out. */
export function scopeOf(word: string | undefined): Scope {
  if (word === undefined || word === 'dealt') return 'dealt'
  if (word === 'first' || word === 'all') return word
  throw new Error(`SWITCHBOARD_TEST_SCOPE is first, dealt or all, not "${word}"`)
}

// FNV-1a: short names of similar form must fall apart evenly.
function digest(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return (hash ^ (hash >>> 15)) >>> 0
}
