// How an agent stands, in one word, here or at any node: `status`, `doctor` and the console show the same.
import { type AgentState, defined, type NodeRow } from '../contract/index.ts'
import { agentAnywhere } from './cluster-view.ts'
import type { Gateway } from './gateway.ts'
import { iso } from './views.ts'

export interface AgentStanding {
  readonly state: AgentState
  readonly attached: boolean
  readonly detail?: string
  /** Since when it is in trouble. */
  readonly since?: string
}

export function agentStanding(
  agent: string,
  gateway: Pick<Gateway, 'roster' | 'problems'>,
  others: readonly NodeRow[],
): AgentStanding {
  const post = gateway.roster.get(agent)
  const problem = gateway.problems().get(`agent:${agent}`)
  const own = { attached: post?.attached ?? false, detail: problem ?? post?.detail }
  const { attached, detail } = agentAnywhere(own, agent, others)
  if (!attached) return { state: 'absent', attached, ...defined({ detail }) }
  if (post?.trouble) return { attached, ...post.trouble, since: iso(post.trouble.since) }
  for (const { node, agents } of others) {
    const trouble = agents.find((one) => one.agent === agent)?.trouble
    if (trouble)
      return { attached, ...trouble, detail: `at node ${node}: ${trouble.detail}`, since: iso(trouble.since) }
  }
  return { state: 'attached', attached, ...defined({ detail }) }
}
