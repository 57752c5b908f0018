// The cluster for people: the nodes, and the state of an integration or agent across all of them.
import { defined, iso, type NodeRow, type NodeView, type StatusReport } from '../contract/index.ts'
import type { Gateway } from '../gateway/gateway.ts'

/** How long a silent node is shown, because it needs attention. A stopped node is not shown. */
const GONE_SHOWN_MS = 3_600_000

export function latestBoots(rows: readonly NodeRow[]): readonly NodeRow[] {
  const latest = new Map<string, NodeRow>()
  for (const row of [...rows].sort((one, other) => one.startedAt - other.startedAt)) latest.set(row.node, row)
  return [...latest.values()]
}

/**
 * Returns the latest boot of every node, living ones first. A name shared by several living daemons appears several
 * times.
 */
export function nodeViews(rows: readonly NodeRow[], now: number): readonly NodeView[] {
  const shown = new Set([...latestBoots(rows), ...rows.filter((row) => row.alive)])
  return [...shown]
    .filter((row) => row.alive || (row.leftAt === null && now - row.seenAt < GONE_SHOWN_MS))
    .sort((one, other) => Number(other.alive) - Number(one.alive) || (one.node < other.node ? -1 : 1))
    .map((row) => ({
      node: row.node,
      state: row.alive ? ('up' as const) : ('gone' as const),
      version: row.version,
      url: row.url,
      started_at: iso(row.startedAt),
      seen_at: iso(row.seenAt),
      digest: row.digest,
      clock_skew_ms: row.skewMs,
      links: row.links.map(({ integration, state, detail }) => ({
        integration,
        link: state,
        ...defined({ detail }),
      })),
      agents: row.alive ? row.agents.map(({ agent }) => agent) : [],
    }))
}

interface LinkView {
  readonly link: string
  readonly detail?: string
}

/** A link that is down here and up elsewhere is up, because a poller runs on one node only. */
export function linkAnywhere(own: LinkView, integration: string, others: readonly NodeRow[]): LinkView {
  if (own.link === 'up' || own.link === 'disabled') return own
  const at = others.find((row) =>
    row.links.some((link) => link.integration === integration && link.state === 'up'),
  )
  if (at) return { link: 'up', detail: `at node ${at.node}` }
  return own.link === 'waiting' ? holderLink(own, integration, others) : own
}

/**
 * The link's state at the node that holds it. A node that is down has it; a connecting one may only be about to ask.
 */
function holderLink(own: LinkView, integration: string, others: readonly NodeRow[]): LinkView {
  const held = others.flatMap(({ node, links }) =>
    links
      .filter((link) => link.integration === integration && link.state !== 'waiting')
      .map(({ state, detail }) => ({ node, state, detail })),
  )
  const at = held.find(({ state }) => state === 'down') ?? held[0]
  if (!at) return own
  const why = at.detail === undefined ? '' : `: ${at.detail}`
  return { link: at.state, detail: `at node ${at.node}${why}` }
}

/** The state of an agent in one word: the same in `status`, `doctor` and the console. */
export type AgentStanding = Omit<StatusReport['agents'][number], 'id' | 'connector' | 'queued'>

/** Returns its state here or at any node. */
export function agentStanding(
  agent: string,
  gateway: Pick<Gateway, 'roster' | 'problems'>,
  others: readonly NodeRow[],
): AgentStanding {
  const post = gateway.roster.get(agent)
  const problem = gateway.problems().get(`agent:${agent}`)
  const elsewhere = post?.attached
    ? []
    : others.flatMap(({ node, agents }) => {
        const there = agents.find((one) => one.agent === agent)
        return there ? [`at node ${node}${there.detail ? `: ${there.detail}` : ''}`] : []
      })
  const detail = elsewhere[0] ?? problem ?? post?.detail
  const attached = post?.attached === true || elsewhere.length > 0
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
