// Changes the text of switchboard.yaml and leaves everything else as the person wrote it, comments included.
import { type Document, isMap, isSeq, parseDocument, stringify } from 'yaml'
import { SwitchboardError } from '../../contract/index.ts'
import { suggestion } from '../schema/nearest.ts'
import { withChangedItem, withItem, withoutItem } from './yaml-lines.ts'

export type FileEdit =
  /** Adds an item to the list at the path. */
  | { readonly kind: 'add'; readonly to: readonly (string | number)[]; readonly item: Definition }
  /** Sets a key of an agent. `undefined` removes it. */
  | { readonly kind: 'set'; readonly id: string; readonly path: readonly string[]; readonly value: unknown }
  | { readonly kind: 'remove'; readonly id: string }
  /** Removes a binding of an agent, by its place among the agent's own. */
  | { readonly kind: 'unbind'; readonly id: string; readonly at: number }

type Definition = Readonly<Record<string, unknown>>

/** Returns the new text, which may not be valid. Throws `not_found`, `conflict` or `config_invalid`. */
export function editFile(text: string, edits: readonly FileEdit[]): string {
  const edited = edits.reduce(edit, text.replaceAll('\r\n', '\n'))
  return text.includes('\r\n') ? edited.replaceAll('\n', '\r\n') : edited
}

function edit(text: string, change: FileEdit): string {
  const document = parseDocument(text)
  const [broken] = document.errors
  if (broken) throw new SwitchboardError('config_invalid', `the file is not YAML: ${broken.message}`)
  return change.kind === 'add' ? added(text, document, change) : changed(text, document, change)
}

/** By its lines, when the list has lines of its own. An absent list is begun at the end. */
function added(text: string, document: Document, { to, item }: FileEdit & { kind: 'add' }): string {
  const [name] = to
  if (to.length === 1 && name === 'agents' && agentIds(document).includes(String(item.id)))
    throw new SwitchboardError('conflict', `there is an agent "${item.id}" already`)
  const byLines = withItem(text, to, item)
  if (byLines !== null) return byLines
  if (to.length === 1 && document.get(String(name)) === undefined) {
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    return `${text}${gap}\n${name}:\n${indentedYaml([item])}`
  }
  if (isSeq(document.getIn(to))) document.addIn(to, item)
  else document.setIn(to, document.createNode([item]))
  return document.toString({ lineWidth: 0 })
}

/** YAML of a value two columns further in, as it stands under a key. */
export const indentedYaml = (value: unknown) =>
  stringify(value, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}\n`)
    .join('')

function changed(text: string, document: Document, change: Exclude<FileEdit, { kind: 'add' }>): string {
  const ids = agentIds(document)
  const at = ids.indexOf(change.id)
  if (at === -1)
    throw new SwitchboardError('not_found', `there is no agent "${change.id}" in the file`, {
      hint: suggestion(change.id, ids) || 'switchboard agents lists them',
    })
  const bindings = ['agents', at, 'inbound_bindings']
  const byLines = () => {
    switch (change.kind) {
      case 'unbind':
        document.deleteIn([...bindings, change.at])
        return withoutItem(text, bindings, change.at)
      case 'remove':
        document.deleteIn(['agents', at])
        return withoutItem(text, ['agents'], at)
      case 'set': {
        const { path, value } = change
        setAt(document, ['agents', at, ...path], value)
        return withChangedItem(text, ['agents'], at, (item) => setAt(item, [0, ...path], value))
      }
    }
  }
  const lines = byLines()
  return lines !== null && meansTheSame(lines, document) ? lines : document.toString({ lineWidth: 0 })
}

function agentIds(document: Document): readonly string[] {
  const agents = document.get('agents')
  return isSeq(agents) ? agents.items.map((agent) => (isMap(agent) ? String(agent.get('id')) : '')) : []
}

function setAt(document: Document, path: readonly (string | number)[], value: unknown): void {
  if (value === undefined) document.deleteIn(path)
  else document.setIn(path, value)
}

/** Lines are cut with care, and the parser decides what they mean. */
function meansTheSame(text: string, document: Document): boolean {
  const written = parseDocument(text)
  return written.errors.length === 0 && JSON.stringify(written.toJS()) === JSON.stringify(document.toJS())
}
