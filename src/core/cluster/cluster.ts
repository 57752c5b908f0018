// The cluster as this node sees it. It writes heartbeats and reads rows: which nodes live, which agent is attached
// where, and which node acts on a hint. This view may be some seconds old. It decides which node goes first and what
// people hear. The rows themselves decide what may be written.
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
import type { Roster } from '../roster.ts'
import { firstInLine } from './first-in-line.ts'

export interface ClusterDeps {
  readonly store: Pick<Store, 'beat' | 'leave' | 'nodes' | 'attachments' | 'onHint' | 'owner' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly roster: Roster
  /** The report of this node, without its agents. */
  readonly report: () => Omit<NodeReport, 'agents'>
}

export interface Cluster {
  /**
   * All nodes seen in the last day. Among boots that share a name, the latest lives, and so does any that still sends
   * heartbeats.
   */
  nodes(): readonly NodeRow[]
  /** Other nodes that are alive. */
  others(): readonly NodeRow[]
  isAlive(owner: string): boolean
  /** A turn can be handed to this agent here or at another living node. */
  reaches(agent: string): boolean
  /** Another living node has the agent. */
  isElsewhere(agent: string): boolean
  /** Start of the agent's present outage, the same on every node. Null: a node reaches the agent. */
  outageOf(agent: string): number | null
  /** Whether this node acts on another node's hint about work of this agent, or leaves it to a better placed node. */
  isMine(lane: string, agent: string, from: string): boolean
  /** Whether this node goes first for the lane among all living nodes. Every node computes the same answer. */
  isFirst(lane: string): boolean
  /** Whether another node has a listener for this integration. */
  isWatchedElsewhere(integration: string): boolean
  /** Whether a person watches the console of another node. */
  isObservedElsewhere(): boolean
  /** Resolves when local changes were published and the rows were read again. */
  caughtUp(): Promise<void>
  /** Registers a listener for a node that went silent or left. Its lanes may be taken. */
  onGone(listen: (owner: string) => void): void
  start(): Promise<void>
  /** Leaves the cluster. The other nodes see this node as gone. */
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
  /** Another daemon uses this node's name. */
  let doubled = false
  /**
   * Until then no node counts as gone. This process slept, or the database was away, and other nodes must be heard
   * again.
   */
  let trustFrom = 0
  const inOrder = createSerial()

  /**
   * The difference counts in either direction. After the clock is set back, a node that died before must not seem
   * alive.
   */
  const isRecent = ({ seenAt }: NodeRow) => Math.abs(clock.now() - seenAt) <= NODE_GONE_MS

  const isAlive = (owner: string): boolean => {
    // A node's name stands for one run at a time.
    if (nodeOf(owner) === nodeOf(store.owner)) return owner === store.owner
    const row = nodes.find((one) => one.owner === owner)
    if (!row || row.leftAt !== null) return false
    return isRecent(row) || clock.now() < trustFrom
  }
  const others = () => nodes.filter((one) => one.owner !== store.owner && isAlive(one.owner))

  /** Boots that share their name with another active boot, with their last heartbeat at the time this began. */
  const doubles = new Map<string, number>()
  const namesakes = (row: NodeRow) =>
    nodes.filter((one) => one.node === row.node && one.owner !== row.owner && isHeard(one))
  const isHeard = (row: NodeRow) => row.owner === store.owner || (row.leftAt === null && isRecent(row))
  /**
   * Two boots share a name because the node restarted, or because it runs twice. Only a living boot sends another
   * heartbeat.
   */
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

  /** Beats run one after another. A beat that overtakes another would publish an older state. */
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
      // The node where the hint comes from takes the lane itself.
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
