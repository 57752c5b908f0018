// The cluster for people: the nodes, the problems between them, and the state of an integration or agent across all of
// them.
import { defined, iso, type NodeRow, type NodeView } from '../contract/index.ts'

/** How long a silent node is shown, because it needs attention. A stopped node is not shown. */
const GONE_SHOWN_MS = 3_600_000
/** The database's time decides, so nothing breaks, but logs of that machine carry wrong times. */
const SKEW_TOLD_MS = 2_000

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

export interface ClusterFindings {
  /** Problems that `doctor` reports as such. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

export function clusterFindings(views: readonly NodeView[], rows: readonly NodeRow[]): ClusterFindings {
  const up = views.filter((view) => view.state === 'up')
  const problems: string[] = []
  const warnings: string[] = []
  const digests = new Map<string, string[]>()
  for (const { node, digest } of up) digests.set(digest, [...(digests.get(digest) ?? []), node])
  if (digests.size > 1) {
    const told = [...digests].map(([digest, nodes]) => `${nodes.join(', ')} (digest ${digest.slice(0, 12)})`)
    problems.push(`the nodes run different configurations: ${told.join('; ')}`)
  }
  const versions = new Set(up.map((view) => view.version))
  if (versions.size > 1) warnings.push(`the nodes run different versions: ${[...versions].join(', ')}`)
  for (const view of views) {
    if (view.state === 'gone') {
      warnings.push(`node ${view.node} is gone: it was last heard of at ${view.seen_at}`)
      continue
    }
    if (Math.abs(view.clock_skew_ms) < SKEW_TOLD_MS) continue
    const seconds = Math.round(Math.abs(view.clock_skew_ms) / 1000)
    const way = view.clock_skew_ms > 0 ? 'ahead of' : 'behind'
    warnings.push(`the clock of node ${view.node} is ${seconds} s ${way} the database's (which decides)`)
  }
  for (const node of new Set(up.map((view) => view.node))) {
    if (rows.filter((row) => row.node === node && row.alive).length > 1)
      problems.push(`two running daemons are called ${node}: give them hostnames or data folders that differ`)
  }
  return { problems, warnings }
}

/** A link that is down here and up elsewhere is up, because a poller runs on one node only. */
export function linkAnywhere(
  own: { readonly link: string; readonly detail?: string },
  integration: string,
  others: readonly NodeRow[],
): { readonly link: string; readonly detail?: string } {
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
function holderLink(
  own: { readonly link: string; readonly detail?: string },
  integration: string,
  others: readonly NodeRow[],
): { readonly link: string; readonly detail?: string } {
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

/** Returns the latest time at any node. */
export function latestAt(
  own: number | null | undefined,
  others: readonly (number | null | undefined)[],
): number | null {
  const known = [own, ...others].filter((at): at is number => typeof at === 'number')
  return known.length === 0 ? null : Math.max(...known)
}

/** Returns the agent's state here, else at another node with that node's detail. */
export function agentAnywhere(
  own: { readonly attached: boolean; readonly detail: string | undefined },
  agent: string,
  others: readonly NodeRow[],
): { readonly attached: boolean; readonly detail: string | undefined } {
  if (own.attached) return own
  for (const { node, agents } of others) {
    const there = agents.find((one) => one.agent === agent)
    if (there) return { attached: true, detail: `at node ${node}${there.detail ? `: ${there.detail}` : ''}` }
  }
  return own
}
