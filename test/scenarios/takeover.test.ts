// Stepping in: a person holds a conversation in the agent's place, on one node and on three, where people speak at one, the
// agent is attached to another and the operator asks the third.
import { expect, it } from 'vitest'
import type { Delivery, UserSettings } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { RUN } from './asking.ts'
import { describeRiver, type OpenRiver, type River, type RiverOptions } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const AT = { integration: 'chat', conversation: 'anna' }
const CHAT = testIntegration('chat', {
  scope: 'all',
  default: true,
  access: { ...OPEN, approvers: ['anna'] },
})
const user = (id: string, ...roles: UserSettings['roles'][number][]): UserSettings => ({
  ...{ id, identities: [], notifyTo: null, roles },
})
const ANN = 'user:ann'
const BOB = 'user:bob'
const BASE: RiverOptions = {
  integrations: [CHAT],
  agents: [testAgent('demo', ['chat'], { messagingAllow: ['*'] })],
  users: [user('ann', 'operator'), user('bob', 'owner')],
}

/** Anna has asked, and the agent has it in hand. */
async function asked(open: OpenRiver, over: RiverOptions = {}) {
  const river = await open({ ...BASE, ...over, agent: { cancels: true, ...over.agent } })
  river.agent.script = () => undefined
  const anna = river.person('anna')
  await anna.says('where is my order?')
  await river.settle()
  const delivery = river.agent.deliveries.at(-1)
  if (!delivery) throw new Error('nothing was handed over')
  return { river, anna, delivery }
}

const take = (river: River, by = ANN, force = false) => river.operator().takeConversation(AT, { force }, by)
const say = (river: River, text: string, by = ANN) =>
  outcomeOf(river, river.operator().sayHeld(AT, { text }, by))
const give = (river: River, by = ANN) => river.operator().giveConversation(AT, { force: false }, by)
const shown = (river: River) => river.platform.texts('anna')
const states = async (river: River) => {
  const turns = await river.store().turns({ integration: 'chat', oldestFirst: true, limit: 50 })
  return turns.map((turn) => `${turn.body?.text}: ${turn.state}${turn.reason ? ` (${turn.reason})` : ''}`)
}
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (thrown) => (thrown as { code?: string }).code ?? String(thrown),
  )
const context = ({ context: lines }: Delivery) =>
  lines?.map(({ about, speaker, text }) => `${about} ${speaker.name ?? speaker.id}: ${text}`)

describeRiver('stepping in', (open) => {
  it('[I21.held-in] [I21.held-running] [I21.say] [I21.context] [I21.context-once] taken, answered by a person, and given back: nothing is said twice', async () => {
    const { river, anna, delivery } = await asked(open)
    await anna.says('hello?')
    await river.settle()
    expect(await take(river)).toMatchObject({ won: true, ended: { queued: 1, running: 1 } })
    await river.settle()
    expect(river.agent.cancelled.map(({ turn }) => turn)).toEqual([delivery.turn])
    expect(await anna.says('is anybody there?')).toMatchObject({ state: 'consumed', reason: 'held' })
    expect(await code(river.agent.answer(delivery, 'it is lost'))).toBe('held')
    expect(await say(river, 'It comes tomorrow.')).toMatchObject({ ok: true, status: 'sent' })
    expect((await give(river)).takeover).toMatchObject({ state: 'ended', ended: { how: 'given', by: ANN } })
    expect(await code(river.agent.answer(delivery, 'it is still lost'))).toBe('held')
    await river.pass(60_000)
    expect(shown(river)).toEqual(['It comes tomorrow.'])
    expect(river.agent.texts()).toEqual(['where is my order?'])
    await anna.says('and my refund?')
    await river.settle()
    const next = river.agent.deliveries.at(-1)
    if (!next) throw new Error('nothing was handed over')
    expect([next.text, context(next)]).toEqual([
      'and my refund?',
      [
        'takeover anna: hello?',
        'takeover anna: is anybody there?',
        'takeover ann, a person in your place: It comes tomorrow.',
      ],
    ])
    await river.agent.answer(next, 'it is on its way')
    await anna.says('thanks')
    await river.settle()
    expect(river.agent.deliveries.at(-1)?.context).toBeUndefined()
    expect(shown(river)).toEqual(['It comes tomorrow.', 'it is on its way'])
    expect(await states(river)).toEqual([
      'where is my order?: failed (cancelled)',
      'hello?: consumed (held)',
      'is anybody there?: consumed (held)',
      'and my refund?: answered',
      expect.stringMatching(/^thanks: /),
    ])
  })

  it('[I21.held-out] every way of an agent to speak there is refused as held, a tool error', async () => {
    const { river, delivery } = await asked(open)
    await take(river)
    await river.settle()
    const { session, turn } = delivery
    const tools = river.tools()
    const own = caller({ session, turn })
    const outcomes = await Promise.all([
      tools.reply(own, { chatId: 'chat:anna', text: 'a' }),
      tools.reply(caller({ session }), { chatId: 'chat:anna', text: 'b' }),
      tools.reply(caller(), { chatId: 'chat:anna', text: 'c' }),
      tools.sendMessage(own, { platform: 'test', target: 'anna', body: 'd' }),
      tools.notifyUser(caller({ session, user: 'bob' }), { message: 'e', channel: 'test:chat' }),
      tools.handoff(own, { chatId: 'chat:anna', reason: 'f' }),
    ])
    expect(outcomes.slice(0, 4).map(({ isError, structured }) => [isError, structured.code])).toEqual([
      [true, 'held'],
      [true, 'held'],
      [true, 'held'],
      [true, 'held'],
    ])
    expect(outcomes[5]).toMatchObject({ isError: true, structured: { code: 'held' } })
    expect(outcomes[0]?.text).toContain('held by ann')
    expect(await code(river.agent.say(delivery, 'g'))).toBe('held')
    expect(await code(river.agent.speak(session, 'h'))).toBe('held')
    expect(await code(river.agent.fail(delivery, 'i'))).toBe('done')
    await river.agent.partial(delivery, 'j')
    await river.pass(10_000)
    expect(shown(river)).toEqual([])
    await give(river)
    expect((await tools.reply(caller(), { chatId: 'chat:anna', text: 'late' })).structured.code).toBe('held')
    expect((await tools.reply(own, { chatId: 'chat:anna', text: 'late' })).structured.code).toBe('held')
    await river.pass(10_000)
    expect(shown(river)).toEqual([])
  })

  it('[I21.held-out] an answer that is being shown ends where it was, and grows no more', async () => {
    const { river, delivery } = await asked(open, {
      platform: { streaming: { by: 'edits' as const, everyMs: 1_000 } },
    })
    await river.agent.partial(delivery, 'Your order')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['Your order'])
    await river.agent.partial(delivery, 'Your order is lost')
    await take(river)
    await river.agent.partial(delivery, 'Your order is lost for ever')
    await river.pass(30_000)
    const [left = ''] = river.platform.shown('anna')
    expect([left.startsWith('Your order'), left.includes('lost')]).toEqual([true, false])
  })

  it('[I21.one-winner] [I21.give] of two operators at once one holds it; force and give are told', async () => {
    const { river } = await asked(open)
    const [ann, bob] = await Promise.all([take(river), take(river, BOB)])
    const [winner, loser] = ann.won ? [ANN, BOB] : [BOB, ANN]
    expect([ann.won, bob.won].filter(Boolean)).toHaveLength(1)
    expect(bob.takeover.holder).toBe(winner)
    expect(await code(river.operator().sayHeld(AT, { text: 'x' }, loser))).toBe('held')
    expect(await code(give(river, loser))).toBe('held')
    expect(await take(river, loser, true)).toMatchObject({
      won: true,
      previous: { ended: { how: 'forced' } },
    })
    expect(await code(river.operator().sayHeld(AT, { text: 'x' }, winner))).toBe('held')
    expect(
      (await river.operator().takeovers('held', winner)).map(({ holder, mine }) => [holder, mine]),
    ).toEqual([[loser, false]])
    await give(river, loser)
    expect(await code(give(river, loser))).toBe('not_held')
    expect(await code(river.operator().sayHeld(AT, { text: 'x' }, loser))).toBe('not_held')
  })

  it('[I21.held-commands] [I21.held-rest] /new is answered held by NAME; /status, verdicts and approvals go on', async () => {
    const { river, anna } = await asked(open)
    await take(river)
    expect(await anna.says('/new')).toMatchObject({ state: 'consumed', reason: 'command' })
    expect(await anna.says('/status')).toMatchObject({ state: 'consumed', reason: 'command' })
    await river.settle()
    expect(shown(river)[0]).toContain('held by ann')
    expect(shown(river)[1]).toContain('Waiting: 0. In work: 0.')
    // The agent works elsewhere, and asks the approver who sits here.
    const ben = river.person('ben')
    await ben.says('deploy')
    await river.settle()
    const other = river.agent.deliveries.at(-1)
    if (!other) throw new Error('nothing was handed over')
    const { id } = await river.agent.ask(other, RUN)
    await river.settle()
    expect(shown(river).at(-1)).toContain(String(id))
    expect(await anna.says(`yes ${id}`)).toMatchObject({ state: 'consumed', reason: 'verdict' })
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow' }])
  })

  it('[I21.timeout] [I21.status] it ends by itself after the holder’s last word, not while they write', async () => {
    const { river, anna } = await asked(open, { tunables: { takeoverTimeoutMs: 60_000 } })
    await take(river)
    await river.pass(50_000)
    await say(river, 'one moment')
    await river.pass(50_000)
    expect((await river.operator().status()).held).toBe(1)
    await river.pass(20_000)
    expect((await river.operator().status()).held).toBe(0)
    expect(await river.store().pastTakeovers(AT, 1)).toMatchObject([{ ended: { how: 'timeout' } }])
    await anna.says('still there?')
    await river.settle()
    expect(river.agent.texts()).toEqual(['where is my order?', 'still there?'])
  })

  it('[I21.right-lost] it ends when the holder loses the role', async () => {
    const { river, anna } = await asked(open)
    await take(river)
    await river.configure({ ...BASE, users: [user('ann', 'viewer'), user('bob', 'owner')] })
    await river.pass(10_000)
    expect(await river.store().pastTakeovers(AT, 1)).toMatchObject([{ ended: { how: 'right_lost' } }])
    expect(await anna.says('hello?')).toMatchObject({ state: 'queued' })
  })

  it('[I21.human] /human asks for a person where it is allowed, is in /help there, and is a word elsewhere', async () => {
    const human = { as: 'bot' as const, human: ['chat'] }
    const river = await open({
      ...BASE,
      users: [{ ...user('bob', 'owner'), notifyTo: 'chat:bob' }],
      takeover: human,
    })
    const anna = river.person('anna')
    expect(await anna.says('/human')).toMatchObject({ state: 'consumed', reason: 'command' })
    expect(await anna.says('/help')).toMatchObject({ reason: 'command' })
    await river.settle()
    const [first, help] = shown(river)
    expect([first?.includes('A person was asked'), help?.includes('/human')]).toEqual([true, true])
    expect(river.platform.texts('bob')[0]).toContain('chat:anna')
    expect(await river.operator().takeovers('asked', BOB)).toMatchObject([{ asked: { by: 'chat:anna' } }])
    await take(river, BOB)
    await anna.says('/human')
    await river.settle()
    expect(shown(river).at(-1)).toContain('held by bob')
    const closed = await open(BASE)
    await closed.person('anna').says('/human')
    await closed.person('anna').says('/help')
    await closed.settle()
    expect(closed.agent.texts()).toEqual(['/human'])
    expect(shown(closed).some((text) => text.includes('/human:'))).toBe(false)
  })

  it('[I21.handoff] an agent asks for a person with reason and summary, and goes on until one comes', async () => {
    const { river, delivery } = await asked(open, {
      users: [{ ...user('bob', 'owner'), notifyTo: 'chat:bob' }, user('eve', 'viewer')],
    })
    const own = caller({ session: delivery.session, turn: delivery.turn })
    const order = { chatId: 'chat:anna', reason: 'She wants a refund', summary: 'Order 7' }
    expect(await river.tools().handoff(own, order)).toMatchObject({
      isError: false,
      structured: { asked: true },
    })
    expect(await river.tools().handoff(own, order)).toMatchObject({ structured: { asked: false } })
    await river.settle()
    expect(river.platform.texts('bob')).toHaveLength(1)
    expect(river.platform.texts('bob')[0]).toContain('She wants a refund')
    await river.agent.answer(delivery, 'I have asked a colleague')
    await river.settle()
    expect(shown(river)).toEqual(['I have asked a colleague'])
    const status = await river.operator().status()
    expect([status.held, status.asked]).toEqual([0, 1])
    expect((await take(river, BOB)).takeover).toMatchObject({
      asked: { reason: 'She wants a refund', summary: 'Order 7' },
    })
    expect((await river.tools().handoff(own, { ...order, chatId: 'chat:nobody' })).isError).toBe(true)
  })

  it('[I21.say] the holder is named where the configuration says so', async () => {
    const { river } = await asked(open, { takeover: { as: 'name', human: [] } })
    await take(river)
    await say(river, 'Good day.')
    expect(shown(river)).toEqual(['ann: Good day.'])
  })

  it('[I21.three-nodes] [I21.say-once] killed between take and say: the hold stands, and a key says it once', async () => {
    const { river, anna, delivery } = await asked(open)
    await take(river)
    await river.restart()
    await river.pass(20_000)
    expect((await river.operator().takeovers('held', ANN)).map(({ mine }) => mine)).toEqual([true])
    expect(await anna.says('hello?')).toMatchObject({ state: 'consumed', reason: 'held' })
    const keyed = { text: 'It comes tomorrow.', idempotency_key: 'k1' }
    river.crashAt('outbox.after-send')
    // Whoever asked the life that ends there hears nothing any more.
    void river
      .operator()
      .sayHeld(AT, keyed, ANN)
      .catch(() => null)
    await river.settle()
    await river.restart()
    await outcomeOf(river, river.operator().sayHeld(AT, keyed, ANN))
    await river.pass(60_000)
    expect(shown(river).filter((text) => text === 'It comes tomorrow.')).toHaveLength(1)
    await give(river)
    await anna.says('thank you')
    await river.pass(20_000)
    expect(river.agent.texts().at(-1)).toBe('thank you')
    expect(await code(river.agent.answer(delivery, 'it is lost'))).toBe('held')
    await river.pass(5_000)
    expect(shown(river).some((text) => text.includes('lost'))).toBe(false)
  })

  it('[I21.bad-input] a place where nobody spoke, one that takes no words and an empty text are refused', async () => {
    const { river } = await asked(open)
    const operator = river.operator()
    const nowhere = { integration: 'chat', conversation: 'never' }
    expect(await code(operator.takeConversation(nowhere, { force: false }, ANN))).toBe('not_found')
    expect(await code(operator.sayHeld(nowhere, { text: 'x' }, ANN))).toBe('not_held')
    await take(river)
    expect(await code(operator.sayHeld(AT, { text: '  ' }, ANN))).toBe('input_invalid')
    expect(await code(operator.thread(AT, { limit: 5, before: '1.2' }, ANN))).toBe('input_invalid')
    expect(await operator.conversation(nowhere, ANN)).toBeNull()
  })
})

// One look alone: another node's would see the word.
describeRiver(
  'stepping in, and a look that is late,',
  (open) => {
    it('[I35.b45-takeover-word] a word said while the time-out is being looked at counts: it begins anew', async () => {
      const { river } = await asked(open, { tunables: { takeoverTimeoutMs: 60_000 } })
      await take(river)
      await river.pass(50_000)
      // The look reads that 60 s are over, and before it acts the holder speaks.
      const answer = river.delayAnswer('takeovers')
      await river.pass(15_000)
      await say(river, 'one moment')
      answer()
      await river.pass(5_000)
      expect((await river.operator().status()).held).toBe(1)
      await river.pass(60_000)
      expect((await river.operator().status()).held).toBe(0)
    })
  },
  ['sqlite'],
)
