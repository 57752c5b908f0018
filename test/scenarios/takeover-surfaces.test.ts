// What goes on, and what does not, where a person holds the conversation: claims, pairing, signals on their way, and the
// holder's own right.
import { expect, it } from 'vitest'
import type { UserSettings } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River, type RiverOptions } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const user = (id: string, ...roles: UserSettings['roles'][number][]): UserSettings => ({
  ...{ id, identities: [], notifyTo: null, roles },
})
const CHAT = testIntegration('chat', {
  scope: 'all',
  default: true,
  access: { ...OPEN, approvers: ['boss'] },
})
const WORK = testIntegration('work', { scope: 'all' })
const BOSS = { ...user('boss', 'approver'), identities: ['chat:boss'], notifyTo: 'chat:boss' }
const BASE: RiverOptions = {
  integrations: [CHAT, WORK],
  agents: [testAgent('front', ['chat']), testAgent('ops', ['work'])],
  users: [user('ann', 'operator'), BOSS],
}
const ANN = 'user:ann'
const at = (conversation: string) => ({ integration: 'chat', conversation })
const take = (river: River, conversation: string, by = ANN) =>
  river.operator().takeConversation(at(conversation), { force: false }, by)

describeRiver('stepping in, at the doors', (open) => {
  /** An agent that works elsewhere has spoken to the boss first. */
  const nudged = async () => {
    const river = await open(BASE)
    const boss = river.person('boss')
    await boss.says('hello')
    await river.person('build', 'ci', { integration: 'work' }).says('start')
    await river.settle()
    const session = river.agentNamed('ops').deliveries.at(-1)?.session ?? ''
    const input = { message: 'about the deploy', claimThread: true, claimThreadLabel: 'deploy' }
    await outcomeOf(river, river.tools().notifyUser(caller({ agent: 'ops', session, user: 'boss' }), input))
    await river.settle()
    return { river, boss, session }
  }

  it('[I21.held-commands] a tap on a claim is answered held by NAME, and claims nothing then or later', async () => {
    const { river, boss } = await nudged()
    await take(river, 'boss')
    const tapped = await boss.taps('📎 Reply here')
    expect(tapped.state).toBe('consumed')
    expect(tapped.answer).toContain('held by ann')
    expect(await boss.says('is this for ops?')).toMatchObject({ state: 'consumed', reason: 'held' })
    await river.settle()
    expect(river.agentNamed('ops').texts()).toEqual(['start'])
    await river.operator().giveConversation(at('boss'), { force: false }, ANN)
    // It is as open as it was: the tap that was refused has spent nothing.
    expect((await boss.taps('📎 Reply here')).answer).toBe('Threaded.')
    await boss.says('now it is')
    await river.settle()
    expect(river.agentNamed('ops').texts()).toEqual(['start', 'now it is'])
  })

  it('[I21.held-rest] pairing goes on where a person holds the stranger’s chat', async () => {
    const pairing = testIntegration('chat', {
      scope: 'all',
      access: { ...OPEN, dm: 'pairing', allowFrom: [] },
    })
    const river = await open({ ...BASE, integrations: [pairing, WORK] })
    const zoe = river.person('zoe')
    await zoe.says('hello?')
    await river.settle()
    const [asked] = await river.operator().pairings()
    expect([asked?.sender, river.platform.texts('zoe').length]).toEqual(['zoe', 1])
    await take(river, 'zoe')
    expect((await zoe.says('anybody?')).state).toBe('refused')
    await river.operator().approvePairing(asked?.code ?? '', ANN)
    await river.settle()
    expect(river.platform.texts('zoe').some((text) => text.includes('You are paired'))).toBe(true)
    expect(await zoe.says('so?')).toMatchObject({ state: 'consumed', reason: 'held' })
  })

  it('[I21.held-out] what is told by signals while it is written is told no more, whichever node was asked', async () => {
    const river = await open({
      ...BASE,
      integrations: [CHAT],
      agents: [testAgent('demo', ['chat'])],
      platform: { streaming: { by: 'signals' } },
    })
    river.agent.script = () => undefined
    await river.person('anna').says('where is my order?')
    await river.settle()
    const delivery = river.agent.deliveries.at(-1)
    if (!delivery) throw new Error('nothing was handed over')
    await river.agent.partial(delivery, 'Your order')
    await river.settle()
    await take(river, 'anna')
    await river.agent.partial(delivery, 'Your order is lost')
    await river.pass(5_000)
    await river.agent.partial(delivery, 'Your order is lost for ever')
    await river.settle()
    const told = river.platform.signals.flatMap(({ signal }) =>
      signal.kind === 'partial' ? [signal.text] : [],
    )
    expect(told).toEqual(['Your order'])
  })

  it('[I21.right-lost] it ends when the holder is no user any more, or the token is revoked', async () => {
    const { river, boss } = await nudged()
    await take(river, 'boss')
    await river.configure({ ...BASE, users: [user('bob', 'owner'), BOSS] })
    await river.pass(10_000)
    const ends = async () => (await river.store().pastTakeovers(at('boss'), 5)).map((one) => one.ended?.how)
    expect(await ends()).toEqual(['right_lost'])
    expect(await boss.says('hello?')).toMatchObject({ state: 'queued' })
    const minted = await river.operator().mintToken({ kind: 'admin', scope: {}, ttl_ms: null }, 'local')
    await take(river, 'boss', minted.id)
    await river.pass(10_000)
    expect(await ends()).toEqual([undefined, 'right_lost'])
    await river.operator().revokeToken(minted.id, 'local')
    await river.pass(10_000)
    expect(await ends()).toEqual(['right_lost', 'right_lost'])
  })
})
