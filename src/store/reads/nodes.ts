// Reads the cluster: the nodes, and which agents are attached where.
import {
  type AgentTrouble,
  type AttachmentRow,
  type LinkActivity,
  NODE_GONE_MS,
  type NodeAgent,
  type NodeLink,
  type NodeRow,
  withoutNulls,
} from '../../contract/index.ts'
import { rows, type Steps, text, textOrNull, whole, wholeOrNull } from '../statement.ts'

export function* readAttachments(): Steps<readonly AttachmentRow[]> {
  const found = yield* rows(
    'SELECT agent, owner, detail, trouble, since, ended_at FROM attachments ORDER BY agent, owner',
  )
  return found.map((row) => ({
    agent: text(row, 'agent'),
    owner: text(row, 'owner'),
    detail: textOrNull(row, 'detail'),
    trouble: JSON.parse(textOrNull(row, 'trouble') ?? 'null') as AgentTrouble | null,
    since: whole(row, 'since'),
    endedAt: wholeOrNull(row, 'ended_at'),
  }))
}

/** `now` by the database's clock. */
export function* readNodes(now: number): Steps<readonly NodeRow[]> {
  const agents = new Map<string, NodeAgent[]>()
  for (const { owner, agent, detail, trouble, endedAt } of yield* readAttachments()) {
    if (endedAt !== null) continue
    agents.set(owner, [...(agents.get(owner) ?? []), { agent, ...withoutNulls({ detail, trouble }) }])
  }
  const found = yield* rows('SELECT * FROM nodes ORDER BY seen_at DESC, owner')
  return found.map((row) => {
    const owner = text(row, 'owner')
    const seenAt = whole(row, 'seen_at')
    const leftAt = wholeOrNull(row, 'left_at')
    return {
      owner,
      node: text(row, 'node'),
      version: text(row, 'version'),
      url: text(row, 'url'),
      digest: text(row, 'digest'),
      skewMs: whole(row, 'skew_ms'),
      watched: whole(row, 'watched') === 1,
      links: JSON.parse(text(row, 'links')) as NodeLink[],
      activity: JSON.parse(text(row, 'activity')) as Record<string, LinkActivity>,
      agents: agents.get(owner) ?? [],
      startedAt: whole(row, 'started_at'),
      seenAt,
      leftAt,
      alive: leftAt === null && now - seenAt <= NODE_GONE_MS,
    }
  })
}
