// The suite that every platform adapter runs: what the river relies on, whatever the platform.
import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import {
  type Address,
  type Attachment,
  defined,
  type Endpoint,
  type InboundEvent,
  isReply,
  type LinkLease,
  type OutboundOp,
  type PlatformAdapter,
  type RawRequest,
  SwitchboardError,
} from '../../contract/index.ts'
import { createFakeIntake, type FakeIntake } from '../fake-intake.ts'
import { createTestLease, type TestLease } from '../test-lease.ts'
import { checkMarkdown, checkNote, checkPlain, type LongTexts } from './cut-suite.ts'
import { checkHistory, checkNoSuchPlace, type HistoryFixture } from './history-suite.ts'
import { HOSTILE_TREES } from './hostile-markdown.ts'
import { delivered, eventually, STEP_MS, sleep, stopped } from './limits.ts'

/** How the fake platform behind the adapter fails. */
export type PlatformFault =
  | 'none'
  /** It cannot be reached, or answers with a server error. */
  | 'down'
  /** It takes the request and never answers. */
  | 'silent'
  /** It refuses for good. */
  | 'rejects'
  /** It asks to wait. */
  | 'busy'

export interface Delivered {
  /** Whether the platform got a confirmation (a 2xx, a moved offset, an acknowledged envelope). */
  readonly acknowledged: boolean
  /** Everything that the platform received. The suite searches it for secrets. */
  readonly sentBack: string
}

export interface InboundCase {
  readonly name: string
  readonly deliver: () => Promise<Delivered>
}

export interface PlatformFixture {
  readonly adapter: PlatformAdapter
  /** Real payloads from actions of a person. Each reaches the intake as at least one event. */
  readonly inbound: readonly InboundCase[]
  /** Genuine payloads that are unreadable. The adapter records them, answers, and continues. */
  readonly malformed: readonly InboundCase[]
  /** Payloads without a credential or with a wrong one. Empty for a platform without an endpoint of ours. */
  readonly unverified: readonly InboundCase[]
  readonly address: Address
  /** An existing message of ours, to edit and react to. If absent, any id works. */
  readonly standing?: string
  /** How often the platform shows the send with this key. If absent, it cannot be counted. */
  readonly shown?: (key: string) => Promise<number>
  /**
   * Our last message as a person reads it, with the platform's markup applied. If absent, the fixture cannot see it
   * (`without.reads`).
   */
  readonly reads?: () => Promise<string>
  /**
   * Writes messages on a platform with a history. If absent, the platform has no history that a bot may read
   * (`without.history`).
   */
  readonly history?: HistoryFixture
  /** A file to fetch, and one above the limit of the adapter. If absent, `files.download` is not tried. */
  readonly attachment?: {
    readonly file: Attachment
    readonly bytes: Uint8Array
    readonly tooLarge?: Attachment
  }
  /** The secrets that the fixture put into the options. */
  readonly planted: readonly string[]
  readonly logLines: () => readonly string[]
  /** Lets some time pass if the fixture drives the adapter's clock. If absent, time passes by itself. */
  readonly pass?: () => Promise<void>
  /**
   * The same integration at another node, on the same platform, with this lease. It is for an adapter that fetches its
   * messages, because then only one node at a time may fetch (`without.lease`).
   */
  readonly atNode?: (lease: LinkLease) => Pick<PlatformFixture, 'adapter' | 'inbound'>
  /** Ends what the fixture started. The suite stops the adapter itself. */
  readonly close: () => Promise<void>
}

export interface FixtureOptions {
  readonly fault: PlatformFault
  /** The `deps.lease` of the adapter. Absent for a single node. */
  readonly lease?: LinkLease
}

type Trouble = Exclude<PlatformFault, 'none'>
const TROUBLES: readonly Trouble[] = ['down', 'silent', 'rejects', 'busy']

export interface PlatformSuiteOptions {
  /** The faults that the fixture can play, besides `none`. */
  readonly faults: readonly Trouble[]
  /**
   * Why the fixture lacks a part or a fault, for the reader of the test run. The suite skips those steps with the
   * reason. A part that is missing without a reason fails.
   */
  readonly without?: Readonly<Partial<Record<Trouble | PartOfFixture, string>>>
}

type PartOfFixture =
  | 'inbound'
  | 'malformed'
  | 'unverified'
  | 'planted'
  | 'shown'
  | 'reads'
  | 'history'
  | 'lease'

/** How long the suite looks whether a stopped adapter still receives. */
const STILL_LOOKS = 10
const STILL_MS = 30

const OPS: readonly { readonly op: OutboundOp; readonly needs: 'edits' | 'reactions' | null }[] = [
  { op: { kind: 'text', text: 'hello' }, needs: null },
  { op: { kind: 'text', text: 'urgent', urgency: 'high' }, needs: null },
  { op: { kind: 'prompt', approval: 'abcde', text: 'Run it?', choices: [] }, needs: null },
  { op: { kind: 'edit', on: 'key-0', text: 'hello again' }, needs: 'edits' },
  { op: { kind: 'react', on: 'key-0', emoji: '👍' }, needs: 'reactions' },
]

export function describePlatform(
  name: string,
  makeFixture: (options: FixtureOptions) => Promise<PlatformFixture>,
  options: PlatformSuiteOptions = { faults: [] },
): void {
  describe(`platform ${name}: the shared suite`, { timeout: STEP_MS }, () => {
    let fixture: PlatformFixture
    let intake: FakeIntake
    let sends = 0

    const open = async (fault: PlatformFault = 'none', lease?: TestLease) => {
      fixture = await makeFixture({ fault, ...defined({ lease: lease?.of('one') }) })
      intake = createFakeIntake()
      await fixture.adapter.start(lease?.fence('one', intake) ?? intake, null)
    }
    const shut = async () => {
      await stopped(fixture).finally(() => fixture.close())
    }
    /**
     * Checks that the fixture has this part. If not, the test is skipped with the written reason, or fails without one.
     */
    const has = (part: PartOfFixture | Trouble, there: boolean, context: TestContext) => {
      const reason = options.without?.[part]
      if (!there && reason !== undefined) context.skip(reason)
      expect(there, `the fixture has nothing for this: say why in without.${part}`).toBe(true)
    }
    const send = (op: OutboundOp, key = `key-${++sends}`) =>
      fixture.adapter.send({ to: fixture.address, op, key, seq: sends })

    beforeEach(() => open())
    afterEach(() => shut(), STEP_MS)

    it('[I2.suite-platform] takes the kinds of messages that its abilities promise, and refuses the others', async () => {
      const { abilities } = fixture.adapter
      for (const { op, needs } of OPS) {
        const able = abilities.oneWay !== true && (needs === null || abilities[needs])
        const asked = 'on' in op && fixture.standing !== undefined ? { ...op, on: fixture.standing } : op
        if (able) expect((await send(asked)).platformIds.length).toBeGreaterThan(0)
        else expect((await failureOf(send(asked))).code).toBe('platform_rejected')
      }
    })

    it('a send with the same key twice is shown once, where it says so', async (context) => {
      const { shown } = fixture
      if (!fixture.adapter.abilities.idempotentSend) return context.skip('it does not say so')
      if (shown === undefined) return has('shown', false, context)
      await send({ kind: 'text', text: 'once' }, 'same-key')
      await send({ kind: 'text', text: 'once' }, 'same-key')
      expect(await shown('same-key')).toBe(1)
    })

    it('[I14.status-line] shows what an agent is doing as one line that goes, twice without harm', async (context) => {
      const { status } = fixture.adapter
      if (status === undefined) return context.skip('it shows no line of its own')
      const readable = async () => (await fixture.reads?.().catch(() => '')) ?? ''
      const line = await status.show(fixture.address, 'reading', null)
      const isRead = (await readable()).includes('reading')
      expect(
        await status.show(fixture.address, 'writing', line),
        'a change of the status line keeps its id',
      ).toBe(line)
      if (isRead)
        expect(await readable(), 'status.show with a line must change the text of that line').toContain(
          'writing',
        )
      await status.remove(fixture.address, line)
      await expect(status.remove(fixture.address, line)).resolves.toBeUndefined()
    })

    it('has a sensible limit and says how its link is', () => {
      const { size, unit } = fixture.adapter.abilities.textLimit
      expect(size).toBeGreaterThan(0)
      expect(['code-points', 'utf-16', 'bytes']).toContain(unit)
      const { link } = fixture.adapter
      if (link) expect(['up', 'connecting', 'down', 'disabled']).toContain(link.state().state)
    })

    it('[I13.md-renderers] renders whatever comes, in a size that grows with it and not faster', (context) => {
      const { markdown = 'written' } = fixture.adapter.abilities
      if (markdown === 'written')
        return context.skip('it shows Markdown as it is written: there is nothing to render')
      for (const [name, tree] of Object.entries(HOSTILE_TREES)) {
        const [one, two] = [markdown.render(tree(2_000)), markdown.render(tree(4_000))]
        expect([name, two.text.length <= 2.5 * one.text.length + 1_000]).toEqual([name, true])
        expect([name, two.plain.length <= 2.5 * one.plain.length + 1_000]).toEqual([name, true])
      }
    })

    /** Skips the test with its reason if the fixture cannot read messages back. */
    const longTexts = (context: TestContext): LongTexts => {
      const { reads } = fixture
      const { abilities } = fixture.adapter
      if (abilities.oneWay) context.skip('it is one-way: nothing is cut for it')
      has('reads', reads !== undefined, context)
      return { abilities, send, reads: reads ?? (async () => '') }
    }

    it('[I13.cut-plain] plain text that the outlet cut at its limit is taken, and read there as it was written', async (context) => {
      await checkPlain(longTexts(context))
    })

    it('[I13.cut-markdown] Markdown that the outlet cut at its limit is taken, and all of it is read there', async (context) => {
      await checkMarkdown(longTexts(context))
    })

    it('[I13.note-fits] a part that fills its limit is taken with the note that it may be a duplicate', async (context) => {
      const { oneWay, idempotentSend, textLimit } = fixture.adapter.abilities
      if (oneWay || idempotentSend)
        return context.skip('nothing is ever sent again by guess: it is one-way, or shows the same key once')
      if (textLimit.size === Number.POSITIVE_INFINITY) return context.skip('it has no limit')
      await checkNote(longTexts(context))
    })

    it('real payloads become valid events', async (context) => {
      has('inbound', fixture.inbound.length > 0, context)
      for (const inbound of fixture.inbound) {
        const before = intake.events.length
        const { acknowledged } = await delivered(inbound)
        expect(acknowledged, `"${inbound.name}" was stored, but it was not acknowledged`).toBe(true)
        const events = intake.events.slice(before)
        expect(events.length, `"${inbound.name}" brought no event to intake.receive`).toBeGreaterThan(0)
        for (const event of events)
          expect(problemOf(event), `the event of "${inbound.name}" is not valid`).toBe(null)
      }
    })

    it('[S16.unparsable] [S16.link-survives] unreadable payloads are recorded and change nothing else', async (context) => {
      has('malformed', fixture.malformed.length > 0, context)
      for (const malformed of fixture.malformed) {
        const before = intake.events.length
        await delivered(malformed)
        const kinds = intake.events.slice(before).map((event) => event.kind)
        expect(kinds, `"${malformed.name}" must become one event of kind unparsable`).toEqual(['unparsable'])
      }
      for (const good of fixture.inbound.slice(0, 1))
        expect((await delivered(good)).acknowledged, 'nothing is received after unreadable payloads').toBe(
          true,
        )
    })

    it('[S16.401] what is not verified never reaches the intake', async (context) => {
      has('unverified', fixture.unverified.length > 0, context)
      for (const unverified of fixture.unverified) {
        const { acknowledged } = await delivered(unverified)
        expect(acknowledged, `"${unverified.name}" is not verified, but it was acknowledged`).toBe(false)
      }
      expect(intake.events, 'an unverified payload reached the intake').toEqual([])
    })

    it('[S2.ack-after-commit] received is said only after the commit, and never when there was none', async (context) => {
      const [good] = fixture.inbound
      if (good === undefined) return has('inbound', false, context)
      const release = intake.hold()
      let acknowledged = false
      const delivering = delivered(good).then((result) => {
        acknowledged = result.acknowledged
      })
      await pause()
      expect(acknowledged, 'it was acknowledged before intake.receive resolved').toBe(false)
      release()
      await delivering
      expect(acknowledged, 'it was not acknowledged after intake.receive resolved').toBe(true)
      intake.failWith(new SwitchboardError('store_unavailable', 'the disk is full'))
      expect(
        (await delivered(good)).acknowledged,
        'intake.receive threw, but it was acknowledged: move the position, and confirm, only after receive',
      ).toBe(false)
      intake.failWith(null)
      expect((await delivered(good)).acknowledged, 'nothing is received after the store was full').toBe(true)
    })

    it('[S2.refused-again] what the store refused comes again, and is received once', async (context) => {
      const [good] = fixture.inbound
      if (good === undefined) return has('inbound', false, context)
      intake.failNext(new SwitchboardError('store_unavailable', 'the disk is full'))
      const { acknowledged } = await delivered(good)
      const brought = `deliver of "${good.name}" brought no event to intake.receive`
      await eventually(fixture, () => intake.refused.length > 0, brought)
      // A platform that posts to an endpoint repeats a post that was not acknowledged.
      if (fixture.adapter.endpoint !== undefined && !acknowledged)
        expect((await delivered(good)).acknowledged, 'the second post was not acknowledged').toBe(true)
      await eventually(
        fixture,
        () => String(identitiesOf(intake.events)) === String(identitiesOf(intake.refused)),
        'the event that the store refused did not arrive again: move the position only after receive resolved',
        () => ({ refused: identitiesOf(intake.refused), received: identitiesOf(intake.events) }),
      )
      const [, next = good] = fixture.inbound
      const before = intake.events.length
      expect((await delivered(next)).acknowledged, `"${next.name}" after it was not acknowledged`).toBe(true)
      expect(
        identitiesOf(intake.events.slice(before)),
        `"${next.name}" after the refused event did not arrive`,
      ).not.toEqual([])
      expect(
        identitiesOf(intake.events.slice(0, before)),
        'the refused event and nothing else must arrive again',
      ).toEqual(identitiesOf(intake.refused))
    })

    it('[I6.suite-lease] only the node with the lease receives, and the one that loses it stops', async (context) => {
      if (fixture.adapter.endpoint !== undefined)
        return context.skip('it is reached by its endpoint: requests may go to any node')
      has('lease', fixture.atNode !== undefined, context)
      await shut()
      const lease = createTestLease()
      await open('none', lease)
      const { atNode = () => fixture } = fixture
      const [one, two] = [fixture, atNode(lease.of('two'))]
      const intakes = { one: intake, two: createFakeIntake() }
      const stateOf = ({ adapter }: Pick<PlatformFixture, 'adapter'>) => adapter.link?.state().state
      const deliver = async ({ inbound: [good] }: Pick<PlatformFixture, 'inbound'>) =>
        good === undefined ? expect.fail('inbound is empty') : delivered(good)
      const states = () => ({ first: stateOf(one), second: stateOf(two) })
      const becomes = (node: typeof one | typeof two, state: string, problem: string) =>
        eventually(one, () => stateOf(node) === state, problem, states)
      try {
        await becomes(one, 'up', 'the first node has the lease, but its link.state() is not up')
        await two.adapter.start(lease.fence('two', intakes.two), null)
        await becomes(two, 'waiting', 'the second node did not wait although the first has the lease')
        expect(lease.asked('one'), 'the first node did not take deps.lease').toBeGreaterThan(0)
        expect(lease.asked('two'), 'the second node did not take the lease of atNode').toBeGreaterThan(0)
        expect((await deliver(one)).acknowledged, 'the node with the lease did not acknowledge').toBe(true)
        expect(intakes.one.events.length, 'the node with the lease received nothing').toBeGreaterThan(0)
        expect(intakes.two.events, 'the node without the lease received').toEqual([])

        // Node one does not know yet that it lost the lease. The store refuses its cursor, so nothing may be
        // acknowledged.
        lease.give('two')
        const both = () => intakes.one.events.length + intakes.two.events.length
        const soFar = both()
        const between = await deliver(one)
        if (between.acknowledged)
          expect(
            both(),
            'a message was acknowledged without the lease, and no node received it',
          ).toBeGreaterThan(soFar)
        const renews = 'the first node lost the lease and did not notice: it must renew the lease'
        await eventually(one, () => lease.isRefused('one'), renews, states)
        await pause()
        expect(stateOf(one), 'the node that lost the lease did not stop: its link.state() is up').not.toBe(
          'up',
        )
        await becomes(two, 'up', 'the second node has the lease now, but its link.state() is not up')
        const before = intakes.one.events.length
        expect((await deliver(two)).acknowledged, 'the new holder did not acknowledge').toBe(true)
        expect(intakes.one.events.length, 'the node that lost the lease still receives').toBe(before)
        expect(intakes.two.events.length, 'the new holder received nothing').toBeGreaterThan(0)
      } finally {
        await stopped(two)
      }
      expect(lease.holder(), 'stop did not give the lease back').toBe(null)
    })

    it('[I15.suite-history] a deaf link, a ghost or a gap: its history has what the link did not bring, under the ids of the link', async (context) => {
      const { history, adapter } = fixture
      has('history', history !== undefined && adapter.history !== undefined, context)
      if (history === undefined || adapter.history === undefined) return
      await checkHistory(adapter.history, history, () => intake.events)
      await checkNoSuchPlace(adapter.history)
    })

    it('[I15.suite-history] tells when its link was made', async (context) => {
      const { adapter } = fixture
      has('history', adapter.history !== undefined, context)
      await eventually(fixture, () => adapter.link?.state().state === 'up', 'link.state() is not up')
      await eventually(fixture, () => intake.connects() > 0, 'intake.connected was not called')
      expect(adapter.link?.state().since, 'link.state() has no since').toEqual(expect.any(Number))
    })

    it('[I15.suite-history] makes another link when it is asked to', async (context) => {
      const { adapter } = fixture
      has('history', adapter.history !== undefined, context)
      if (adapter.link?.renew === undefined || adapter.endpoint !== undefined)
        return context.skip('no link of its own to make anew: it has no renew, or is reached by its endpoint')
      await eventually(fixture, () => intake.connects() > 0, 'intake.connected was not called')
      const before = intake.connects()
      adapter.link.renew('the suite asks for it')
      await eventually(fixture, () => intake.connects() > before, 'renew made no link that calls connected')
      expect(adapter.link?.state().since).toEqual(expect.any(Number))
    })

    it('stops, twice without harm', async () => {
      await stopped(fixture)
      await expect(fixture.adapter.stop()).resolves.toBeUndefined()
      if (fixture.adapter.endpoint !== undefined) return
      const seen = () => intake.events.length + intake.refused.length + intake.cursors.length
      const before = seen()
      // Nothing may come of it, so it is not awaited.
      fixture.inbound[0]?.deliver().catch(() => undefined)
      for (let look = 0; look < STILL_LOOKS; look++) {
        await fixture.pass?.()
        await sleep(STILL_MS)
      }
      expect(seen(), 'the adapter still calls intake.receive after stop').toBe(before)
    })

    it('fetches a file with its bytes, and refuses one above the limit', async (context) => {
      const { attachment, adapter } = fixture
      if (attachment === undefined) return context.skip('the fixture gives no attachment')
      const { file, bytes, tooLarge } = attachment
      const found = await adapter.files?.download?.(file)
      expect(found, 'the fixture gives an attachment, but the adapter has no files.download').toBeDefined()
      const read = await readFile(found?.path ?? '')
      expect(read.equals(bytes), 'the downloaded file has other bytes than the attachment').toBe(true)
      expect(found?.size, 'the size of the downloaded file is wrong').toBe(bytes.length)
      if (tooLarge === undefined) return
      const error = await failureOf(Promise.resolve(adapter.files?.download?.(tooLarge)))
      expect(error.code, 'a file above the limit must be refused by too_large').toBe('too_large')
    })

    it('no secret in errors, answers or logs', async (context) => {
      has('planted', fixture.planted.length > 0, context)
      const printed: string[] = []
      for (const one of [...fixture.unverified, ...fixture.malformed, ...fixture.inbound]) {
        printed.push((await delivered(one)).sentBack)
      }
      printed.push(...fixture.logLines(), JSON.stringify(fixture.adapter.link?.state()))
      for (const fault of options.faults) {
        await shut()
        await open(fault)
        printed.push(
          everythingIn(await failureOf(send({ kind: 'text', text: 'hello' }))),
          ...fixture.logLines(),
        )
      }
      for (const secret of fixture.planted)
        expect(printed.join('\n'), 'a planted secret is in an error, an answer or the log').not.toContain(
          secret,
        )
    })

    const CODES = {
      // The platform refused before it wrote anything, or failed so that the outcome is unknown.
      down: ['platform_unavailable', 'outcome_unknown'],
      busy: ['platform_unavailable', 'rate_limited'],
      rejects: ['platform_rejected'],
      silent: ['outcome_unknown'],
    }
    const HINTS = {
      down: '',
      busy: '',
      rejects: '',
      silent: '. The message may have arrived. Is `repeatable` set on a call that sends?',
    }
    for (const fault of TROUBLES) {
      it(`tells the truth when the platform ${fault === 'rejects' ? fault : `is ${fault}`}`, async (context) => {
        has(fault, options.faults.includes(fault), context)
        await shut()
        await open(fault)
        const error = await failureOf(send({ kind: 'text', text: 'hello' }))
        const found = `the platform has the fault "${fault}", and send threw ${error.code}: ${error.message}`
        expect(CODES[fault], found + HINTS[fault]).toContain(error.code)
        if (fault === 'busy')
          expect(
            error.retryAfterMs,
            'the error has no retryAfterMs: pass on what Retry-After asks',
          ).toBeGreaterThan(0)
      })
    }
  })
}

/** Lets everything run that has already begun. */
async function pause(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/**
 * The identity of each event as the store sees it. An event may be handed in twice, because the store rejects
 * duplicates. An event without an id is new each time.
 */
function identitiesOf(events: readonly InboundEvent[]): readonly string[] {
  const keys = events.map((event) => {
    const { kind, conversation, messageId } = event
    if (messageId === undefined) return { key: JSON.stringify({ ...event, at: 0 }), isNew: true }
    const version = 'editVersion' in event ? event.editVersion : 0
    return { key: JSON.stringify([kind, conversation, messageId, version]), isNew: false }
  })
  const seen = new Set<string>()
  return keys
    .filter(({ key, isNew }) => isNew || (!seen.has(key) && seen.add(key)))
    .map(({ key }) => key)
    .sort()
}

/** Delivers to an endpoint as the server does: it verifies first, and an error does not count as an acknowledgement. */
export async function deliverTo(
  endpoint: Endpoint,
  request: RawRequest,
): Promise<Delivered & { readonly status: number }> {
  try {
    const verified = await endpoint.verify(request)
    const reply = isReply(verified) ? verified : await endpoint.handle(verified)
    const sentBack = JSON.stringify([reply.headers, String(reply.body ?? '')])
    return { acknowledged: reply.status >= 200 && reply.status < 300, sentBack, status: reply.status }
  } catch (thrown) {
    return { acknowledged: false, sentBack: everythingIn(thrown), status: 500 }
  }
}

async function failureOf(sending: Promise<unknown>): Promise<SwitchboardError> {
  const thrown = await sending.then(
    () => null,
    (error: unknown) => error,
  )
  expect(
    thrown,
    'it was not refused. Does the fixture play the fault, and does it reach the adapter?',
  ).not.toBe(null)
  expect(thrown, `an adapter throws a SwitchboardError, not ${thrown}`).toBeInstanceOf(SwitchboardError)
  return thrown as SwitchboardError
}

function everythingIn(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { hint } = thrown as Partial<SwitchboardError>
  return [thrown.message, thrown.stack, hint, JSON.stringify(thrown), everythingIn(thrown.cause)].join('\n')
}

/** Returns what is wrong with an event, or null. */
function problemOf(event: InboundEvent): string | null {
  if (event.conversation === '') return 'no conversation'
  if (event.sender.id === '') return 'no sender'
  if (!Number.isFinite(event.at)) return 'no time'
  if (event.chat !== 'direct' && event.chat !== 'group') return 'neither direct nor group'
  if (JSON.stringify(event).includes('\\u0000')) return 'U+0000, which not every store can keep'
  if (event.kind !== 'message' && event.kind !== 'edit') return null
  if (typeof event.text !== 'string') return 'no text'
  const strange = Object.entries(event.meta ?? {}).find(([, value]) => typeof value !== 'string')
  return strange === undefined ? null : `meta.${strange[0]} is not a string`
}
