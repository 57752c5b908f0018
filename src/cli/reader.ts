// One way to read for every command: the routes of the API, asked of the daemon, or of this process when none runs.
import { existsSync } from 'node:fs'
import {
  type ApprovalView,
  type AuditReport,
  type ConversationView,
  type LedgerHead,
  type PairingView,
  type ReadDesk,
  type SendState,
  type SendView,
  type StatusReport,
  SwitchboardError,
  type ThreadView,
  type TurnDetail,
  type TurnState,
  type TurnView,
} from '../contract/index.ts'
import type { ApiClient, Query } from './daemon-client.ts'

export type ExportFormat = 'ndjson' | 'csv'

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

/** `live`: the answers are a daemon's. */
export function createReader(api: ApiClient, live: boolean): Reader {
  return {
    live,
    status: () => api.call('GET', '/api/status'),
    turns: (filter) => api.list('/api/turns', queryOf(filter), filter.limit),
    turn: (id) => orNull(api.call('GET', `/api/turns/${encodeURIComponent(id)}`)),
    sends: (filter) => api.list('/api/outbox', queryOf(filter), filter.limit),
    send: (id) => orNull(api.call('GET', `/api/outbox/${encodeURIComponent(id)}`)),
    approvals: ({ states, id, before, limit }) =>
      api.list('/api/approvals', { state: states?.join(','), id, before }, limit),
    conversations: ({ limit, sinceMs, held, asked, ...rest }) =>
      api.list(
        '/api/conversations',
        {
          ...rest,
          held: held ? 'true' : undefined,
          asked: asked ? 'true' : undefined,
          since: sinceMs === undefined ? undefined : new Date(sinceMs).toISOString(),
        },
        limit,
      ),
    conversation: (address) => orNull(api.call('GET', conversationPath(address))),
    thread: (address, page) => api.call('GET', `${conversationPath(address)}/thread`, { query: { ...page } }),
    pairings: () => gather(api.list('/api/pairings', {}, null)),
    access: () => gather(api.list('/api/access', {}, null)),
    tokens: ({ all } = {}) => gather(api.list('/api/tokens', { all: all ? 'true' : undefined }, null)),
    async secretNames() {
      const items = await gather(api.list<string | { readonly name: string }>('/api/secrets', {}, null))
      return items.map((item) => (typeof item === 'string' ? item : item.name))
    },
    auditHead: () => api.call('GET', '/api/audit/head'),
    verifyAudit: (expectHead) =>
      api.call('GET', '/api/audit/verify', { query: { expect: expectHead }, timeoutMs: 600_000 }),
    async *exportAudit(format) {
      yield* await api.stream('/api/audit/export', { format })
    },
    async *exportPerson(who, files = false) {
      yield* await api.stream('/api/people/export', { who, ...(files ? { files: 'true' } : {}) })
    },
  }
}

/** Opens the store for reading only. What reads it is loaded here and nowhere else, so that a live daemon stays quick to ask. */
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
  const { openReadDesk } = await import('../operations/desk/read-desk.ts')
  const { dataDir, configFile } = options
  const opened = await openReadDesk(configFile === null ? { dataDir } : { dataDir, configFile })
  const { createStoreReader } = await import('./store-reader.ts')
  return { reader: createStoreReader(opened.desk), close: async () => opened.close() }
}

export function conversationPath(address: string): string {
  return `/api/conversations/${encodeURIComponent(address)}`
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
