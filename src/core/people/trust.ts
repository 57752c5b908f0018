// Trust: which tools may run for messages from a place. `full`: all tools. `read_only`: our own reading tools, and
// those that the operator names. `none`: no tool. Answers (`reply`, `ack`) always pass. A tool's own description of
// itself does not count.
import { agentById, OWN_READS, type Store, SwitchboardError, type ToolCaller } from '../../contract/index.ts'
import { type AdmissionDeps, bindingsBehind } from './channel-admission.ts'

const ANSWERS = ['reply', 'ack']

/** Returns why the tool must not run for this caller; null: trust allows it. */
export async function distrustOf(
  caller: Pick<ToolCaller, 'agent' | 'session' | 'turn' | 'host'>,
  { tool, own }: { readonly tool: string; readonly own: boolean },
  deps: AdmissionDeps & { readonly store: Pick<Store, 'turns'> },
): Promise<string | null> {
  const { agents } = deps.settings()
  // Most configurations set no trust, and then nothing is looked up.
  if (!agents.some(({ bindings }) => bindings.some(({ trust }) => trust !== undefined))) return null
  const agent = agentById(deps.settings(), caller.agent)
  if (own && ANSWERS.includes(tool)) return null
  const bindings = await bindingsBehind(caller, deps)
  if (bindings.some(({ trust }) => trust === 'none'))
    return `Not run: no tool may run for this conversation (trust: none), and ${tool} neither. Answer without it.`
  if (!bindings.some(({ trust }) => trust === 'read_only')) return null
  if ((own && OWN_READS.includes(tool)) || agent?.readOnlyTools?.includes(tool)) return null
  return `Not run: only reading tools may run for this conversation (trust: read_only), and ${tool} is none of them. Answer without it.`
}

export function distrusted(words: string): SwitchboardError {
  return new SwitchboardError('forbidden', words, {
    hint: 'trust and read_only_tools in the configuration of the agent',
  })
}
