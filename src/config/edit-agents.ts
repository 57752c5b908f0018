// Changes an agent in the text of switchboard.yaml and leaves everything else as the person wrote it, comments included.
import { isMap, isSeq, parseDocument } from 'yaml'
import { SwitchboardError } from '../contract/index.ts'
import { suggestion } from './nearest.ts'

export type AgentEdit =
  | { readonly kind: 'add'; readonly agent: Readonly<Record<string, unknown>> & { readonly id: string } }
  /** `undefined` takes the key away. */
  | { readonly kind: 'set'; readonly id: string; readonly path: readonly string[]; readonly value: unknown }
  | { readonly kind: 'remove'; readonly id: string }

/** The new text. It may not hold: whoever writes it checks it first. Throws `not_found`, `conflict` or `config_invalid`. */
export function editAgents(text: string, edits: readonly AgentEdit[]): string {
  const document = parseDocument(text)
  const [broken] = document.errors
  if (broken) throw new SwitchboardError('config_invalid', `the file is not YAML: ${broken.message}`)
  for (const edit of edits) {
    const agents = document.get('agents')
    const ids = isSeq(agents) ? agents.items.map((one) => (isMap(one) ? String(one.get('id')) : '')) : []
    if (edit.kind === 'add') {
      if (ids.includes(edit.agent.id))
        throw new SwitchboardError('conflict', `there is an agent "${edit.agent.id}" already`)
      if (isSeq(agents)) document.addIn(['agents'], edit.agent)
      else document.set('agents', document.createNode([edit.agent]))
      continue
    }
    const at = ids.indexOf(edit.id)
    if (at === -1)
      throw new SwitchboardError('not_found', `there is no agent "${edit.id}" in the file`, {
        hint: suggestion(edit.id, ids) || 'switchboard agents lists them',
      })
    if (edit.kind === 'remove') document.deleteIn(['agents', at])
    else if (edit.value === undefined) document.deleteIn(['agents', at, ...edit.path])
    else document.setIn(['agents', at, ...edit.path], edit.value)
  }
  return document.toString({ lineWidth: 0 })
}
