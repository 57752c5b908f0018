// What the store suite needs from a back end, and the helpers of its tests.
import { afterEach, beforeEach, expect } from 'vitest'
import {
  defined,
  type Effect,
  type LaneRequest,
  type NewSend,
  type NewTurn,
  type ReceiveItem,
  type Store,
  type TakenSend,
  type TakenTurns,
} from '../../contract/index.ts'
import type { TestClock } from '../test-clock.ts'

export interface StoreFixture {
  readonly clock: TestClock
  /** Opens the same database again: as a restart, or as another node. `dispose` closes it at the latest. */
  open(node?: string): Promise<Store>
  /** Runs SQL without the store, as a person with access to the database would. */
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** The query plan of the database, as text. */
  explain(query: string): Promise<string>
  dispose(): Promise<void>
}

export type MakeStoreFixture = () => Promise<StoreFixture>

/** The fixture and the store of the current test. */
export interface Opened {
  readonly fixture: StoreFixture
  readonly store: Store
  /** Opens the database again after the test has closed the store. */
  reopen(node?: string): Promise<void>
}

/** Opens a new database with the node `one` for each test. After the test the audit must hold. */
export function openBeforeEach(make: MakeStoreFixture): Opened {
  let made: StoreFixture
  let opened: Store
  beforeEach(async () => {
    made = await make()
    opened = await made.open('one')
  })
  afterEach(async () => {
    await expectSound(opened)
    await made.dispose()
  })
  return {
    fixture: presentOne(() => made),
    store: presentOne(() => opened),
    async reopen(node) {
      opened = await made.open(node)
    },
  }
}

/** Does the same, with the node `two` beside `one`. */
export function openTwoBeforeEach(make: MakeStoreFixture) {
  const { fixture, store: one } = openBeforeEach(make)
  let other: Store
  beforeEach(async () => {
    other = await fixture.open('two')
  })
  return { fixture, one, two: presentOne(() => other) }
}

/** A proxy for the object that `present` returns at the time of use. */
function presentOne<Thing extends object>(present: () => Thing): Thing {
  return new Proxy({} as Thing, {
    get: (_, key) => Reflect.get(present(), key),
    has: (_, key) => key in present(),
    ownKeys: () => Reflect.ownKeys(present()),
    getOwnPropertyDescriptor: (_, key) => {
      const found = Reflect.getOwnPropertyDescriptor(present(), key)
      return found && { ...found, configurable: true }
    },
  })
}

export const LEASE_MS = 10_000

let fresh = 0

export interface ItemOptions extends Partial<Omit<NewTurn, 'at'>> {
  readonly integration?: string
  readonly conversation?: string
  readonly thread?: string
  readonly text?: string
  readonly state?: ReceiveItem['state']
  readonly reason?: ReceiveItem['reason']
  readonly keepRow?: boolean
  readonly effects?: readonly Effect[]
}

/** A received message. A test can set each part that matters to it. */
export function item(options: ItemOptions = {}): ReceiveItem {
  const { integration = 'demo', conversation = 'c1', thread } = options
  const state = options.state ?? 'queued'
  return {
    turn: {
      at: thread === undefined ? { integration, conversation } : { integration, conversation, thread },
      platform: options.platform ?? 'webhook',
      messageId: options.messageId ?? `m${fresh++}`,
      editVersion: options.editVersion ?? 0,
      source: options.source ?? `webhook:${integration}`,
      agent: options.agent === undefined ? 'kate' : options.agent,
      sender: options.sender ?? 'dev',
      body: options.body === undefined ? { text: options.text ?? 'hello', kind: 'message' } : options.body,
      bodyDigest: options.bodyDigest ?? 'digest',
      ...defined({ lateAt: options.lateAt }),
    },
    state,
    reason: options.reason ?? (state === 'refused' ? 'sender_not_allowed' : null),
    keepRow: options.keepRow ?? true,
    effects: options.effects ?? [],
  }
}

export function send(options: Partial<NewSend> & { readonly text?: string } = {}): NewSend {
  const { text = 'answer', ...rest } = options
  return {
    to: { integration: 'demo', conversation: 'c1' },
    platform: 'webhook',
    op: { kind: 'text', text },
    cause: 'reply',
    agent: 'kate',
    session: null,
    turn: null,
    ...rest,
  }
}

/** Receives one item and returns its result. */
export async function receiveOne(store: Store, options: ItemOptions = {}) {
  const [result] = await store.receive([item(options)])
  if (!result) throw new Error('no result')
  return result
}

/** Receives one queued item and returns its turn id and lane. */
export async function queueOne(store: Store, options: ItemOptions = {}) {
  const { id, session } = await receiveOne(store, options)
  if (id === null || session === null) throw new Error('not queued')
  return { id, lane: session }
}

export async function takeTurn(store: Store, request: LaneRequest): Promise<TakenTurns> {
  const [taken] = await store.takeTurns([request], LEASE_MS)
  if (!taken) throw new Error('no result')
  return taken
}

/** Takes a lane and expects it to be free. */
export async function mustTake(store: Store, request: LaneRequest) {
  const taken = await takeTurn(store, request)
  if (taken.outcome !== 'taken') throw new Error(`the lane is ${taken.outcome}`)
  return taken
}

export async function takeSend(store: Store, request: LaneRequest): Promise<TakenSend> {
  const [taken] = await store.takeSends([request], LEASE_MS)
  if (!taken) throw new Error('no result')
  return taken
}

export async function mustTakeSend(store: Store, request: LaneRequest) {
  const taken = await takeSend(store, request)
  if (taken.outcome !== 'taken') throw new Error(`the lane is ${taken.outcome}`)
  return taken
}

/** The counters of one integration, from `name` or `name:reason` to the count. */
export async function counts(store: Store, integration = 'demo'): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const counter of await store.counters()) {
    if (counter.integration !== integration) continue
    found[counter.reason === '' ? counter.name : `${counter.name}:${counter.reason}`] = counter.count
  }
  return found
}

/** Expects the audit to hold: chain, rows, counters, conservation. */
export async function expectSound(store: Store): Promise<void> {
  const report = await store.verify()
  expect(report.brokenAt).toBeUndefined()
  expect(report).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
  expect(report.conservation.received).toBe(report.conservation.accounted)
}
