// A river in memory for the web chat's tests: the transcript, tokens and intake that the platform uses. It keeps what
// the real one keeps (positions, states, duplicate keys), and a test can move it by hand.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Clock,
  defined,
  type FileMirror,
  type InboundEvent,
  type IntegrationSettings,
  type Logger,
  type OutboundOp,
  type PlatformAdapter,
  type Random,
  type ReasonCode,
  type Received,
  type TokenList,
  type TranscriptEntry,
  type TurnState,
} from '../../src/contract/index.ts'
import type { WebDeps } from '../../src/platforms/web/config.ts'
import { createWebPlatform } from '../../src/platforms/web/index.ts'

export interface MemoryRiver {
  readonly platform: PlatformAdapter
  readonly deps: WebDeps
  readonly tokens: TokenList
  readonly rows: TranscriptEntry[]
  readonly received: InboundEvent[]
  /** The intake's answer to the next events. Null means queued, or consumed for taps. */
  verdict: {
    readonly state: TurnState
    readonly reason: ReasonCode | null
    readonly retryAfterMs?: number
  } | null
  /** The address of the page for another device. Undefined when it is unknown. */
  reachable: ReturnType<NonNullable<WebDeps['reachable']>> | undefined
  /** Whether the agent can be reached. Undefined when it is unknown. */
  agentHere: boolean | undefined
  /** Makes a send that is due now: its row and the platform call. */
  say(op: OutboundOp, conversation?: string): Promise<string>
  /** Adds a row to the outbox that is not sent yet, and returns its position. */
  plan(op: OutboundOp, conversation?: string): number
  /** Sends a planned row. */
  due(seq: number): Promise<void>
  /** Moves an own message on, as the dispatcher would. `quietly` sends no signal. */
  move(messageId: string, state: TurnState, options?: { reason?: ReasonCode; quietly?: boolean }): void
}

export const WEB_SETTINGS: IntegrationSettings = {
  id: 'web',
  platform: 'web',
  enabled: true,
  default: true,
  scope: 'all',
  access: { readable: true, dm: 'credential', allowFrom: [], approvers: [], groups: {}, mentionPatterns: [] },
  options: {},
  origin: 'default',
}

export async function createMemoryRiver(options: {
  readonly clock: Clock
  readonly random: Random
  readonly settings?: Partial<IntegrationSettings>
  readonly onReceived?: (event: InboundEvent) => void
  readonly mirror?: FileMirror
}): Promise<MemoryRiver> {
  const { clock, random } = options
  const rows: TranscriptEntry[] = []
  const received: InboundEvent[] = []
  const last = { in: 0, out: 0 }
  const tokens = createTokenBook(clock, random)
  const deps: WebDeps = {
    integration: { ...WEB_SETTINGS, ...options.settings },
    clock,
    random,
    log: silent,
    transcript: async (query) => {
      const found = rows
        .filter((row) => query.direction === undefined || row.direction === query.direction)
        .filter((row) => query.conversation === undefined || row.conversation === query.conversation)
        .filter((row) => query.onItsWay !== true || row.state === 'queued' || row.state === 'sending')
        .filter((row) => query.afterSeq === undefined || row.seq > query.afterSeq)
        .filter((row) => query.beforeSeq === undefined || row.seq < query.beforeSeq)
      return query.afterSeq === undefined ? found.slice(-query.limit) : found.slice(0, query.limit)
    },
    secret: () => '',
    agentAt: () => 'demo',
    connections: async (sender) =>
      sender !== 'owner'
        ? null
        : [
            {
              id: 'team',
              platform: 'slack',
              complete: { state: 'complete', until: '2026-01-02T12:00:00.000Z' },
            },
            {
              ...{ id: 'other', platform: 'slack' },
              complete: { state: 'behind', until: null, detail: '#ops: add the scope channels:history' },
            },
            { id: 'web', platform: 'web', complete: { state: 'unchecked', until: null } },
          ],
    agentHere: () => river.agentHere as boolean,
    reachable: () => river.reachable as NonNullable<MemoryRiver['reachable']>,
    tokens,
    filesDir: mkdtempSync(join(tmpdir(), 'swb-files-')),
    ...(options.mirror ? { mirror: options.mirror } : {}),
  }
  const platform = createWebPlatform(deps)

  /** Withdraws a message if it is still queued. */
  function withdraw(event: Extract<InboundEvent, { kind: 'delete' }>): Received {
    received.push(event)
    const at = rows.findIndex(
      (row) => row.platformMessageId === event.messageId && row.state === 'queued' && row.direction === 'in',
    )
    if (at >= 0) river.move(event.messageId, 'consumed', { reason: 'withdrawn' })
    if (at >= 0) rows.splice(at, 1)
    const noted = { id: `t_d${received.length}`, state: 'consumed', reason: 'noted' } as const
    return { ...noted, duplicate: false, session: null, withdrawn: at >= 0 ? 1 : 0 }
  }

  function receiveOne(event: InboundEvent): Received {
    if (event.kind === 'delete') return withdraw(event)
    const messageId = event.messageId ?? random.uuid()
    const known = rows.find((row) => row.direction === 'in' && row.platformMessageId === messageId)
    if (known !== undefined) {
      return { id: known.id, state: 'queued', reason: null, duplicate: true, session: null }
    }
    received.push(event)
    const usual = event.kind === 'tap' ? { state: 'consumed' as const, reason: 'verdict' as const } : null
    const outcome = river.verdict ?? usual ?? { state: 'queued' as const, reason: null }
    const { state, reason } = outcome
    const answer = {
      state,
      reason,
      duplicate: false,
      session: null,
      ...('retryAfterMs' in outcome ? { retryAfterMs: outcome.retryAfterMs } : {}),
    }
    if (state === 'refused') return { id: null, ...answer }
    last.in += 1
    rows.push({
      seq: last.in,
      direction: 'in',
      id: `t_${last.in}`,
      conversation: event.conversation,
      at: clock.now(),
      text: event.kind === 'message' ? event.text : '',
      state,
      reason,
      sender: event.sender.id,
      platformMessageId: messageId,
      ...(event.kind === 'message' && event.attachments ? { attachments: event.attachments } : {}),
      ...(event.kind === 'message' && event.replyTo ? { replyTo: event.replyTo.messageId } : {}),
    })
    options.onReceived?.(event)
    return { id: `t_${last.in}`, ...answer }
  }

  function outRow(seq: number): { readonly index: number; readonly row: TranscriptEntry } {
    const index = rows.findIndex((row) => row.direction === 'out' && row.seq === seq)
    const row = rows[index]
    if (row === undefined) throw new Error(`no send ${seq}`)
    return { index, row }
  }

  const river: MemoryRiver = {
    platform,
    deps,
    tokens,
    rows,
    received,
    verdict: null,
    agentHere: undefined,
    reachable: undefined,
    plan(op, conversation = 'owner') {
      last.out += 1
      const id = `o_${last.out}`
      const text = 'text' in op ? op.text : ''
      const at = clock.now()
      rows.push({
        seq: last.out,
        direction: 'out',
        id,
        conversation,
        at,
        text,
        state: 'queued',
        reason: null,
        op,
      })
      return last.out
    },
    async due(seq) {
      const { index, row } = outRow(seq)
      rows[index] = { ...row, state: 'sending' }
      if (row.op === undefined) return
      const to = { integration: 'web', conversation: row.conversation }
      const receipt = await platform.send({ to, op: row.op, key: row.id, seq })
      const [platformMessageId = row.id] = receipt.platformIds
      rows[index] = { ...row, state: 'sent', platformMessageId }
    },
    async say(op, conversation) {
      const seq = river.plan(op, conversation)
      await river.due(seq)
      return `o_${seq}`
    },
    move(messageId, state, how = {}) {
      const index = rows.findIndex((row) => row.platformMessageId === messageId)
      const row = rows[index]
      if (row === undefined) throw new Error(`no message ${messageId}`)
      rows[index] = { ...row, state, reason: how.reason ?? null }
      if (how.quietly === true) return
      platform.signal?.(
        { integration: 'web', conversation: row.conversation },
        {
          kind: 'turn_state',
          turn: row.id,
          messageId,
          state,
          ...defined({ reason: how.reason }),
        },
      )
    },
  }
  await platform.start({ receive: async (events) => events.map(receiveOne) }, null)
  return river
}

function createTokenBook(clock: Clock, random: Random): TokenList {
  const book = new Map<
    string,
    { id: string; kind: string; scope: Readonly<Record<string, string>>; expiresAt: number | null }
  >()
  const live = (token: string) => {
    const row = book.get(token)
    if (row === undefined || (row.expiresAt !== null && row.expiresAt <= clock.now())) return null
    return row
  }
  return {
    async mint({ kind, scope, ttlMs }) {
      const token = Buffer.from(random.bytes(24)).toString('base64url')
      const expiresAt = ttlMs === null ? null : clock.now() + ttlMs
      book.set(token, { id: token.slice(0, 6), kind, scope, expiresAt })
      return { token, id: token.slice(0, 6), expiresAt }
    },
    find: async (token) => live(token),
    async consume(token) {
      const row = live(token)
      book.delete(token)
      return row
    },
  }
}

const silent: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silent,
}
