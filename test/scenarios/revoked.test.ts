// Access that is taken back while a message waits: what was let in before is not handed over, and what answers it is not sent.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const access = (allowFrom: readonly string[], more: object = {}) => ({
  ...OPEN,
  dm: 'allowlist' as const,
  allowFrom,
  ...more,
})
const at = (allowFrom: readonly string[], more: object = {}) => ({
  integrations: [testIntegration('chat', { access: access(allowFrom, more) })],
  agents: [testAgent('demo', ['chat'])],
})
const AWAY = { agent: { attached: false } }
const ANNA = at(['anna'])
const NOBODY = at([])

const inGroup = (river: River) => {
  const person = river.person('g1', 'anna', { chat: 'group' })
  return { says: (text: string) => person.says(text, { mentioned: true }) }
}
const state = async (river: River, { id }: { readonly id: string | null }) => {
  const turn = await river.operator().turn(id ?? '')
  return [turn?.state, turn?.reason]
}
/** Every state that anybody could read. */
const statesOf = async (river: River, { id }: { readonly id: string | null }) => {
  const entries = await river.store().ledger({ afterSeq: 0, limit: 1_000 })
  return entries.filter(({ ref }) => ref === id).map(({ to }) => to)
}
const balanced = async (river: River) => {
  const report = await river.operator().verifyAudit()
  expect(report).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
}

describeRiver(
  'access that is taken back in every way',
  (open) => {
    it('[I14.revoked-turn] [I14.revoked-counts] [I14.judged-first] a sender, a group, an integration or a binding that is no longer admitted: the turn is refused, for good', async () => {
      const groups = { g1: { requireMention: true, allowFrom: [] } }
      for (const without of [
        { config: NOBODY, group: false },
        { config: at(['anna'], { dm: 'disabled' }), group: false },
        { config: { integrations: [], agents: [testAgent('demo', [])] }, group: false },
        {
          config: { ...ANNA, integrations: ANNA.integrations.map((one) => ({ ...one, enabled: false })) },
          group: false,
        },
        { config: { ...ANNA, agents: [testAgent('demo', []), testAgent('other', ['chat'])] }, group: false },
        { config: at(['anna']), group: true },
      ]) {
        const river = await open({ ...at(['anna'], { groups }), ...AWAY })
        const turn = without.group
          ? await inGroup(river).says('delete it')
          : await river.person('anna').says('delete it')
        expect(turn.state).toBe('queued')
        await river.settle()
        await river.configure({ ...without.config, ...AWAY })
        await river.sleep(20_000)
        river.agent.attach()
        await river.pass(10_000)
        expect(river.agent.texts()).toEqual([])
        expect(await state(river, turn)).toEqual(['refused', 'revoked'])
        expect(await statesOf(river, turn)).toEqual(['queued', 'refused'])
        expect(river.platform.signals.filter(({ signal }) => signal.kind === 'typing')).toEqual([])
        expect((await river.operator().status()).counts).toMatchObject({
          received: 1,
          refused: 1,
          queued: 0,
          handed: 0,
        })
        await balanced(river)
        // Final: neither a restart nor the old configuration brings it back.
        await river.restart(at(['anna'], { groups }))
        await river.pass(10_000)
        expect(river.agent.texts()).toEqual([])
        expect(
          await river
            .operator()
            .operateTurn(turn.id ?? '', 'retry', 'me')
            .catch((thrown) => thrown.code),
        ).toBe('conflict')
      }
    })
  },
  ['sqlite'],
)

describeRiver('access that is taken back', (open) => {
  it('[I14.revoked-turn] a turn that was put back is judged anew, and a grant that was taken back counts', async () => {
    const river = await open(NOBODY)
    await river.operator().grant('chat', 'bert', 'talk', 'me')
    // The other nodes hear of it.
    await river.settle()
    river.agent.failNext(new SwitchboardError('agent_absent', 'not now'))
    const turn = await river.person('bert').says('hello')
    await river.settle()
    await river.operator().revoke('chat', 'bert', 'talk', 'me')
    await river.settle()
    await river.pass(120_000)
    expect(await state(river, turn)).toEqual(['refused', 'revoked'])
    expect(river.agent.deliveries).toEqual([])
    await balanced(river)
  })

  it('[I14.judged-first] no file of somebody who may not speak any more is fetched, and who is still let in behind is heard', async () => {
    const groups = { g1: { requireMention: false, allowFrom: ['anna', 'bert'] } }
    const river = await open({ ...at(['anna'], { groups }), ...AWAY })
    const fetched: string[] = []
    river.agent.prepare = ({ text }) => void fetched.push(text)
    const said = async (who: string, text: string) =>
      river.person('g1', who, { chat: 'group' }).says(text, {
        mentioned: true,
        attachments: [{ id: 'f', kind: 'image', ref: text }],
      })
    const revoked = await said('bert', 'delete it')
    await said('anna', 'keep it')
    await river.settle()
    await river.configure({
      ...at(['anna'], { groups: { g1: { ...groups.g1, allowFrom: ['anna'] } } }),
      ...AWAY,
    })
    await river.sleep(20_000)
    river.agent.attach()
    await river.pass(10_000)
    expect(fetched).toEqual(['keep it'])
    expect(river.agent.texts()).toEqual(['keep it'])
    expect(await statesOf(river, revoked)).toEqual(['queued', 'refused'])
    await balanced(river)
  })

  it('[I14.revoked-turn] what was taken with another one is judged once more just before it is written', async () => {
    const more = { agent: { window: 2, roomed: true } }
    const river = await open({ ...ANNA, ...more })
    let taken: () => void = () => {}
    const first = new Promise<void>((resolve) => {
      taken = resolve
    })
    river.agent.script = ({ text }) => (text === 'read it' ? first : undefined)
    await river.person('anna').says('read it')
    const turn = await river.person('anna').says('delete it')
    river.agent.makeRoom(2)
    await river.settle()
    expect([river.agent.texts(), await statesOf(river, turn)]).toEqual([['read it'], ['queued', 'handed']])
    await river.configure({ ...NOBODY, ...more })
    taken()
    await river.pass(10_000)
    expect(river.agent.texts()).toEqual(['read it'])
    expect(await state(river, turn)).toEqual(['refused', 'revoked'])
    await balanced(river)
  })

  it('[I14.revoked-leftover] what a node left in flight is judged before it is offered again or given up', async () => {
    const redelivery = { handed: 'give-up', seen: 'give-up', afterTimeout: false } as const
    const river = await open({ ...ANNA, agent: { redelivery } })
    // Never written: the node goes while it waits for its agent to take it.
    river.agent.script = () => new Promise(() => {})
    const turn = await river.person('anna').says('delete it')
    await river.settle()
    expect((await state(river, turn))[0]).toBe('handed')
    await river.restart(NOBODY)
    await river.pass(20_000)
    expect(await state(river, turn)).toEqual(['refused', 'revoked'])
    expect(river.agent.deliveries.filter(({ repeat }) => repeat)).toEqual([])
    expect(river.platform.texts('anna')).toEqual([])
    await balanced(river)
  })

  it('[I14.revoked-not-mention] mentions and limits are not asked again', async () => {
    const groups = { g1: { requireMention: true, allowFrom: [] } }
    const river = await open({
      ...at(['anna'], { groups }),
      ...AWAY,
      tunables: { senderLimit: { rps: 0.001, burst: 2 } },
    })
    await inGroup(river).says('hey bot')
    await river.person('anna').says('two')
    await river.settle()
    river.agent.attach()
    await river.settle()
    expect([...river.agent.texts()].sort()).toEqual(['hey bot', 'two'])
  })

  it('[I14.revoked-send] an answer to somebody who may not speak any more is not sent, and says why', async () => {
    const river = await open(ANNA)
    river.agent.script = () => undefined
    await river.person('anna').says('tell me all')
    await river.settle()
    await river.configure(NOBODY)
    const [delivery] = river.agent.deliveries
    if (delivery) await river.agent.answer(delivery, 'all of it')
    await river.pass(10_000)
    expect(river.platform.texts('anna')).toEqual([])
    const [send] = await river.operator().sends({ limit: 1 })
    expect(send).toMatchObject({ state: 'failed', reason: 'not_allowed' })
    await balanced(river)
  })

  it('[I14.revoked-signs] what an agent does for somebody who may not speak any more is not shown to them: no line, no tool', async () => {
    const river = await open({ ...ANNA, platform: { statusLines: true } })
    river.agent.script = async (delivery, agent) => {
      await agent.evidence(delivery, 'seen', { working: true })
    }
    await river.person('anna').says('go')
    await river.settle()
    const [turn] = river.agent.deliveries
    if (!turn) throw new Error('nothing was delivered')
    const tool = (text: string) =>
      river.agent.accept({
        kind: 'event',
        event: { turn: turn.turn, kind: 'tool_result', call: 'c', name: 'Read', text, key: text },
      })
    await river.agent.status(turn, 'reading')
    await tool('before')
    await river.pass(3_000)
    await river.configure(NOBODY)
    await river.settle()
    await river.agent.status(turn, 'reading the secret plan')
    await tool('the secret plan')
    await river.pass(10_000)
    expect(river.platform.statusLines.map(({ text }) => text)).toContain('reading')
    expect(JSON.stringify(river.platform.signals)).toContain('before')
    expect(JSON.stringify([river.platform.statusLines, river.platform.signals])).not.toContain('secret plan')
    await balanced(river)
  })

  it('[I14.revoked-send] pairing codes are exempt: strangers are told theirs', async () => {
    const river = await open(at([], { dm: 'pairing' }))
    await river.person('newcomer').says('hello')
    await river.settle()
    expect(river.platform.texts('newcomer').join()).toContain('switchboard pair approve')
  })
})
