// A turn has one answer, whoever gives it: a host whose turn another one has answered is told so, and nothing is sent. What
// answers a turn is the agent's word, not what becomes of it on its way.
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type OpenRiver, type River } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const CONFIGURED = { integrations: [testIntegration('chat')], agents: [testAgent('demo', ['chat'])] }
const HOST = { open: [], used: true }

describeRiver('one answer', (open) => {
  const handed = async (openRiver: OpenRiver): Promise<{ river: River; delivery: Delivery }> => {
    const river = await openRiver(CONFIGURED)
    river.agent.script = () => undefined
    await river.person('anna').says('hello', { messageId: 'm-1' })
    await river.settle()
    const [delivery] = river.agent.deliveries as [Delivery]
    return { river, delivery }
  }
  const reply = (river: River, { turn, chatId }: Delivery, text: string, idempotencyKey = text) =>
    outcomeOf(river, river.tools().reply(caller({ turn, host: HOST, idempotencyKey }), { chatId, text }))
  const stateOf = async (river: River, { turn }: Delivery) => (await river.store().turn(turn))?.state

  it('[I14.one-answer] a late reply of a host whose turn another one has answered is refused as conflict', async () => {
    const { river, delivery } = await handed(open)
    expect(await reply(river, delivery, 'from the one')).toMatchObject({ isError: false })
    expect(await reply(river, delivery, 'from the other')).toMatchObject({
      isError: true,
      structured: { code: 'conflict' },
    })
    await river.pass(20_000)
    expect(river.platform.texts('anna')).toEqual(['from the one'])
    // A call that was answered and did not hear of it is the same call.
    expect(await reply(river, delivery, 'from the one')).toMatchObject({ isError: false })
    expect(river.platform.texts('anna')).toEqual(['from the one'])
  })

  it('[I14.one-answer] it is asked in the commit: of two at once one is sent', async () => {
    const { river, delivery } = await handed(open)
    const both = await Promise.all([reply(river, delivery, 'one'), reply(river, delivery, 'two')])
    expect(both.map(({ isError }) => isError).toSorted()).toEqual([false, true])
    expect(river.platform.texts('anna')).toHaveLength(1)
  })

  it('[I14.refused-stays-open] a reply that the outlet refuses answers nothing, and says why', async () => {
    const { river, delivery } = await handed(open)
    const refused = await outcomeOf(
      river,
      river.tools().reply(caller({ turn: delivery.turn, host: HOST }), {
        chatId: delivery.chatId,
        text: 'see',
        files: ['/x'],
      }),
    )
    expect(refused).toMatchObject({ isError: true, structured: { code: 'input_invalid', outbox_id: null } })
    expect(['handed', 'seen']).toContain(await stateOf(river, delivery))
    expect(await reply(river, delivery, 'without it')).toMatchObject({ isError: false })
    expect(await stateOf(river, delivery)).toBe('answered')
  })

  it('[I14.answered-whatever] a reply that the platform refuses answered its turn, also after a kill', async () => {
    const { river, delivery } = await handed(open)
    river.platform.failNext([{ kind: 'rejected' }])
    const broken = await reply(river, delivery, 'never shown')
    expect(broken).toMatchObject({ isError: true, structured: { status: 'failed' } })
    expect(broken.structured.outbox_id).not.toBeNull()
    expect(await stateOf(river, delivery)).toBe('answered')
    await river.restart()
    await river.pass(20_000)
    expect(await stateOf(river, delivery)).toBe('answered')
    expect(river.agent.deliveries).toHaveLength(1)
  })

  it('[I14.answered-whatever] a kill right behind the agent’s word leaves the turn answered, and the word on its way', async () => {
    const { river, delivery } = await handed(open)
    river.crashAt('dispatch.after-settle')
    await river.agent.answer(delivery, 'done').catch(() => undefined)
    await river.restart()
    await river.pass(20_000)
    expect(await stateOf(river, delivery)).toBe('answered')
    expect(river.agent.deliveries).toHaveLength(1)
    // The commit of the word took it for sending: where the platform cannot tell, it comes marked.
    expect(river.platform.texts('anna')).toEqual([expect.stringContaining('done')])
  })
})
