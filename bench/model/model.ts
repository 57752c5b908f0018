// The model behind docs/guide/scale.md: from the measured cost of one message and the habits of people to nodes, cores,
// disk, log and memory, for any number of conversations. Arithmetic only; every assumption is an input.

/** What one message costs that is received, handed over, answered, and its answer sent. `npm run bench` measures it. */
export interface Costs {
  /** CPU of the nodes, µs. */
  readonly nodeCpuUs: number
  /** CPU of PostgreSQL, µs. */
  readonly databaseCpuUs: number
  /** Log that PostgreSQL writes, bytes. */
  readonly walBytes: number
  /** Bytes of disk a row with its share of the indexes, bodies included. */
  readonly rowBytes: Readonly<Record<Table, number>>
  /** Rows that a message leaves. Sessions and lanes are counted by conversations instead. */
  readonly rowsAMessage: Readonly<Record<'turns' | 'outbox' | 'ledger', number>>
  /** Resident memory of a node, MB. */
  readonly nodeMb: number
  /** Commits a second that carry a NOTIFY, of all connections together. */
  readonly notifyingCommitsPerSecond: number
}

export type Table = 'turns' | 'outbox' | 'ledger' | 'lanes' | 'sessions'

export interface Habits {
  /** Share of the conversations in which something is said on a day. */
  readonly activeShare: number
  /** Messages of people a day in a conversation that is active. */
  readonly messagesADay: number
  /** The busiest second over the average one. */
  readonly peakFactor: number
  readonly yearsKept: number
  /** Bodies are pruned after this; rows and ledger stay. */
  readonly bodyDays: number
  /** Bytes of the two bodies of a message, question and answer. */
  readonly bodyBytes: number
  /** Cores are planned to be this busy at the peak. */
  readonly utilisation: number
  /** Messages that share a commit at the peak. */
  readonly messagesACommit: number
  /** Commits of one message's life: received, handed, answered, sending, sent. */
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
  /** A node is one busy core; one more, so that one may die. */
  readonly nodes: number
  readonly nodeMb: number
  readonly databaseCores: number
  readonly walMbPerSecond: number
  readonly walGbADay: number
  readonly rows: Readonly<Record<Table, number>>
  readonly diskGb: number
  /** What is read and written all the time: open work, and the lanes and sessions of those who are active. */
  readonly hotGb: number
  readonly connections: number
  readonly notifyingCommits: number
  /** What is used up first, of one database server. */
  readonly limits: readonly Limit[]
}

export type Limit = 'none' | 'notify' | 'connections' | 'database-cores' | 'wal' | 'disk' | 'rows'

const DAY_S = 86_400
const GB = 1e9
/** A writer, a listener, four for reading, two for files on their way. */
const CONNECTIONS_A_NODE = 8

/** Where one PostgreSQL server ends, or a table of it becomes hard to keep: round figures, meant as warnings. */
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
    // One of the session, one of the place it is answered in; neither is ever dropped.
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
