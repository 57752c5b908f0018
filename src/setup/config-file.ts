// What a configuration file already has, and the edits that add a plan to it.
import { existsSync, readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { editFile, type FileEdit } from '../config/yaml/edit-file.ts'
import { type Definition, withSecrets } from './definition.ts'
import { isOneWay, type Plan } from './plan.ts'
import { wizardYaml } from './starter-files.ts'
import { usage } from './usage.ts'

export interface ConfigFile {
  readonly path: string
  readonly exists: boolean
  readonly text: string
  readonly integrations: readonly { readonly id: string; readonly platform: string }[]
  readonly agents: readonly string[]
  /** It names a store of its own. */
  readonly ownStore: boolean
}

/** `ignored`: what the file holds does not count, because it is overwritten. Throws `input_invalid` when it is no YAML. */
export function readConfigFile(path: string, ignored = false): ConfigFile {
  const exists = !ignored && existsSync(path)
  const text = exists ? readFileSync(path, 'utf8') : ''
  const document = parseDocument(text)
  const read = document.errors.length === 0 ? (document.toJS() as unknown) : undefined
  if (read !== null && (typeof read !== 'object' || Array.isArray(read)))
    throw usage(`${path} is not YAML that can be added to`, 'see what is wrong: switchboard check')
  const { integrations, agents, store } = (read ?? {}) as Definition
  return {
    path,
    exists,
    text,
    integrations: listOf(integrations).map(({ id, platform }) => ({
      id: String(id),
      platform: String(platform),
    })),
    agents: listOf(agents).map(({ id }) => String(id)),
    ownStore: store !== undefined,
  }
}

const listOf = (value: unknown): readonly Definition[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []

export interface PlannedText {
  readonly text: string
  /** By the name that the file refers to. */
  readonly secrets: ReadonlyMap<string, string>
}

/** The text of the file with the plan in it: a new text, or what is there and the added lines. */
export function textWithPlan(plan: Plan, file: ConfigFile, port: number | null): PlannedText {
  const kept = new Map<string, string>()
  const withReferences = (id: string, definition: Definition, secrets: ReadonlyMap<string, string>) =>
    withSecrets(definition, secrets, (key, value) => {
      kept.set(`${id}.${key}`, value)
      return `secret:${id}.${key}`
    })
  const integrations = plan.integrations.map(({ id, definition, secrets }) =>
    withReferences(id, definition, secrets),
  )
  const bindings = plan.integrations.map(({ id, module }) => ({ plugin: module.name, instance: id }))
  const { agent } = plan
  const newAgent =
    agent.kind === 'new'
      ? {
          id: agent.id,
          connector: withReferences(agent.id, agent.connector, agent.secrets),
          inbound_bindings: bindings,
        }
      : null
  if (!file.exists) {
    // Notifications go to the first integration that can send.
    const sends = integrations[plan.integrations.findIndex((one) => !isOneWay(one))]
    if (sends) sends.default = true
    return { text: wizardYaml(integrations, newAgent === null ? [] : [newAgent], port), secrets: kept }
  }
  const bindingsOf = ['agents', file.agents.indexOf(agent.id), 'inbound_bindings']
  const edits: readonly FileEdit[] = [
    ...integrations.map((item) => ({ kind: 'add', to: ['integrations'], item }) as const),
    ...(newAgent === null
      ? bindings.map((item) => ({ kind: 'add', to: bindingsOf, item }) as const)
      : [{ kind: 'add', to: ['agents'], item: newAgent } as const]),
  ]
  return { text: editFile(file.text, edits), secrets: kept }
}

/** Adds an agent, which gets the integration of the demo agent. Throws when another agent has the integration. */
export function editsToAddAgent(
  text: string,
  agent: Definition & { readonly id: string },
  integration: string,
): { readonly edits: readonly FileEdit[]; readonly demo: Holder | null } {
  const holder = holderOf(text, integration)
  if (holder !== null && holder.connector !== 'demo' && holder.id !== agent.id)
    throw usage(
      `integration "${integration}" goes to agent "${holder.id}" already, nothing was written`,
      'name another one with --bind PLATFORM:INTEGRATION, or remove that agent first',
    )
  const add: FileEdit = { kind: 'add', to: ['agents'], item: agent }
  if (holder === null || holder.id === agent.id) return { edits: [add], demo: null }
  // A demo agent without any other use is removed.
  if (holder.isLastUse) return { edits: [add, { kind: 'remove', id: holder.id }], demo: holder }
  return { edits: [{ kind: 'unbind', id: holder.id, at: holder.at }, add], demo: holder }
}

/** An agent with a binding that takes all of an integration. */
export interface Holder {
  readonly id: string
  readonly connector: string
  /** The place of the binding among the agent's own. */
  readonly at: number
  /** The agent has no other use: no other binding, no key of its own, and no scope names it. */
  readonly isLastUse: boolean
}

function holderOf(text: string, integration: string): Holder | null {
  const read = parseDocument(text).toJS() as Definition | null
  for (const agent of listOf(read?.agents)) {
    const bindings = listOf(agent.inbound_bindings)
    const at = bindings.findIndex(
      ({ instance, plugin, conversations }) =>
        (instance ?? plugin) === integration && conversations === undefined,
    )
    if (at === -1) continue
    const id = String(agent.id)
    const isScoped = listOf(read?.integrations).some(({ scope }) => {
      const { agents } = (scope ?? {}) as Definition
      return Array.isArray(agents) && agents.includes(id)
    })
    const isPlain = Object.keys(agent).every((key) => ['id', 'connector', 'inbound_bindings'].includes(key))
    return {
      id,
      connector: String((agent.connector as Definition | undefined)?.type),
      at,
      isLastUse: bindings.length === 1 && isPlain && !isScoped,
    }
  }
  return null
}
