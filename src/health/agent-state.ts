// The state of an agent in one word, here or at any node: the same in `status`, `doctor` and the console.
import { type AgentState, defined, iso, type NodeRow } from '../contract/index.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { agentAnywhere } from './cluster-view.ts'

export interface AgentStanding {
  readonly state: AgentState
  readonly attached: boolean
  readonly detail?: string
  /** Start of the trouble. */
  readonly since?: string
  /** It was unreachable at the last try, and no turn has waited for it since: when, and why. */
  readonly was_unreachable?: string
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
  const theirs = others.flatMap(({ node, agents }) => {
    const trouble = agents.find((one) => one.agent === agent)?.trouble
    return trouble ? [{ ...trouble, detail: `at node ${node}: ${trouble.detail}` }] : []
  })
  const troubles = [...(post?.trouble ? [post.trouble] : []), ...theirs]
  const now = troubles.find(({ past }) => past === undefined)
  if (now) return { attached, state: now.state, detail: now.detail, since: iso(now.since) }
  const [was] = troubles.map((one) => `${iso(one.past ?? one.since)}: ${one.detail}`)
  return { state: 'attached', attached, ...defined({ detail, was_unreachable: was }) }
}
