// The time from the POST of a message to its notification on the host's stdin. Some messages go to the host's own node,
// some to another node. The difference is the cost of waking a neighbour. One message at a time.
import { openConnection } from '../load/connection.ts'
import { startMcpHost } from '../load/mcp-host.ts'
import { buildRequests } from '../load/requests.ts'
import { type BenchDatabase, type BenchPostgres, startCluster } from '../servers/cluster.ts'
import { HOOK_PATH } from '../servers/switchboard.ts'
import { quantile, rounded } from '../statistics.ts'
import { shimArguments } from './channel.ts'
import type { BenchContext } from './context.ts'

export interface AcrossReport {
  readonly same_node_p50_ms: number
  readonly same_node_p99_ms: number
  readonly other_node_p50_ms: number
  readonly other_node_p99_ms: number
  /** The difference of the medians. */
  readonly added_ms: number
  readonly messages: number
}

/** It ends a hang. On a busy machine a node may miss its heartbeats. Its lanes then move when their lease ends. */
const GIVE_UP_MS = 120_000
const PEOPLE = 50
const WARM = 10

export async function measureAcross(context: BenchContext, postgres: BenchPostgres): Promise<AcrossReport> {
  const { options, secret } = context
  const count = options.quick ? 20 : 300
  const database = await postgres.fresh()
  const cluster = await startCluster({
    nodes: 2,
    store: database.url,
    agent: 'absent',
    entry: options.entry,
    secret,
    folder: (name) => context.freshFolder(`across-${name}`),
  })
  const [home] = cluster.folders
  if (home === undefined) throw new Error('a cluster without nodes')
  const host = await startMcpHost(shimArguments(context, home.dataDir))
  const fail = (error: Error) => context.say(`across: ${error.message}`)
  const connections = await Promise.all(cluster.ports.map((port) => openConnection(port, fail)))
  try {
    const requests = buildRequests({
      path: HOOK_PATH,
      secret,
      scheme: 'github',
      people: PEOPLE,
      count: 2 * (count + WARM),
      from: 1,
    })
    let arrived: () => void = () => undefined
    host.onPush(({ meta }) => {
      host.call('ack', { message_id: meta.message_id ?? '' })
      arrived()
    })
    // Even messages go to the host's own node, odd ones to the other.
    const took: [number[], number[]] = [[], []]
    for (const [at, request] of requests.entries()) {
      const came = new Promise<void>((resolve, reject) => {
        const giveUp = async () =>
          reject(new Error(`across: no notification of ${at}: ${await openTurns(database)}`))
        const timer = setTimeout(() => void giveUp(), GIVE_UP_MS)
        arrived = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      const began = performance.now()
      const answered = new Promise<number>((resolve) => connections[at % 2]?.ask(request, resolve))
      await came
      const ms = performance.now() - began
      if ((await answered) !== 200) throw new Error('across: a message was not taken')
      if (at >= 2 * WARM) took[at % 2 === 0 ? 0 : 1].push(ms)
    }
    const [same, other] = took
    const report = {
      same_node_p50_ms: rounded(quantile(same, 0.5), 2),
      same_node_p99_ms: rounded(quantile(same, 0.99), 2),
      other_node_p50_ms: rounded(quantile(other, 0.5), 2),
      other_node_p99_ms: rounded(quantile(other, 0.99), 2),
      added_ms: rounded(quantile(other, 0.5) - quantile(same, 0.5), 2),
      messages: same.length + other.length,
    }
    context.say(
      `across: ${report.same_node_p50_ms} ms on one node, ${report.other_node_p50_ms} ms to the other`,
    )
    return report
  } finally {
    for (const connection of connections) connection.close()
    await host.stop()
    await cluster.stop()
    await database.close()
  }
}

/** Reports where the missing message is: still queued (no node takes its lane), or handed over. */
async function openTurns(database: BenchDatabase): Promise<string> {
  const turns = `SELECT t.seq, t.state, t.reason, l.owner, l.until FROM turns t LEFT JOIN lanes l ON l.kind = 'turns' AND l.lane = t.session
    WHERE t.state NOT IN ('answered', 'seen') ORDER BY t.seq DESC LIMIT 3`
  return database.query(turns).then(JSON.stringify, String)
}
