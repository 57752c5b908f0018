// Store suite: claims and routes. An agent that writes first offers a claim. It is claimed once, in the commit of the message.
import { describe, expect, it } from 'vitest'
import {
  type ClaimRules,
  type ClaimTexts,
  defined,
  type Effect,
  PERSON_START,
  type PersonCursor,
  type SendMove,
} from '../../contract/index.ts'
import {
  item,
  type MakeStoreFixture,
  mustTakeSend,
  openBeforeEach,
  queueOne,
  receiveOne,
  send,
} from './fixture.ts'

const LANE = 'demo:c1'
const AT = { integration: 'demo', conversation: 'c1' }
const DAY_MS = 24 * 3_600_000

const TEXTS: ClaimTexts = { threaded: 'threaded', kept: 'kept', unreachable: '{label} is gone' }
const RULES: ClaimRules = {
  answers: [],
  takesNewest: true,
  agents: ['kate', 'paul'],
  texts: TEXTS,
  canEdit: true,
}

export function describeClaims(make: MakeStoreFixture): void {
  describe('claims and routes', () => {
    const { fixture, store } = openBeforeEach(make)

    /** Sends the next item of the lane and settles it as a platform would. */
    const settleNext = async (to: SendMove['to'], rest: Partial<SendMove> = {}) => {
      const { token, sending } = await mustTakeSend(store, { lane: LANE })
      if (!sending) throw new Error('nothing to send')
      await store.moveSends([{ lane: LANE, token, id: sending.id, to, ...rest }])
      await store.releaseLanes('sends', [{ lane: LANE, token }])
      return sending
    }

    it('[I14.erase-claims] who is erased is offered nothing, and where a chat leads only the words go', async () => {
      const session = await paulsSession('elsewhere')
      await offered('their divorce', session)
      await offered('their illness', session)
      await tap('their illness', 'reply')
      const [led] = await store.claims({ conversation: 'c1', states: ['claimed'], limit: 9 })
      expect(led?.label).toBe('their illness')
      for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; )
        cursor = (await store.erasePerson({ integration: 'demo', sender: 'c1' }, cursor, 'op')).next
      const left = await store.claims({ conversation: 'c1', limit: 9 })
      expect(left.map(({ label, state }) => [label, state])).toEqual([['paul', 'claimed']])
      const words = await fixture.sql('SELECT label FROM routes')
      expect(words).toEqual([{ label: 'paul' }])
    })

    it('[I14.erase-claims] a notification that reached an erased person loses its words in the log, too', async () => {
      const about = {
        agent: null,
        session: null,
        channel: 'demo',
        urgency: 'normal',
        source: 'operator',
      } as const
      const notification = { ...about, user: 'kate', message: 'their illness' }
      await store.enqueue([send({ cause: 'notify_user', text: 'their illness', notification })])
      await settleNext('sent', { platformIds: ['p1'] })
      expect(await store.notifications({ limit: 9 })).toMatchObject([{ message: 'their illness' }])
      for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; )
        cursor = (await store.erasePerson({ integration: 'demo', sender: 'c1' }, cursor, 'op')).next
      expect(await store.notifications({ limit: 9 })).toMatchObject([{ message: null }])
    })

    it('[I14.erase-claims] what a user was notified of loses its words, also where it came to no message', async () => {
      const attempt = {
        ...{ agent: null, session: null, channel: 'slack' },
        ...({ urgency: 'normal', source: 'operator', status: 'failed' } as const),
        error: 'no such channel',
      }
      for (const user of ['kate', 'kate', 'bob'])
        await store.logNotification({ ...attempt, user, message: `to ${user}` })
      expect(await store.eraseNotifications('kate', 1)).toBe(1)
      expect(await store.eraseNotifications('kate', 9)).toBe(1)
      expect(await store.eraseNotifications('kate', 9)).toBe(0)
      const rows = await store.notifications({ limit: 9 })
      expect(rows.map(({ user, message }) => [user, message]).sort()).toEqual([
        ['bob', 'to bob'],
        ['kate', null],
        ['kate', null],
      ])
    })

    const offered = async (label: string, session: string, agent = 'paul') => {
      await store.enqueue([send({ cause: 'notify_user', text: label, claim: { session, agent, label } })])
      await fixture.clock.advance(1)
      await settleNext('sent', { platformIds: [`part of ${label}`, `id of ${label}`] })
    }
    /** A session of paul in another conversation. */
    const paulsSession = async (conversation: string) =>
      (await queueOne(store, { conversation, agent: 'paul' })).lane
    const tap = (
      on: string,
      verdict: 'reply' | 'keep',
      more: Partial<Extract<Effect, { kind: 'claim' }>> = {},
    ) =>
      receiveOne(store, {
        state: 'consumed',
        reason: 'tap',
        effects: [
          {
            kind: 'claim',
            at: AT,
            on: `id of ${on}`,
            verdict,
            by: 'dev',
            agents: RULES.agents,
            texts: TEXTS,
            canEdit: true,
            ...more,
          },
        ],
      })
    const says = async (text: string, rules: Partial<ClaimRules> = {}, messageId?: string) => {
      const one = item({ text, ...defined({ messageId }) })
      const [result] = await store.receive([{ ...one, claims: { ...RULES, ...rules } }])
      if (!result) throw new Error('no result')
      return result
    }
    const claimStates = async () =>
      Object.fromEntries((await store.claims({ limit: 10 })).map((one) => [one.label, one.state]))
    const bodyOf = async (id: string | null) => (await store.turn(id ?? ''))?.body?.text

    describe('claims', () => {
      it('[S11.claim-row] [F7.notify-row-key] are keyed on the last id that the platform returned, with the row that says sent', async () => {
        const session = await paulsSession('elsewhere')
        await store.enqueue([send({ claim: { session, agent: 'paul', label: 'pay' } })])
        expect(await store.claims({ limit: 5 })).toEqual([])
        await settleNext('failed', { reason: 'platform_rejected' })
        expect(await store.claims({ limit: 5 })).toEqual([])
        await offered('pay', session)
        const [claim] = await store.claims({ session, limit: 5 })
        expect(claim).toMatchObject({
          integration: 'demo',
          conversation: 'c1',
          messageId: 'id of pay',
          agent: 'paul',
          state: 'open',
        })
        expect((claim?.expiresAt ?? 0) - (claim?.createdAt ?? 0)).toBe(DAY_MS)
      })

      it('[F7.claim-auto-0] with none open a message goes to its own session', async () => {
        const own = await says('hello')
        expect(own.routed).toBeUndefined()
        expect((await store.sessionAt('kate', AT))?.id).toBe(own.session)
      })

      it('[F7.claim-auto-1] the next plain message takes it as a tap would, and says so once', async () => {
        const session = await paulsSession('elsewhere')
        await offered('pay', session)
        const first = await says('which one?')
        expect(first).toMatchObject({ session, routed: { by: 'claim', agent: 'paul', label: 'pay' } })
        expect(await bodyOf(first.id)).toBe('[Switched to pay thread]\n\nwhich one?')
        const second = await says('and when?')
        expect(second).toMatchObject({ session, routed: { by: 'route' } })
        expect(await bodyOf(second.id)).toBe('and when?')
        const [shown] = await store.sends({ states: ['queued'], limit: 5 })
        expect(shown?.op).toEqual({ kind: 'edit', on: 'id of pay', text: 'pay\n\nthreaded' })
        expect((await store.turn(first.id ?? ''))?.agent).toBe('paul')
        const ofSession = (await store.turns({ session, limit: 9 })).map((turn) => turn.id)
        expect(ofSession.slice(0, 2)).toEqual([second.id, first.id])
        const open = await store.turns({ session, states: ['queued', 'handed', 'seen'], limit: 9 })
        expect(open.map((turn) => turn.id)).toEqual(ofSession)
      })

      it('[F7.claim-auto-3] [S11.claim-older-closed] takes the newest of three, and the others take nothing', async () => {
        const [a, b, c] = [await paulsSession('a'), await paulsSession('b'), await paulsSession('c')]
        await offered('one', a)
        await offered('two', b)
        await offered('three', c)
        expect(await says('hello')).toMatchObject({ session: c, routed: { by: 'claim' } })
        expect(await says('again')).toMatchObject({ session: c, routed: { by: 'route' } })
        expect(await claimStates()).toEqual({ one: 'passed', two: 'passed', three: 'claimed' })
      })

      it('[F7.claim-reply-beats] an answer to that very message wins, and changes no route', async () => {
        const [a, b] = [await paulsSession('a'), await paulsSession('b')]
        await offered('one', a)
        await offered('two', b)
        const answer = await says('to the first', { answers: ['id of one'] })
        expect(answer).toMatchObject({ session: a, routed: { by: 'answer' } })
        expect(await bodyOf(answer.id)).toBe('to the first')
        expect(await says('plain')).toMatchObject({ session: b, routed: { by: 'claim' } })
        expect(await says('back to one', { answers: ['id of one'] })).toMatchObject({ session: a })
      })

      it('[F7.claim-concurrent] [S11.claim-once] two at once claim once; the second goes there without the prefix', async () => {
        const other = await fixture.open('two')
        const session = await paulsSession('elsewhere')
        await offered('pay', session)
        const rules = { ...RULES }
        const results = (
          await Promise.all([
            store.receive([{ ...item({ text: 'x' }), claims: rules }]),
            other.receive([{ ...item({ text: 'y' }), claims: rules }]),
            store.receive([{ ...item({ text: 'z' }), claims: rules }]),
          ])
        ).flat()
        expect(results.map((one) => one.session)).toEqual([session, session, session])
        expect(results.map((one) => one.routed?.by).sort()).toEqual(['claim', 'route', 'route'])
      })

      it('[F7.claim-replay] a redelivery takes nothing', async () => {
        const session = await paulsSession('elsewhere')
        const own = await says('early', {}, 'm-early')
        await offered('pay', session)
        expect(await says('early', {}, 'm-early')).toMatchObject({ duplicate: true, session: own.session })
        expect(await claimStates()).toEqual({ pay: 'open' })
        await tap('pay', 'reply')
        expect((await says('now', {}, 'm-now')).session).toBe(session)
        expect(await says('now', {}, 'm-now')).toMatchObject({ duplicate: true, session })
      })

      it('[F7.claim-claim] [S11.claim-tap] [S1.route] a tap claims until /back', async () => {
        const session = await paulsSession('elsewhere')
        await offered('pay', session)
        expect((await tap('pay', 'reply')).effects).toEqual([
          { kind: 'claimed', outcome: 'claimed', label: 'pay' },
        ])
        const message = await says('hello')
        expect(message).toMatchObject({ session, routed: { by: 'route' } })
        expect(await bodyOf(message.id)).toBe('hello')
        expect((await tap('pay', 'reply')).effects).toMatchObject([{ outcome: 'late' }])
        const back = await receiveOne(store, {
          state: 'consumed',
          reason: 'command',
          effects: [{ kind: 'route_back', at: AT, texts: { left: 'Left {label}.', home: 'At home.' } }],
        })
        expect(back.effects).toEqual([{ kind: 'answered', said: 'Left pay.' }])
        expect((await says('mine again')).routed).toBeUndefined()
      })

      it('[F7.claim-dismiss] [S11.claim-keep] keeping the chat closes it, for answers as well', async () => {
        await offered('pay', await paulsSession('elsewhere'))
        expect((await tap('pay', 'keep')).effects).toMatchObject([{ outcome: 'kept' }])
        expect((await says('hello', { answers: ['id of pay'] })).routed).toBeUndefined()
        expect((await tap('pay', 'reply')).effects).toMatchObject([{ outcome: 'late' }])
      })

      it('[F7.claim-expired] is worth nothing after 24 h', async () => {
        await offered('pay', await paulsSession('elsewhere'))
        await fixture.clock.advance(DAY_MS)
        expect((await tap('pay', 'reply')).effects).toMatchObject([{ outcome: 'late' }])
        expect((await says('hello', { answers: ['id of pay'] })).routed).toBeUndefined()
        expect((await tap('nothing', 'reply')).effects).toMatchObject([{ outcome: 'none' }])
      })

      it('one that was passed over can still be tapped, and another claim ends the one before', async () => {
        const [a, b] = [await paulsSession('a'), await paulsSession('b')]
        await offered('one', a)
        await offered('two', b)
        expect((await says('hello')).session).toBe(b)
        expect((await tap('one', 'reply')).effects).toMatchObject([{ outcome: 'claimed' }])
        expect((await says('hello')).session).toBe(a)
      })

      it('[S11.claim-given-back] [F7.claim-unclaims] a session that cannot be reached gives it back, and the person gets one notice', async () => {
        const session = await paulsSession('elsewhere')
        await offered('pay', session)
        const gone = { agents: ['kate'] }
        expect((await says('hello', gone)).routed).toBeUndefined()
        expect((await says('hello', gone)).routed).toBeUndefined()
        const told = await store.sends({ states: ['queued'], limit: 5 })
        expect(told.map((one) => one.op)).toEqual([{ kind: 'text', text: 'pay is gone' }])
        expect((await tap('pay', 'reply', gone)).effects).toMatchObject([{ outcome: 'unreachable' }])
        expect((await tap('pay', 'reply')).effects).toMatchObject([{ outcome: 'claimed' }])
        expect((await says('hello', gone)).routed).toBeUndefined()
        expect((await says('hello')).routed).toBeUndefined()
        expect(await claimStates()).toEqual({ pay: 'passed' })
      })

      it('a route can be given back later, when the session is found gone', async () => {
        const session = await paulsSession('elsewhere')
        await offered('pay', session)
        await tap('pay', 'reply')
        const words = [send({ text: '{label} is gone' })]
        expect(await store.giveBack(AT, 'another session', words)).toBeNull()
        expect(await store.giveBack(AT, session, words)).toMatchObject({ session, label: 'pay' })
        expect(await store.giveBack(AT, session, words)).toBeNull()
        const told = await store.sends({ states: ['queued'], limit: 5 })
        const gone = told.filter(({ op }) => op?.kind === 'text' && op.text === 'pay is gone')
        expect(gone).toHaveLength(1)
        expect((await says('hello', { takesNewest: true })).routed).toBeUndefined()
      })

      it('who may not claim still follows the route, and /new starts in the own chat', async () => {
        const session = await paulsSession('elsewhere')
        await offered('pay', session)
        expect((await says('hi', { takesNewest: false })).routed).toBeUndefined()
        await tap('pay', 'reply')
        expect((await says('hi', { takesNewest: false })).session).toBe(session)
        await receiveOne(store, {
          state: 'consumed',
          reason: 'command',
          effects: [{ kind: 'new_session', agent: 'kate', at: AT }],
        })
        expect((await says('fresh')).routed).toBeUndefined()
      })
    })
  })
}
