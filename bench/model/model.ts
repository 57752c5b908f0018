// The model behind docs/guide/scale.md. From the measured cost of one message and the habits of people it computes
// nodes, cores, disk, log and memory for any number of conversations. It is arithmetic only, and every assumption is an
// input.

/**
 * The cost of one message that is received, handed over and answered, with its answer sent. `npm run bench` measures
 * it.
 */
export interface Costs {
  /** CPU of the nodes, µs. */
  readonly nodeCpuUs: number
  /** CPU of PostgreSQL, µs. */
  readonly databaseCpuUs: number
  /** Log that PostgreSQL writes, bytes. */
  readonly walBytes: number
  /** Bytes of disk per row with its share of the indexes, bodies included. */
  readonly rowBytes: Readonly<Record<Table, number>>
  /** Rows per message. Sessions and lanes are counted by conversation instead. */
  readonly rowsAMessage: Readonly<Record<'turns' | 'outbox' | 'ledger', number>>
  /** Resident memory of a node, MB. */
  readonly nodeMb: number
  /** Commits with a NOTIFY per second, of all connections together. */
  readonly notifyingCommitsPerSecond: number
}

export type Table = 'turns' | 'outbox' | 'ledger' | 'lanes' | 'sessions'

export interface Habits {
  /** The share of conversations with a message on a given day. */
  readonly activeShare: number
  /** Messages of people per day in an active conversation. */
  readonly messagesADay: number
  /** The ratio of the busiest second to the average one. */
  readonly peakFactor: number
  readonly yearsKept: number
  /** Bodies are pruned after this time. Rows and ledger stay. */
  readonly bodyDays: number
  /** Bytes of the two bodies of a message, question and answer. */
  readonly bodyBytes: number
  /** The planned load of cores at the peak. */
  readonly utilisation: number
  /** The number of messages that share a commit at the peak. */
  readonly messagesACommit: number
  /** The commits for one message: received, handed, answered, sending, sent. */
  readonly commitsAMessage: number
}

export const HABITS: Habits = {
  activeShare: 0.1,
  messagesADay: 10,
  peakFactor: 4,
  yearsKept: 1,
  bodyDays: 30,
  bodyBytes: 1_400,
  utilisation: 0.6,
  messagesACommit: 8,
  commitsAMessage: 5,
}

export interface Plan {
  readonly conversations: number
  readonly messagesADay: number
  readonly peakPerSecond: number
  /** A node is one busy core. One more node is planned, so that one may die. */
  readonly nodes: number
  readonly nodeMb: number
  readonly databaseCores: number
  readonly walMbPerSecond: number
  readonly walGbADay: number
  readonly rows: Readonly<Record<Table, number>>
  readonly diskGb: number
  /** The data in constant use: open work, and the lanes and sessions of active people. */
  readonly hotGb: number
  readonly connections: number
  readonly notifyingCommits: number
  /** The limits of one database server that are reached first. */
  readonly limits: readonly Limit[]
}

export type Limit = 'none' | 'notify' | 'connections' | 'database-cores' | 'wal' | 'disk' | 'rows'

const DAY_S = 86_400
const GB = 1e9
/** A writer, a listener, four for reading, two for file transfers. */
const CONNECTIONS_A_NODE = 8

/** The limits of one PostgreSQL server and of a practical table size. They are round figures, meant as warnings. */
const ENDS = {
  databaseCores: 32,
  walMbPerSecond: 150,
  diskGb: 4_000,
  rowsATable: 1_000_000_000,
  connections: 500,
} as const

export function plan(conversations: number, costs: Costs, habits: Habits = HABITS): Plan {
  const messagesADay = conversations * habits.activeShare * habits.messagesADay
  const peakPerSecond = (messagesADay / DAY_S) * habits.peakFactor
  const cores = (us: number) => (peakPerSecond * us) / 1e6 / habits.utilisation
  const nodes = Math.max(2, Math.ceil(cores(costs.nodeCpuUs)) + 1)
  const kept = messagesADay * 365 * habits.yearsKept
  const rows = {
    turns: kept * costs.rowsAMessage.turns,
    outbox: kept * costs.rowsAMessage.outbox,
    ledger: kept * costs.rowsAMessage.ledger,
    // One for the session and one for the place of its answers. Neither is ever removed.
    lanes: conversations * 2,
    sessions: conversations,
  }
  const tables = Object.keys(rows) as Table[]
  const whole = tables.reduce((all, table) => all + rows[table] * costs.rowBytes[table], 0)
  const pruned = Math.max(0, kept - messagesADay * habits.bodyDays) * habits.bodyBytes
  const active = conversations * habits.activeShare
  const hot =
    active * (2 * costs.rowBytes.lanes + costs.rowBytes.sessions) +
    messagesADay * (costs.rowBytes.turns + costs.rowBytes.outbox)
  const walMbPerSecond = (peakPerSecond * costs.walBytes) / 1e6
  const notifyingCommits = (peakPerSecond * habits.commitsAMessage) / habits.messagesACommit
  const planned = {
    conversations,
    messagesADay,
    peakPerSecond,
    nodes,
    nodeMb: costs.nodeMb,
    databaseCores: Math.max(1, Math.ceil(cores(costs.databaseCpuUs))),
    walMbPerSecond,
    walGbADay: (messagesADay * costs.walBytes) / GB,
    rows,
    diskGb: Math.max(0, whole - pruned) / GB,
    hotGb: hot / GB,
    connections: nodes * CONNECTIONS_A_NODE,
    notifyingCommits,
  }
  return { ...planned, limits: limitsOf(planned, costs) }
}

function limitsOf(planned: Omit<Plan, 'limits'>, costs: Costs): readonly Limit[] {
  const limits: Limit[] = []
  if (Math.max(planned.rows.turns, planned.rows.ledger) > ENDS.rowsATable) limits.push('rows')
  if (planned.diskGb > ENDS.diskGb) limits.push('disk')
  if (planned.notifyingCommits > costs.notifyingCommitsPerSecond) limits.push('notify')
  if (planned.connections > ENDS.connections) limits.push('connections')
  if (planned.databaseCores > ENDS.databaseCores) limits.push('database-cores')
  if (planned.walMbPerSecond > ENDS.walMbPerSecond) limits.push('wal')
  return limits.length === 0 ? ['none'] : limits
}
