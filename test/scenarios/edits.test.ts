// Edits: what still waits gives way to the edit; what an agent has goes on.
import { expect, it } from 'vitest'
import type { InboundMessage } from '../../src/contract/index.ts'
import { describeRiver, type River } from './river.ts'

const said = (text: string, over: Partial<InboundMessage> = {}): InboundMessage => ({
  ...{ kind: 'message', conversation: 'anna', chat: 'direct', sender: { id: 'anna' }, at: 0, text },
  ...{ messageId: '1', editVersion: 0 },
  ...over,
})

const hears = async (river: River, event: InboundMessage) =>
  (await river.platform.receive('chat', [event]))[0]

describeRiver('edits', (open) => {
  it('[I35.b45-slack-edit] of a message that waits give one answer, to its last words', async () => {
    const river = await open({ agent: { attached: false } })
    const first = await hears(river, said('tell mee a joke'))
    await hears(river, said('and another', { messageId: '2' }))
    await hears(river, said('tell me a joke', { kind: 'edit', editVersion: 1 }))
    const last = said('tell me a good joke', { kind: 'edit', editVersion: 2 })
    await hears(river, last)
    expect(await hears(river, last)).toMatchObject({ duplicate: true })
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['and another', 'tell me a good joke'])
    const row = await river.store().turn(first?.id ?? '')
    expect(row).toMatchObject({ state: 'consumed', reason: 'withdrawn', body: null })
    expect(await river.store().turns({ states: ['queued'], limit: 10 })).toEqual([])
  })

  it('[I35.b45-slack-edit] that come after a newer one take its place from nobody', async () => {
    const river = await open({ agent: { attached: false } })
    await hears(river, said('one'))
    await hears(river, said('three', { kind: 'edit', editVersion: 2 }))
    await hears(river, said('two', { kind: 'edit', editVersion: 1 }))
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toContain('three')
    expect(river.agent.texts()).not.toContain('one')
  })

  it('[I35.b45-slack-edit] that name no version replace what waits, too', async () => {
    const river = await open({ agent: { attached: false } })
    await hears(river, said('one'))
    const { editVersion: _, ...bare } = said('two', { kind: 'edit' })
    await hears(river, bare)
    await hears(river, { ...bare, text: 'three' })
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['three'])
  })

  it('[I35.b45-slack-edit] of what an agent has already come once more; those of others and refused ones end nothing', async () => {
    const river = await open()
    await hears(river, said('one'))
    await river.settle()
    await hears(river, said('one, put right', { kind: 'edit', editVersion: 1 }))
    await river.settle()
    expect(river.agent.texts()).toEqual(['one', 'one, put right'])

    river.agent.detach()
    await hears(river, said('two', { messageId: '2' }))
    await hears(
      river,
      said('not mine', { messageId: '2', kind: 'edit', editVersion: 1, sender: { id: 'bert' } }),
    )
    await hears(river, said('   ', { messageId: '2', kind: 'edit', editVersion: 2 }))
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['one', 'one, put right', 'two', 'not mine'])
  })
})
