// Changes an agent in the text of switchboard.yaml and leaves everything else as the person wrote it, comments included.
import { type Document, isMap, isSeq, parseDocument } from 'yaml'
import { SwitchboardError } from '../../contract/index.ts'
import { suggestion } from '../schema/nearest.ts'
import { withChangedItem, withItem, withoutItem } from './yaml-lines.ts'

export type AgentEdit =
  | { readonly kind: 'add'; readonly agent: Readonly<Record<string, unknown>> & { readonly id: string } }
  /** `undefined` takes the key away. */
  | { readonly kind: 'set'; readonly id: string; readonly path: readonly string[]; readonly value: unknown }
  | { readonly kind: 'remove'; readonly id: string }
  /** Takes a binding away: by its place among the agent's own. */
  | { readonly kind: 'unbind'; readonly id: string; readonly at: number }

/** The new text. It may not hold: whoever writes it checks it first. Throws `not_found`, `conflict` or `config_invalid`. */
export function editAgents(text: string, edits: readonly AgentEdit[]): string {
  const edited = edits.reduce(editAgent, text.replaceAll('\r\n', '\n'))
  return text.includes('\r\n') ? edited.replaceAll('\n', '\r\n') : edited
}

function editAgent(text: string, edit: AgentEdit): string {
  const document = parseDocument(text)
  const [broken] = document.errors
  if (broken) throw new SwitchboardError('config_invalid', `the file is not YAML: ${broken.message}`)
  const agents = document.get('agents')
  const ids = isSeq(agents) ? agents.items.map((one) => (isMap(one) ? String(one.get('id')) : '')) : []
  const changed = () => document.toString({ lineWidth: 0 })
  if (edit.kind === 'add') {
    if (ids.includes(edit.agent.id))
      throw new SwitchboardError('conflict', `there is an agent "${edit.agent.id}" already`)
    const added = withItem(text, ['agents'], edit.agent)
    if (added !== null) return added
    if (isSeq(agents)) document.addIn(['agents'], edit.agent)
    else document.set('agents', document.createNode([edit.agent]))
    return changed()
  }
  const at = ids.indexOf(edit.id)
  if (at === -1)
    throw new SwitchboardError('not_found', `there is no agent "${edit.id}" in the file`, {
      hint: suggestion(edit.id, ids) || 'switchboard agents lists them',
    })
  const bindings = ['agents', at, 'inbound_bindings']
  if (edit.kind === 'unbind') document.deleteIn([...bindings, edit.at])
  else if (edit.kind === 'remove') document.deleteIn(['agents', at])
  else setAt(document, ['agents', at, ...edit.path], edit.value)
  const byLines =
    edit.kind === 'unbind'
      ? withoutItem(text, bindings, edit.at)
      : edit.kind === 'remove'
        ? withoutItem(text, ['agents'], at)
        : withChangedItem(text, ['agents'], at, (item) => setAt(item, [0, ...edit.path], edit.value))
  return byLines !== null && meansTheSame(byLines, document) ? byLines : changed()
}

function setAt(document: Document, path: readonly (string | number)[], value: unknown): void {
  if (value === undefined) document.deleteIn(path)
  else document.setIn(path, value)
}

/** Lines are cut with care; what they mean is decided by the parser. */
function meansTheSame(text: string, document: Document): boolean {
  const written = parseDocument(text)
  return written.errors.length === 0 && JSON.stringify(written.toJS()) === JSON.stringify(document.toJS())
}

/** An agent with a binding that takes all of an integration. */
export interface Holder {
  readonly id: string
  readonly connector: string
  /** The place of the binding among the agent's own. */
  readonly at: number
  /** The binding is the only use of the agent: no other binding, no key of its own, and no scope names it. */
  readonly isLastUse: boolean
}

/** Null: no agent has one. */
export function holderOf(text: string, integration: string): Holder | null {
  const read = parseDocument(text).toJS() as { agents?: unknown; integrations?: unknown } | null
  for (const agent of listOf(read?.agents)) {
    const bindings = listOf(agent.inbound_bindings)
    const at = bindings.findIndex(
      ({ instance, plugin, conversations }) =>
        (instance ?? plugin) === integration && conversations === undefined,
    )
    if (at === -1) continue
    const id = String(agent.id)
    const isScoped = listOf(read?.integrations).some((one) => scopeOf(one).includes(id))
    const isPlain = Object.keys(agent).every((key) => ['id', 'connector', 'inbound_bindings'].includes(key))
    return {
      ...{ id, connector: String((agent.connector as Definition | undefined)?.type), at },
      isLastUse: bindings.length === 1 && isPlain && !isScoped,
    }
  }
  return null
}

type Definition = Readonly<Record<string, unknown>>

function listOf(value: unknown): readonly Definition[] {
  return Array.isArray(value) ? value.map((one) => (one ?? {}) as Definition) : []
}

function scopeOf({ scope }: Definition): readonly unknown[] {
  const { agents } = (scope ?? {}) as Definition
  return Array.isArray(agents) ? agents : []
}
