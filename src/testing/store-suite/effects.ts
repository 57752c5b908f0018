// Store suite: the effects of a received item, in the commit of its row.
import { describe, expect, it } from 'vitest'
import { type Effect, PERSON_START } from '../../contract/index.ts'
import {
  counts,
  type MakeStoreFixture,
  mustTake,
  openBeforeEach,
  queueOne,
  receiveOne,
  send,
} from './fixture.ts'

const AT = { integration: 'demo', conversation: 'c1' }
const HOUR_MS = 3_600_000
const STOP: Effect & { readonly kind: 'cancel_session' } = {
  kind: 'cancel_session',
  sender: null,
  agent: 'kate',
  at: AT,
  stoppable: [],
  texts: {
    ...{ none: 'None.', one: 'Ended 1.', many: 'Ended {count}.', runsOn: ' {agent} goes on.' },
    noneOfYours: 'None of yours.',
  },
}
const COUNTS = '{agent}: {queued} and {running}.'
const STATUS: Effect = {
  kind: 'tell_session',
  agent: 'kate',
  at: AT,
  attached: [],
  texts: { attached: '', offline: COUNTS, thread: ' Elsewhere.' },
}

export function describeEffects(make: MakeStoreFixture): void {
  describe('effects', () => {
    const { fixture, store, reopen } = openBeforeEach(make)
    const command = (effects: readonly Effect[]) =>
      receiveOne(store, { state: 'consumed', reason: 'command', effects })
    const approval = { id: 'abcde', hostId: null, agent: 'kate', session: 's', turn: null, inputHash: 'h' }
    const ask = () =>
      store.ask(
        {
          ...approval,
          ask: { toolName: 'deploy', description: 'd', input: 'i' },
          expiresAt: fixture.clock.now() + 600_000,
        },
        [],
      )
    const verdict = (by: string, text = 'abcde: {how}'): Effect => ({
      kind: 'decide',
      approval: 'abcde',
      behavior: 'allow',
      by,
      via: 'demo',
      ifLate: { to: AT, text },
    })
    const pair = (sender: string, code: string): Effect => ({
      kind: 'pair',
      integration: 'demo',
      sender,
      senderName: null,
      conversation: `dm-${sender}`,
      code,
      expiresAt: fixture.clock.now() + HOUR_MS,
      reply: { to: { integration: 'demo', conversation: `dm-${sender}` }, text: 'Your code: {code}' },
    })
    const stranger = (sender: string, code: string) =>
      receiveOne(store, {
        sender,
        state: 'refused',
        reason: 'pairing_required',
        body: null,
        effects: [pair(sender, code)],
      })

    it('[S2.effects-one-commit] a send goes to the outbox with the turn’s platform', async () => {
      const result = await command([
        { kind: 'send', to: AT, op: { kind: 'text', text: 'ok' }, cause: 'notice' },
      ])
      const [effect] = result.effects
      expect(effect?.kind).toBe('sent_to_outbox')
      const [row] = await store.sends({ limit: 5 })
      expect(row).toMatchObject({
        platform: 'webhook',
        cause: 'notice',
        turn: result.id,
        state: 'queued',
        to: 'demo:c1',
      })
    })

    it('one verdict wins; the late one learns whose', async () => {
      expect(await ask()).toBe('asked')
      const first = await command([verdict('demo:kate$&')])
      const late = await command([verdict('demo:paul')])
      expect(first.effects[0]).toMatchObject({
        kind: 'decided',
        won: true,
        approval: { state: 'decided', behavior: 'allow' },
      })
      expect(late.effects[0]).toMatchObject({
        kind: 'decided',
        won: false,
        approval: { decidedBy: 'demo:kate$&' },
      })
      const [told] = await store.sends({ limit: 5 })
      expect(told?.op).toEqual({ kind: 'text', text: 'abcde: already answered by demo:kate$&' })
    })

    it('[S10.already-answered] a verdict after the expiry or a withdrawal gets that as its answer', async () => {
      const lastSent = async () => (await store.sends({ limit: 1 }))[0]?.op
      await ask()
      await store.settleApproval('abcde', 'withdrawn')
      await command([verdict('demo:paul')])
      expect(await lastSent()).toEqual({ kind: 'text', text: 'abcde: no longer asked' })
      await ask()
      await fixture.clock.advance(600_000)
      await command([verdict('demo:paul')])
      expect(await lastSent()).toEqual({ kind: 'text', text: 'abcde: expired' })
      const out = { id: 'abcde', behavior: 'deny', by: 'switchboard', via: 'switchboard' } as const
      await store.decide({ ...out, cause: 'expired' })
      await command([verdict('demo:paul')])
      expect(await lastSent()).toEqual({ kind: 'text', text: 'abcde: expired' })
      await ask()
      await store.decide({ ...out, cause: 'unreachable' })
      await command([verdict('demo:paul')])
      expect(await lastSent()).toEqual({ kind: 'text', text: 'abcde: denied, no approver could be reached' })
    })

    it('[S5.new-raises-generation] [S5.generation-persisted] /new starts a fresh session that survives a restart', async () => {
      const before = await queueOne(store)
      const result = await command([{ kind: 'new_session', agent: 'kate', at: AT }])
      const after = await queueOne(store)
      expect(result).toMatchObject({
        session: before.lane,
        effects: [{ kind: 'session', session: after.lane }],
      })
      expect(after.lane).not.toBe(before.lane)
      expect(await store.session(before.lane)).toMatchObject({ generation: 1 })
      expect(await store.session(after.lane)).toMatchObject({ generation: 2 })
      await store.close()
      await reopen()
      expect((await queueOne(store)).lane).toBe(after.lane)
      expect(await store.sessionAt('kate', AT)).toMatchObject({ generation: 2 })
    })

    it('/new in the same commit parts the messages before it from those behind it', async () => {
      const [before, , after] = await Promise.all([
        queueOne(store),
        command([{ kind: 'new_session', agent: 'kate', at: AT }]),
        queueOne(store),
      ])
      expect(after.lane).not.toBe(before.lane)
    })

    it('[S5.stop-after-new] /stop ends what /new left running, and /status counts it', async () => {
      const left = await queueOne(store)
      const held = await mustTake(store, { lane: left.lane })
      await command([{ kind: 'new_session', agent: 'kate', at: AT }])
      expect((await command([STATUS])).effects).toEqual([{ kind: 'answered', said: 'kate: 0 and 1.' }])
      const next = await queueOne(store)
      const [stopped] = (await command([STOP])).effects
      expect(stopped).toMatchObject({ turns: [left.id, next.id], said: 'Ended 2. kate goes on.' })
      const move = { lane: left.lane, token: held.token, turn: left.id, to: 'answered' } as const
      expect(await store.moveTurns([move])).toEqual(['stale'])
    })

    it('[S5.stop-cancels] /stop fails what is open and fences off the running hand-over', async () => {
      const one = await queueOne(store)
      const two = await queueOne(store)
      const held = await mustTake(store, { lane: one.lane })
      const result = await command([STOP])
      const turns = [one.id, two.id]
      expect(result.effects).toEqual([
        { kind: 'cancelled', agent: 'kate', turns, said: 'Ended 2. kate goes on.' },
      ])
      const move = { lane: one.lane, token: held.token, turn: one.id, to: 'answered' } as const
      expect(await store.moveTurns([move])).toEqual(['stale'])
      expect(await store.turn(one.id)).toMatchObject({ state: 'failed', reason: 'cancelled' })
      expect(await counts(store)).toMatchObject({ 'consumed:command': 1, 'failed:cancelled': 2 })
      const again = await command([STOP])
      expect(again.effects).toEqual([{ kind: 'cancelled', agent: 'kate', turns: [], said: 'None.' }])
      expect((await store.sends({ limit: 5, oldestFirst: true })).map((row) => row.op)).toEqual([
        { kind: 'text', text: 'Ended 2. kate goes on.' },
        { kind: 'text', text: 'None.' },
      ])
    })

    it('[I14.group-stop] /stop of one sender leaves what others began, and the hand-over of theirs', async () => {
      const hers = await queueOne(store, { sender: 'anna' })
      const his = await queueOne(store, { sender: 'bert' })
      const held = await mustTake(store, { lane: hers.lane, window: 2 })
      const [stopped] = (await command([{ ...STOP, sender: 'bert' }])).effects
      expect(stopped).toMatchObject({ kind: 'cancelled', turns: [his.id], said: 'Ended 1. kate goes on.' })
      const move = { lane: hers.lane, token: held.token, turn: hers.id, to: 'answered' } as const
      const [nothing] = (await command([{ ...STOP, sender: 'bert' }])).effects
      expect(nothing).toMatchObject({ turns: [], said: 'None of yours.' })
      expect(await store.moveTurns([move])).toEqual(['moved'])
      expect(await store.turn(his.id)).toMatchObject({ state: 'failed', reason: 'cancelled' })
    })

    it('[S5.status-command] [S5.stop-cancels] a command in the same commit finds what came before it, and not what comes behind it', async () => {
      const [, told, , stopped, after] = await Promise.all([
        queueOne(store),
        command([STATUS]),
        queueOne(store),
        command([STOP]),
        queueOne(store),
      ])
      expect(told.effects).toEqual([{ kind: 'answered', said: 'kate: 1 and 0.' }])
      expect(stopped.effects).toMatchObject([{ said: 'Ended 2.' }])
      expect(await store.turn(after.id)).toMatchObject({ state: 'queued' })
    })

    it('[S4.pairing-cap] codes that ended are found by their end: every stranger’s message looks for them', async () => {
      const plan = await fixture.explain(
        "DELETE FROM pairings WHERE integration = 'demo' AND expires_at <= 5",
      )
      expect(plan).toContain('pairings_ends')
    })

    it('[S4.pairing-one-code] [S4.pairing-two-replies] a stranger gets one code, sent at most twice', async () => {
      const outcomes = [
        await stranger('ann', 'aaaaaa'),
        await stranger('ann', 'bbbbbb'),
        await stranger('ann', 'cccccc'),
      ].map((result) => result.effects[0])
      expect(outcomes).toEqual([
        { kind: 'paired', outcome: 'new' },
        { kind: 'paired', outcome: 'repeated' },
        { kind: 'paired', outcome: 'muted' },
      ])
      const sent = await store.sends({ limit: 5, oldestFirst: true })
      expect(sent.map((row) => row.op)).toEqual([
        { kind: 'text', text: 'Your code: aaaaaa' },
        { kind: 'text', text: 'Your code: aaaaaa' },
      ])
      expect(await store.pairings()).toMatchObject([{ code: 'aaaaaa', sender: 'ann', replies: 2 }])
    })

    it('[I14.erase] a code that waits for an erased person goes, and those of others stay', async () => {
      await stranger('ann', 'aaaaaa')
      await stranger('bob', 'bbbbbb')
      await store.erasePerson({ integration: 'demo', sender: 'ann' }, PERSON_START, 'op')
      expect(await store.pairings()).toMatchObject([{ code: 'bbbbbb', sender: 'bob' }])
    })

    it('[S4.pairing-code-hour] a code ends after its hour, and then a new one is given', async () => {
      await stranger('ann', 'aaaaaa')
      await fixture.clock.advance(HOUR_MS)
      expect(await store.pairings()).toEqual([])
      expect(await store.approvePairing('aaaaaa', 'owner')).toBeNull()
      expect((await stranger('ann', 'bbbbbb')).effects).toEqual([{ kind: 'paired', outcome: 'new' }])
    })

    it('two strangers never share a code', async () => {
      await stranger('ann', 'aaaaaa')
      await stranger('bob', 'aaaaaa')
      const codes = (await store.pairings()).map((pairing) => pairing.code)
      expect(new Set(codes).size).toBe(2)
      const [, toBob] = await store.sends({ limit: 5, oldestFirst: true })
      expect(toBob?.op).toEqual({ kind: 'text', text: `Your code: ${codes[1]}` })
    })

    it('[S4.pairing-cap] [S4.pairing-no-lockout] the cap holds, and a newcomer still gets a code', async () => {
      for (let at = 0; at < 60; at++) {
        await fixture.clock.advance(1)
        await stranger(`s${at}`, at.toString(16).padStart(6, '0'))
      }
      expect(await store.pairings()).toHaveLength(50)
      const owner = await stranger('owner', 'ffffff')
      expect(owner.effects).toEqual([{ kind: 'paired', outcome: 'new' }])
      expect(await store.approvePairing('ffffff', 'local')).toMatchObject({ sender: 'owner' })
    })

    it('[S4.pairing-two-replies] [S4.pairing-no-lockout] many strangers get no third reply, and displace no request for good', async () => {
      await stranger('owner', 'ffffff')
      await stranger('owner', 'ffffff')
      for (let round = 0; round < 4; round++) {
        for (let at = 0; at < 55; at++) {
          await fixture.clock.advance(1)
          await stranger(`s${at}`, (round * 100 + at).toString(16).padStart(6, '0'))
        }
      }
      expect(await store.pairings()).toHaveLength(50)
      expect(await store.sends({ limit: 500 })).toHaveLength(2 * 56)
      // Other requests displaced this one until its owner writes again. The owner knows the code, so no reply is sent.
      expect(await store.approvePairing('ffffff', 'local')).toBeNull()
      expect((await stranger('owner', 'eeeeee')).effects).toEqual([{ kind: 'paired', outcome: 'muted' }])
      expect(await store.pairings()).toHaveLength(50)
      expect(await store.approvePairing('ffffff', 'local')).toMatchObject({ sender: 'owner' })
    })

    it('[I35.b17] an approved person may talk and gets the rights named with it; a code works once', async () => {
      for (const [sender, code] of [
        ['ann', 'aaaaaa'],
        ['bob', 'bbbbbb'],
        ['eve', 'eeeeee'],
      ] as const)
        await stranger(sender, code)
      const words = [send({ text: 'welcome' })]
      expect(await store.approvePairing('aaaaaa', 'local', { words })).toMatchObject({ sender: 'ann' })
      const rights = ['approve', 'user:bob'] as const
      expect(await store.approvePairing('bbbbbb', 'local', { rights })).toMatchObject({ sender: 'bob' })
      expect(await store.approvePairing('aaaaaa', 'local', { words })).toBeNull()
      expect((await store.sends({ limit: 1 })).map(({ op }) => op)).toEqual([
        { kind: 'text', text: 'welcome' },
      ])
      expect(await store.sends({ limit: 9 })).toHaveLength(4)
      expect(await store.denyPairing('eeeeee', 'local')).toBe(true)
      expect(await store.denyPairing('eeeeee', 'local')).toBe(false)
      const given = (await store.grants()).map((grant) => `${grant.sender} ${grant.right}`)
      expect(given.sort()).toEqual(['ann talk', 'bob approve', 'bob talk', 'bob user:bob'])
      expect(await store.pairings()).toEqual([])
      expect(await store.verify()).toMatchObject({ ok: true })
    })

    it('[I35.b17] a sender is one user at most, and the ledger tells who it was and is', async () => {
      await stranger('ann', 'aaaaaa')
      await store.approvePairing('aaaaaa', 'local', { rights: ['user:otto'] })
      await store.revoke('demo', 'ann', 'talk', 'local')
      await stranger('ann', 'bbbbbb')
      await store.approvePairing('bbbbbb', 'local', { rights: ['user:ann'] })
      const given = () => store.grants().then((all) => all.map(({ right }) => right).sort())
      expect(await given()).toEqual(['talk', 'user:ann'])
      expect(await store.verify()).toMatchObject({ ok: true })
      expect(await store.revoke('demo', 'ann', 'user:ann', 'local')).toBe(true)
      expect(await given()).toEqual(['talk'])
      expect(await store.verify()).toMatchObject({ ok: true })
    })
  })
}
