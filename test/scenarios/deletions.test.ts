// Deletions: what is still queued ends with its message; what an agent has goes on.
import { expect, it } from 'vitest'
import type { InboundDelete } from '../../src/contract/index.ts'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const deletion = (messageId: string, sender = 'anna', conversation = 'anna'): InboundDelete => ({
  ...{ kind: 'delete', conversation, chat: 'direct', sender: { id: sender }, messageId, at: 0 },
})

const deletes = async (river: River, event: InboundDelete) =>
  (await river.platform.receive('chat', [event]))[0]

const platform = { abilities: { deletes: true } }

describeRiver('deletions', (open) => {
  it('[I15.delete-queued] [I15.delete-twice] a message deleted while queued is withdrawn, without its text, once', async () => {
    const river = await open({ platform, agent: { attached: false } })
    const secret = await river.person('anna').says('my password is hunter2', { messageId: '1' })
    await river.person('anna').says('hello', { messageId: '2' })
    await river.settle()
    const first = await deletes(river, deletion('1'))
    expect(first).toMatchObject({ state: 'consumed', reason: 'noted', duplicate: false })
    expect(await deletes(river, deletion('1'))).toMatchObject({ id: first?.id, duplicate: true })
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['hello'])
    const row = await river.store().turn(secret.id ?? '')
    expect(row).toMatchObject({ state: 'consumed', reason: 'withdrawn', body: null })
    const ledger = await river.store().ledger({ afterSeq: 0, limit: 500 })
    expect(ledger.filter(({ ref, to }) => ref === secret.id && to === 'consumed')).toHaveLength(1)
    // A redelivery of the message is still a duplicate.
    const again = await river.person('anna').says('my password is hunter2', { messageId: '1' })
    expect(again).toMatchObject({ duplicate: true, id: secret.id, state: 'consumed' })
  })

  it('[I15.delete-queued] whoever looks at it hears that it ended, and no deletion stands in a transcript', async () => {
    const river = await open({ platform, agent: { attached: false } })
    await river.person('anna').says('hello', { messageId: '1' })
    await river.person('anna').says('my password is hunter2', { messageId: '2' })
    await river.settle()
    expect(await deletes(river, deletion('2'))).toMatchObject({ withdrawn: 1 })
    expect(await deletes(river, deletion('9'))).toMatchObject({ withdrawn: 0 })
    await river.settle()
    const told = river.platform.signals.flatMap(({ signal }) =>
      signal.kind === 'turn_state' ? [signal] : [],
    )
    expect(told.at(-1)).toMatchObject({ messageId: '2', state: 'consumed', reason: 'withdrawn' })
    const transcript = await river.store().transcript('chat', { conversation: 'anna', limit: 10 })
    expect(transcript.filter(({ direction }) => direction === 'in').map(({ text }) => text)).toEqual([
      'hello',
    ])
  })

  it('[I15.delete-handed] a message that was handed over goes on, and the deletion is recorded', async () => {
    const river = await open({ platform })
    river.agent.script = () => undefined
    const received = await river.person('anna').says('hello', { messageId: '1' })
    await river.settle()
    expect(await deletes(river, deletion('1'))).toMatchObject({ state: 'consumed', reason: 'noted' })
    const [delivery] = river.agent.deliveries
    expect(delivery?.text).toBe('hello')
    if (delivery) await river.agent.answer(delivery, 'hi')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['hi'])
    expect(await river.store().turn(received.id ?? '')).toMatchObject({ state: 'answered' })
  })

  it('[I15.delete-first] a deletion that comes before its message, also across a restart, withdraws it', async () => {
    const river = await open({ platform })
    await deletes(river, deletion('1'))
    await river.restart()
    const received = await river.person('anna').says('too late', { messageId: '1' })
    await river.person('anna').says('hello', { messageId: '2' })
    await river.settle()
    expect(received).toMatchObject({ state: 'consumed', reason: 'withdrawn' })
    expect(river.agent.texts()).toEqual(['hello'])
    expect((await river.store().turn(received.id ?? ''))?.body).toMatchObject({ text: '' })
  })

  it('[I15.delete-whose] nobody withdraws what somebody else sent, but the platform itself does', async () => {
    const access = { ...OPEN, dm: 'allowlist' as const, allowFrom: ['anna', 'bert'] }
    const river = await open({
      platform,
      agent: { attached: false },
      integrations: [testIntegration('chat', { access })],
    })
    await river.person('room', 'anna').says('one', { messageId: '1' })
    await river.person('room', 'anna').says('two', { messageId: '2' })
    await deletes(river, deletion('1', 'bert', 'room'))
    expect(await deletes(river, deletion('1', 'stranger', 'room'))).toMatchObject({ duplicate: true })
    expect(await deletes(river, deletion('3', 'stranger', 'room'))).toMatchObject({
      ...{ state: 'refused', reason: 'sender_not_allowed' },
    })
    await deletes(river, deletion('2', '', 'room'))
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['one'])
    expect(river.platform.texts('room')).toEqual(['re: one'])
  })
})
