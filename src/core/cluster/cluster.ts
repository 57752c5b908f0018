// The cluster as this node knows it: heartbeats out, rows in. Who lives, which agent is attached where, and whose turn it
// is to act on a hint. All of it is a view that may be some seconds old: it decides who goes first and whom people are
// told about; what may be written is decided by the rows themselves.
import {
  type AttachmentRow,
  type Cancel,
  type Clock,
  createSerial,
  defined,
  type Logger,
  NODE_BEAT_MS,
  NODE_GONE_MS,
  type NodeReport,
  type NodeRow,
  nodeOf,
  type Store,
  withoutNulls,
} from '../../contract/index.ts'
import type { Roster } from '../dispatch/agent/roster.ts'
import { firstInLine } from './first-in-line.ts'

export interface ClusterDeps {
  readonly store: Pick<Store, 'beat' | 'leave' | 'nodes' | 'attachments' | 'onHint' | 'owner' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly roster: Roster
  /** What this node says of itself, its agents apart. */
  readonly report: () => Omit<NodeReport, 'agents'>
}

export interface Cluster {
  /** All that were heard of in the last day. Of several boots under one name the latest lives, and whoever still speaks. */
  nodes(): readonly NodeRow[]
  /** Other nodes that are heard of. */
  others(): readonly NodeRow[]
  isAlive(owner: string): boolean
  /** A turn can be handed to this agent here, or at another living node. */
  reaches(agent: string): boolean
  /** Another living node has it. */
  isElsewhere(agent: string): boolean
  /** When the present outage of an agent began, the same on every node; null: somebody reaches it. */
  outageOf(agent: string): number | null
  /** Whether this node should act on another node's hint about work of this agent, or leave it to a better one. */
  isMine(lane: string, agent: string, from: string): boolean
  /** Of all living nodes this one goes first for the lane: the same answer everywhere. */
  isFirst(lane: string): boolean
  /** Whether somebody looks at this integration through another node. */
  isWatchedElsewhere(integration: string): boolean
  /** Somebody looks at the console of another node. */
  isObservedElsewhere(): boolean
  /** Resolves when what changed here was told and read again. */
  caughtUp(): Promise<void>
  /** Told when another node fell silent, or said goodbye: what it held may be taken. */
  onGone(listen: (owner: string) => void): void
  start(): Promise<void>
  /** Gives everything back; told to the others. */
  stop(): Promise<void>
}

export function createCluster(deps: ClusterDeps): Cluster {
  const { store, clock, log, roster } = deps
  const gone: ((owner: string) => void)[] = []
  let nodes: readonly NodeRow[] = []
  let attachments: readonly AttachmentRow[] = []
  let living = new Set<string>()
  let cancel: Cancel = () => undefined
  let stopped = false
  let beatAt: number | null = null
  /** Another daemon has this node's name. */
  let doubled = false
  /** Until then nobody is taken for gone: we slept, or the database was away, and the others have to be heard again. */
  let trustFrom = 0
  const inOrder = createSerial()

  /** In either direction: after a clock was set back, one that died before it must not live until it has caught up. */
  const isRecent = ({ seenAt }: NodeRow) => Math.abs(clock.now() - seenAt) <= NODE_GONE_MS

  const isAlive = (owner: string): boolean => {
    // A node's name has one life at a time.
    if (nodeOf(owner) === nodeOf(store.owner)) return owner === store.owner
    const row = nodes.find((one) => one.owner === owner)
    if (!row || row.leftAt !== null) return false
    return isRecent(row) || clock.now() < trustFrom
  }
  const others = () => nodes.filter((one) => one.owner !== store.owner && isAlive(one.owner))

  /** Boots that share their name with another that is heard of: when they were last heard of as that began. */
  const doubles = new Map<string, number>()
  const namesakes = (row: NodeRow) =>
    nodes.filter((one) => one.node === row.node && one.owner !== row.owner && isHeard(one))
  const isHeard = (row: NodeRow) => row.owner === store.owner || (row.leftAt === null && isRecent(row))
  /** It was killed and began anew, or it runs twice: only a living one is heard of again. */
  const speaksAgain = (row: NodeRow) => isHeard(row) && row.seenAt > (doubles.get(row.owner) ?? row.seenAt)
  const runs = (row: NodeRow): boolean => {
    const same = namesakes(row)
    if (same.length === 0 || row.owner === store.owner) return isAlive(row.owner)
    const latest = row.node !== nodeOf(store.owner) && same.every((one) => one.startedAt <= row.startedAt)
    return speaksAgain(row) || (latest && isAlive(row.owner))
  }
  const noticeDoubles = () => {
    for (const row of nodes) {
      if (!isHeard(row) || namesakes(row).length === 0) doubles.delete(row.owner)
      else if (!doubles.has(row.owner)) doubles.set(row.owner, row.seenAt)
    }
    const twin = nodes.find(
      (row) => row.owner !== store.owner && row.node === nodeOf(store.owner) && speaksAgain(row),
    )
    if (twin && !doubled)
      log.error(
        { node: twin.node, url: twin.url },
        'another daemon runs under the name of this node: they take each other’s work; stop one of them',
      )
    doubled = twin !== undefined
  }

  const beat = async (): Promise<void> => {
    const now = clock.now()
    const asleep = beatAt !== null && now - beatAt > NODE_GONE_MS
    const agents = roster
      .all()
      .filter((post) => post.attached)
      .map((post) => ({
        agent: post.settings.id,
        ...defined({ detail: post.detail }),
        ...withoutNulls({ trouble: post.trouble }),
      }))
    await store.beat({ ...deps.report(), agents })
    beatAt = clock.now()
    if (asleep) trustFrom = beatAt + NODE_GONE_MS
  }

  const look = async (): Promise<void> => {
    const [rows, attached] = await Promise.all([store.nodes(), store.attachments()])
    nodes = rows
    attachments = attached
    noticeDoubles()
    const before = living
    living = new Set(others().map((one) => one.owner))
    for (const owner of before) {
      if (living.has(owner)) continue
      log.warn({ node: owner }, 'a node is gone')
      for (const listen of gone) listen(owner)
    }
    for (const owner of living) if (!before.has(owner)) log.info({ node: owner }, 'a node is there')
  }

  /** One after another: a beat that overtakes another would tell an older state. */
  const soon = (work: () => Promise<void>): Promise<void> =>
    inOrder(() => (stopped ? undefined : work())).catch((thrown) =>
      log.warn({ error: String(thrown) }, 'the other nodes cannot be heard; trying again'),
    )

  const tick = () => {
    cancel = clock.after(NODE_BEAT_MS, () => {
      void soon(async () => {
        await beat()
        await look()
      })
      tick()
    })
  }

  const holders = (agent: string): readonly string[] =>
    attachments
      .filter((one) => one.agent === agent && one.endedAt === null && one.owner !== store.owner)
      .map((one) => one.owner)
      .filter(isAlive)

  const isHere = (agent: string) => roster.get(agent)?.attached ?? false

  store.onHint((hint) => {
    if (!store.shared || stopped) return
    if (hint.kind === 'nodes' || hint.kind === 'missed') void soon(look)
  })
  let started = false
  const presence = () => {
    if (started && store.shared)
      void soon(async () => {
        await beat()
        await look()
      })
  }
  roster.onAttached(presence)
  roster.onDetached(presence)

  return {
    nodes: () => nodes.map((one) => ({ ...one, alive: runs(one) })),
    others,
    isAlive,
    isElsewhere: (agent) => holders(agent).length > 0,
    reaches: (agent) => isHere(agent) || holders(agent).length > 0,
    outageOf(agent) {
      if (isHere(agent) || holders(agent).length > 0) return null
      if (!store.shared) return roster.get(agent)?.outageSince ?? 0
      const ends = attachments
        .filter((one) => one.agent === agent)
        .map((one) => one.endedAt ?? nodes.find((node) => node.owner === one.owner)?.seenAt ?? one.since)
      return Math.max(0, ...ends)
    },
    isMine(lane, agent, from) {
      const there = holders(agent)
      // Where it came from it is taken without a detour.
      if (there.includes(from)) return false
      return firstInLine(lane, [...there, store.owner]) === store.owner
    },
    isFirst: (lane) => firstInLine(lane, [store.owner, ...others().map((one) => one.owner)]) === store.owner,
    isWatchedElsewhere: (integration) =>
      others().some((node) =>
        node.links.some((link) => link.integration === integration && link.listening === true),
      ),
    isObservedElsewhere: () => others().some((node) => node.watched),
    caughtUp: () => inOrder(() => undefined),
    onGone: (listen) => void gone.push(listen),
    async start() {
      if (!store.shared) return
      started = true
      await soon(async () => {
        await beat()
        await look()
      })
      tick()
    },
    async stop() {
      stopped = true
      cancel()
      if (!store.shared || !started) return
      await inOrder(() => undefined)
      await store.leave().catch(() => undefined)
    },
  }
}
