// Selects the arrangements that a scenario runs on. `npm test` runs each scenario on one, selected by its name. So a
// scenario always gets the same one, and every arrangement is used. `npm run test:all` runs all, `npm test --
// --changed` the first.

export type Scope = 'first' | 'dealt' | 'all'

/** scripts/test.mjs sets this. */
export const SCOPE = scopeOf(process.env.SWITCHBOARD_TEST_SCOPE)

/** Whether the scenario runs on this arrangement. */
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
 * Selects from a product of plans and places, for example a crash point at each step of a conversation. Every plan runs
 * once, each at another place. `npm run test:all` runs the whole product.
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

/** Throws on an unknown word, because a misspelt one would silently skip tests. */
export function scopeOf(word: string | undefined): Scope {
  if (word === undefined || word === 'dealt') return 'dealt'
  if (word === 'first' || word === 'all') return word
  throw new Error(`SWITCHBOARD_TEST_SCOPE is first, dealt or all, not "${word}"`)
}

// FNV-1a spreads short and similar names evenly.
function digest(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return (hash ^ (hash >>> 15)) >>> 0
}
