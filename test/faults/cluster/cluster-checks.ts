// What must hold after any fault of a cluster. Everything acknowledged is there and answered, in order. Nothing was
// sent twice without a label. Every node's ledger agrees. It also prints the numbers.
import { expect } from 'vitest'
import { type Audit, repeated, type Status } from '../river-checks.ts'
import { askJson } from '../scene.ts'
import { pause, until } from '../until.ts'
import { type Cluster, TALKERS } from './cluster-scene.ts'
import type { DatabaseProbe, StoredTurn } from './database-probe.ts'
import type { Load } from './load.ts'
import { DUPLICATE_NOTE } from './recording-place.ts'

/** SPEC 13 promises this limit for the leases and lanes of a node that is gone. */
export const MOVED_WITHIN_MS = 15_000
/** The lease of the node that polls for the bot. */
export const POLLER = 'link:tg'

export interface Moved {
  /** The lanes with work and leases that the node held at its end. */
  readonly lanes: number
  readonly leases: number
  /** The time until it held none of them, by the database's clock. */
  readonly lanesMs: number
  readonly leasesMs: number
}

/** The owner (`node/boot`) with the most turns now. With `lease`, the owner of that lease, once it has turns. */
export async function busiest(probe: DatabaseProbe, lease?: string): Promise<string> {
  return until('a node is busy', async () => {
    const held = await probe.held()
    const poller = lease === undefined ? undefined : held.leases.get(lease)
    if (lease !== undefined) return poller !== undefined && (held.turns.get(poller) ?? 0) > 0 ? poller : null
    const [first] = [...held.turns].sort(([, a], [, b]) => b - a)
    return first?.[0]
  })
}

/** Watches what an owner held until nothing of it is left. `since` is by the database's clock. */
export async function followMove(probe: DatabaseProbe, owner: string, since: number): Promise<Moved> {
  let lanes = 0
  let leases = 0
  let lanesMs = -1
  let leasesMs = -1
  const deadline = Date.now() + 4 * MOVED_WITHIN_MS
  for (;;) {
    const held = await probe.held()
    const lanesNow = (held.turns.get(owner) ?? 0) + (held.sends.get(owner) ?? 0)
    const leasesNow = [...held.leases.values()].filter((holder) => holder === owner).length
    lanes = Math.max(lanes, lanesNow)
    leases = Math.max(leases, leasesNow)
    if (lanesNow === 0 && lanesMs < 0) lanesMs = held.at - since
    if (leasesNow === 0 && leasesMs < 0) leasesMs = held.at - since
    if (lanesMs >= 0 && leasesMs >= 0) return { lanes, leases, lanesMs, leasesMs }
    if (Date.now() > deadline)
      throw new Error(`${owner} still holds ${lanesNow} lanes and ${leasesNow} leases`)
    await pause(50)
  }
}

export function expectMovedInTime(moved: Moved): void {
  expect(moved.lanes + moved.leases, 'it held something').toBeGreaterThan(0)
  expect(moved.lanesMs).toBeLessThanOrEqual(MOVED_WITHIN_MS)
  expect(moved.leasesMs).toBeLessThanOrEqual(MOVED_WITHIN_MS)
}

export interface Outcome {
  readonly acknowledged: number
  readonly delivered: number
  readonly repeats: number
  readonly answered: number
  readonly labelled: number
  readonly longestStallMs: number
  readonly conflicts: number
  readonly spoken: number
  /** The deadlocks between nodes. The database ended each by aborting a commit. */
  readonly deadlocks: number
}

/** Ends the load, waits until all is settled, and checks everything that must hold. */
export async function expectNothingLost(cluster: Cluster, load: Load): Promise<Outcome> {
  const { probe, agent, place, telegram } = cluster
  await load.stop()
  await until('every update was fetched', () => telegram.world.updates.length === 0, 120_000)
  await until('everything is settled', async () => (await probe.open()) === 0, 120_000).catch(
    async (thrown) => {
      throw new Error(`${thrown}\n${await whatIsOpen(cluster)}`)
    },
  )

  const turns = await probe.turns()
  const crowd = turns.filter((turn) => turn.integration === 'crowd')
  expect(crowd.map((turn) => turn.message_id).toSorted()).toEqual([...load.acknowledged.keys()].toSorted())
  expect(turns.filter((turn) => turn.state !== 'answered')).toEqual([])
  expect(agent.untaken).toEqual([])

  // The agent got each conversation in the order in which it was written, from whichever node.
  const delivered = new Map(agent.handed.map(({ id, text }) => [id, text]))
  expect([...delivered.values()].toSorted()).toEqual([...load.acknowledged.values()].toSorted())
  await expectInOrder(probe, [...delivered.values()])

  // The receiver of the answers got them in order too. A repeat has a label.
  const plain = place.arrivals.filter((one) => !one.labelled).map((one) => one.text)
  const marked = place.arrivals.filter((one) => one.labelled).map((one) => unlabelled(one.text))
  expect(repeated(plain)).toEqual([])
  expect(repeated(marked)).toEqual([])
  expect(overtaken(place.arrivals.map((one) => one.text))).toEqual([])
  const said = new Set(place.arrivals.map((one) => unlabelled(one.text).replace(/^re: /, '')))
  expect([...said].toSorted()).toEqual([...load.acknowledged.values()].toSorted())
  await expectInOrder(probe, [...said])

  const labelledThere = await expectTelegramAnswered(cluster, load)
  expect(await probe.sentTwice()).toBe(0)
  const told = await Promise.all(
    cluster.nodes.map(async ({ data }) => ({
      audit: await askJson<Audit>(data, 'audit', 'verify'),
      status: await askJson<Status>(data, 'status'),
    })),
  )
  for (const { audit, status } of told) {
    expect(audit).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
    expect(status).toMatchObject({ ready: true })
  }
  return {
    acknowledged: load.acknowledged.size,
    delivered: delivered.size,
    repeats: agent.handed.length - delivered.size,
    answered: crowd.length,
    labelled: marked.length + labelledThere,
    longestStallMs: Math.max(...turns.map(stallOf)),
    conflicts: telegram.updates.conflicts(),
    spoken: load.spoken.length,
    deadlocks: await deadlocksIn(probe),
  }
}

async function deadlocksIn(probe: DatabaseProbe): Promise<number> {
  const [found] = await probe.rows<{ deadlocks: number }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  )
  return found?.deadlocks ?? 0
}

/** Describes what is still open, to help find the cause. */
async function whatIsOpen({ probe, agent, nodes }: Cluster): Promise<string> {
  const now = await probe.now()
  const rows = await probe.rows(
    `SELECT 'turn' AS what, t.seq, t.message_id AS about, t.state, t.reason, t.attempts, t.updated_at - $1 AS changed,
       l.owner, l.until - $1 AS until, l.not_before - $1 AS not_before FROM turns t
     JOIN sessions s ON s.seq = t.lane LEFT JOIN lanes l ON l.kind = 'turns' AND l.lane = s.id
     WHERE t.state IN ('queued','handed','seen')
     UNION ALL SELECT 'send', o.seq, o.lane, o.state, o.reason, o.attempts, o.updated_at - $1, l.owner, l.until - $1,
       o.due_at - $1 FROM outbox o LEFT JOIN lanes l ON l.kind = 'sends' AND l.lane = o.lane
     WHERE o.state IN ('queued','sending') LIMIT 20`,
    [now],
  )
  const logs = nodes.map((node) => `--- ${node.name()}\n${node.daemon().stderr().slice(-2_500)}`)
  return [...rows.map((row) => JSON.stringify(row)), `agent retried ${agent.retries()}`, ...logs].join('\n')
}

/** Texts that came without the note after they had come with it. A node sent them that had lost its right to. */
function overtaken(texts: readonly string[]): readonly string[] {
  const noted = new Set<string>()
  return texts.filter((text) => {
    if (!text.startsWith(DUPLICATE_NOTE)) return noted.has(text)
    noted.add(unlabelled(text))
    return false
  })
}

/** Expects that every person reads an answer to each of their messages, in order, once, or again with the note. */
async function expectTelegramAnswered({ telegram, probe }: Cluster, load: Load): Promise<number> {
  const texts = TALKERS.flatMap((id) => telegram.world.shown(id))
    .filter((one) => one.fromBot)
    .map((one) => one.message.text ?? '')
  expect(overtaken(texts)).toEqual([])
  const ticks = texts.map(spokenOf).filter((text) => text.startsWith('tick '))
  await expectInOrder(probe, [...new Set(ticks.map((tick) => tick.slice('tick '.length)))])
  const plain = texts.filter((text) => !text.startsWith(DUPLICATE_NOTE))
  const marked = texts.filter((text) => text.startsWith(DUPLICATE_NOTE))
  expect(repeated(plain.map(spokenOf))).toEqual([])
  const answered = new Set(texts.map(spokenOf))
  expect(load.spoken.filter((text) => !answered.has(text))).toEqual([])
  return marked.length
}

export function tell(fault: string, outcome: Outcome, moved?: Moved): void {
  const {
    acknowledged,
    delivered,
    repeats,
    answered,
    labelled,
    longestStallMs,
    conflicts,
    spoken,
    deadlocks,
  } = outcome
  const went = moved
    ? `; ${moved.lanes} lanes moved after ${seconds(moved.lanesMs)}, ${moved.leases} leases after ${seconds(moved.leasesMs)}`
    : ''
  console.log(
    `${fault}: ${acknowledged} acknowledged, ${delivered} delivered (${repeats} repeats), ${answered} answered; ` +
      `${spoken} on Telegram; labelled duplicates ${labelled}; longest stall ${seconds(longestStallMs)}; ` +
      `polls at once ${conflicts}; deadlocks ${deadlocks}${went}`,
  )
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function stallOf(turn: StoredTurn): number {
  return turn.updated_at - turn.received_at
}

function unlabelled(text: string): string {
  return text.startsWith(DUPLICATE_NOTE) ? text.slice(text.indexOf('\n\n') + 2) : text
}

function spokenOf(text: string): string {
  return /tick \d+ of \d+/.exec(text)?.[0] ?? text
}

/** Texts are `N of CONVERSATION`. Within a conversation the numbers must grow by one from zero. */
async function expectInOrder(probe: DatabaseProbe, texts: readonly string[]): Promise<void> {
  const next = new Map<string, number>()
  for (const text of texts) {
    const [, n = '', conversation = ''] = /^(\d+) of (.+)$/.exec(text) ?? []
    const expected = next.get(conversation) ?? 0
    if (Number(n) !== expected) {
      const story = await storyOf(probe, conversation, expected)
      throw new Error(`${text} came before ${expected}:\n${story}`)
    }
    next.set(conversation, expected + 1)
  }
}

/** What the ledger says about a conversation from its nth message on, to help find the cause. */
async function storyOf(probe: DatabaseProbe, conversation: string, from: number): Promise<string> {
  const turns = await probe.rows<{ seq: number; message_id: string }>(
    'SELECT seq, message_id FROM turns WHERE conversation = $1 ORDER BY seq OFFSET $2 LIMIT 8',
    [conversation, Math.max(0, from - 1)],
  )
  const named = new Map(turns.map(({ seq, message_id }) => [seq.toString(36), message_id]))
  const lines = await probe.rows<{ ref: string }>(
    `SELECT l.seq, l.at, c.name, l.ref, l.from_state, l.to_state, l.reason
     FROM ledger l JOIN ledger_chains c ON c.id = l.chain
     WHERE l.kind = 'turn' AND split_part(l.ref, '_', 3) = ANY($1) ORDER BY l.seq`,
    [[...named.keys()]],
  )
  return lines
    .map((line) => JSON.stringify({ ...line, ref: named.get(line.ref.split('_')[2] ?? '') }))
    .join('\n')
}
