// One way to read for every command: through the daemon when one runs, straight from the store when none does.
import { existsSync } from 'node:fs'
import {
  type ApprovalView,
  type AuditReport,
  type ConversationView,
  defined,
  type LedgerHead,
  type PairingView,
  parseAddress,
  parseConversationCursor,
  type ReadDesk,
  rowPosition,
  type SendFilter,
  type SendState,
  type SendView,
  type StatusReport,
  SwitchboardError,
  type ThreadView,
  type TurnDetail,
  type TurnFilter,
  type TurnState,
  type TurnView,
} from '../contract/index.ts'
import type { DaemonClient, Query } from './daemon-client.ts'
import { createLedgerExport, type ExportFormat } from './ledger-export.ts'

/** What a list is narrowed to. `limit: null` means everything. */
export interface ListFilter<State extends string> {
  readonly states?: readonly State[]
  readonly agent?: string
  readonly integration?: string
  readonly session?: string
  readonly source?: string
  readonly sender?: string
  readonly sinceMs?: number
  readonly untilMs?: number
  /** Only those before this one. */
  readonly before?: string
  readonly limit: number | null
}

export interface ApprovalFilter {
  readonly states: readonly string[] | null
  readonly id?: string
  /** Only those before this place. */
  readonly before?: string
  readonly limit: number | null
}

export interface ConversationListFilter {
  readonly integration?: string
  readonly agent?: string
  readonly held?: boolean
  readonly asked?: boolean
  readonly q?: string
  readonly sinceMs?: number
  readonly before?: string
  readonly limit: number | null
}

export type AccessView = Awaited<ReturnType<ReadDesk['access']>>[number]
export type TokenView = Awaited<ReturnType<ReadDesk['tokens']>>[number]

export interface Reader {
  /** False: no daemon runs, the store was opened by this command. */
  readonly live: boolean
  status(): Promise<StatusReport>
  turns(filter: ListFilter<TurnState>): AsyncIterable<TurnView>
  turn(id: string): Promise<TurnDetail | null>
  sends(filter: ListFilter<SendState>): AsyncIterable<SendView>
  send(id: string): Promise<SendView | null>
  approvals(filter: ApprovalFilter): AsyncIterable<ApprovalView>
  conversations(filter: ConversationListFilter): AsyncIterable<ConversationView>
  conversation(address: string): Promise<ConversationView | null>
  /** Newest first. */
  thread(address: string, page: { readonly limit: number; readonly before?: string }): Promise<ThreadView>
  pairings(): Promise<readonly PairingView[]>
  access(): Promise<readonly AccessView[]>
  tokens(options?: { readonly all?: boolean }): Promise<readonly TokenView[]>
  secretNames(): Promise<readonly string[]>
  verifyAudit(expectHead?: string): Promise<AuditReport>
  auditHead(): Promise<LedgerHead>
  exportAudit(format: ExportFormat): AsyncIterable<string>
  /** One JSON object a line. */
  exportPerson(who: string, files?: boolean): AsyncIterable<string>
}

export function createDaemonReader(daemon: DaemonClient): Reader {
  return {
    live: true,
    status: () => daemon.call('GET', '/api/status'),
    turns: (filter) => daemon.list('/api/turns', queryOf(filter), filter.limit),
    turn: (id) => orNull(daemon.call('GET', `/api/turns/${encodeURIComponent(id)}`)),
    sends: (filter) => daemon.list('/api/outbox', queryOf(filter), filter.limit),
    send: (id) => orNull(daemon.call('GET', `/api/outbox/${encodeURIComponent(id)}`)),
    approvals: ({ states, id, before, limit }) =>
      daemon.list('/api/approvals', { state: states?.join(','), id, before }, limit),
    conversations: ({ limit, sinceMs, held, asked, ...rest }) =>
      daemon.list(
        '/api/conversations',
        {
          ...rest,
          held: held ? 'true' : undefined,
          asked: asked ? 'true' : undefined,
          since: sinceMs === undefined ? undefined : new Date(sinceMs).toISOString(),
        },
        limit,
      ),
    conversation: (address) => orNull(daemon.call('GET', conversationPath(address))),
    thread: (address, page) =>
      daemon.call('GET', `${conversationPath(address)}/thread`, { query: { ...page } }),
    pairings: () => gather(daemon.list('/api/pairings', {}, null)),
    access: () => gather(daemon.list('/api/access', {}, null)),
    tokens: ({ all } = {}) => gather(daemon.list('/api/tokens', { all: all ? 'true' : undefined }, null)),
    async secretNames() {
      const items = await gather(daemon.list<string | { readonly name: string }>('/api/secrets', {}, null))
      return items.map((item) => (typeof item === 'string' ? item : item.name))
    },
    auditHead: () => daemon.call('GET', '/api/audit/head'),
    verifyAudit: (expectHead) =>
      daemon.call('GET', '/api/audit/verify', { query: { expect: expectHead }, timeoutMs: 600_000 }),
    async *exportAudit(format) {
      yield* await daemon.stream('/api/audit/export', { format })
    },
    async *exportPerson(who, files = false) {
      yield* await daemon.stream('/api/people/export', { who, ...(files ? { files: 'true' } : {}) })
    },
  }
}

/** Opens the store for reading only. The app is loaded here and nowhere else, so that a live daemon stays quick to ask. */
export async function openStoreReader(options: {
  readonly dataDir: string
  readonly configFile: string | null
  /** How a daemon is started here. */
  readonly hint: string
}): Promise<{ readonly reader: Reader; close(): Promise<void> }> {
  if (!existsSync(options.dataDir)) {
    throw new SwitchboardError('daemon_absent', `there is no data folder ${options.dataDir} yet`, {
      hint: `name the right one with --data, or ${options.hint}`,
    })
  }
  const { openReadDesk } = await import('../operations/read-desk.ts')
  const { dataDir, configFile } = options
  const opened = await openReadDesk(configFile === null ? { dataDir } : { dataDir, configFile })
  return { reader: createStoreReader(opened.desk), close: async () => opened.close() }
}

const PAGE = 500

export function createStoreReader(desk: ReadDesk): Reader {
  return {
    live: false,
    status: () => desk.status(),
    turns: (filter) => pages(filter, (page: TurnFilter) => desk.turns(page)),
    turn: (id) => desk.turn(id),
    sends: (filter) => pages(filter, (page: SendFilter) => desk.sends(page)),
    send: (id) => desk.send(id),
    approvals: (filter) => approvalPages(desk, filter),
    conversations: (filter) => conversationPages(desk, filter),
    conversation: (address) => desk.conversation(parseAddress(address), NOBODY),
    thread: (address, page) => desk.thread(parseAddress(address), page, NOBODY),
    pairings: () => desk.pairings(),
    access: () => desk.access(),
    tokens: (options) => desk.tokens(options),
    secretNames: () => desk.secretNames(),
    auditHead: () => desk.auditHead(),
    verifyAudit: (expectHead) => desk.verifyAudit(expectHead),
    async *exportPerson(who, files = false) {
      for await (const line of desk.exportPerson(who, { files })) yield `${JSON.stringify(line)}\n`
    },
    exportAudit: (format) => createLedgerExport((afterSeq, limit) => desk.ledger(afterSeq, limit), format),
  }
}

/** Newest first, page by page; a row's id carries its position, so the last one says where to go on. */
async function* pages<State extends string, Item extends { readonly id: string }>(
  filter: ListFilter<State>,
  read: (page: ListFilter<State> & { limit: number; beforeSeq?: number }) => Promise<readonly Item[]>,
): AsyncIterable<Item> {
  let left = filter.limit ?? Number.POSITIVE_INFINITY
  let beforeSeq = filter.before === undefined ? undefined : placeBefore(rowPosition(filter.before))
  while (left > 0) {
    const limit = Math.min(PAGE, left)
    const items = await read({ ...filter, limit, ...defined({ beforeSeq }) })
    yield* items
    left -= items.length
    const last = items.at(-1)
    if (items.length < limit || last === undefined) return
    const position = rowPosition(last.id)
    if (position === null) return
    beforeSeq = position
  }
}

async function* approvalPages(desk: ReadDesk, filter: ApprovalFilter): AsyncIterable<ApprovalView> {
  let left = filter.limit ?? Number.POSITIVE_INFINITY
  const id = defined({ id: filter.id })
  let before = filter.before === undefined ? undefined : placeBefore(Number(filter.before))
  while (left > 0) {
    const limit = Math.min(PAGE, left)
    const which = before === undefined ? id : { ...id, before }
    const items = await desk.approvals(filter.states, limit, which)
    yield* items
    left -= items.length
    before = items.at(-1)?.seq
    if (items.length < limit || before === undefined) return
  }
}

/** Without a daemon nobody holds anything by it. */
const NOBODY = ''

async function* conversationPages(
  desk: ReadDesk,
  { limit, held, asked, q, before, ...rest }: ConversationListFilter,
): AsyncIterable<ConversationView> {
  let left = limit ?? Number.POSITIVE_INFINITY
  let next: string | null = before ?? null
  const takeover = held ? ({ takeover: 'held' } as const) : asked ? ({ takeover: 'asked' } as const) : {}
  do {
    const from = next === null ? {} : { before: parseConversationCursor(next) }
    const filter = { ...rest, ...takeover, ...defined({ search: q }), ...from, limit: Math.min(PAGE, left) }
    const page = await desk.conversations(filter, NOBODY)
    yield* page.items
    left -= page.items.length
    next = page.next
  } while (left > 0 && next !== null)
}

export function conversationPath(address: string): string {
  return `/api/conversations/${encodeURIComponent(address)}`
}

/** As the API answers it. */
function placeBefore(place: number | null): number {
  if (place !== null && Number.isSafeInteger(place) && place >= 0) return place
  throw new SwitchboardError('input_invalid', 'before: is not a cursor of this list')
}

function queryOf(filter: ListFilter<string>): Query {
  return {
    state: filter.states?.join(','),
    agent: filter.agent,
    integration: filter.integration,
    session: filter.session,
    source: filter.source,
    sender: filter.sender,
    before: filter.before,
    since: filter.sinceMs === undefined ? undefined : new Date(filter.sinceMs).toISOString(),
    until: filter.untilMs === undefined ? undefined : new Date(filter.untilMs).toISOString(),
  }
}

async function gather<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

async function orNull<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer
  } catch (problem) {
    if ((problem as { code?: unknown }).code === 'not_found') return null
    throw problem
  }
}
