// Lookups in a configuration, by a table made once for each list. A message costs the same with ten integrations or ten
// thousand.
import type { AgentSettings, Binding, IntegrationSettings, Settings } from './settings.ts'

/** A binding and its agent. */
export interface BoundAgent {
  readonly agent: AgentSettings
  readonly binding: Binding
}

const NONE: readonly BoundAgent[] = []

const integrationTables = tablesOf((list: readonly IntegrationSettings[]) => firstById(list))
const agentTables = tablesOf((list: readonly AgentSettings[]) => firstById(list))
const bindingTables = tablesOf((list: readonly AgentSettings[]) => {
  const table = new Map<string, BoundAgent[]>()
  for (const agent of list) {
    for (const binding of agent.bindings) {
      const known = table.get(binding.instance)
      if (known) known.push({ agent, binding })
      else table.set(binding.instance, [{ agent, binding }])
    }
  }
  return table
})

export function agentById(settings: Pick<Settings, 'agents'>, id: string): AgentSettings | undefined {
  return agentTables(settings.agents).get(id)
}

export function integrationById(
  settings: Pick<Settings, 'integrations'>,
  id: string,
): IntegrationSettings | undefined {
  return integrationTables(settings.integrations).get(id)
}

/** Returns every binding of this integration, in the order of the agents. */
export function bindingsAt(settings: Pick<Settings, 'agents'>, integration: string): readonly BoundAgent[] {
  return bindingTables(settings.agents).get(integration) ?? NONE
}

/** Of two entries with one id the first wins, as in a linear search. */
function firstById<One extends { readonly id: string }>(list: readonly One[]): Map<string, One> {
  const table = new Map<string, One>()
  for (const one of list) if (!table.has(one.id)) table.set(one.id, one)
  return table
}

/** A configuration never changes, it is replaced, so its lists serve as keys of the tables. */
function tablesOf<One, Table>(make: (list: readonly One[]) => Table): (list: readonly One[]) => Table {
  const tables = new WeakMap<readonly One[], Table>()
  return (list) => {
    const known = tables.get(list)
    if (known !== undefined) return known
    const table = make(list)
    tables.set(list, table)
    return table
  }
}
