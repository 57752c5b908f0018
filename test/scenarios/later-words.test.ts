// A platform's later word: a message that was sent and then came back. The agent, the owner and the ledger are told, once.
import { expect, it } from 'vitest'
import type { InboundReport } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const report = (send: string, more: Partial<InboundReport> = {}): InboundReport => ({
  kind: 'report',
  conversation: 'anna',
  chat: 'direct',
  sender: { id: 'mailer-daemon' },
  at: 0,
  messageId: `bounce-${send}`,
  send,
  outcome: 'failed',
  detail: '550 5.1.1 no such user',
  ...more,
})
const hears = async (river: River, event: InboundReport) => (await river.platform.receive('chat', [event]))[0]
const sendsTo = async (river: River, conversation: string) =>
  (await river.store().sends({ integration: 'chat', conversation, oldestFirst: true, limit: 50 })).map(
    ({ id, state, reason }) => ({ id, state, reason }),
  )

describeRiver('later words', (open) => {
  it('[I19.later-failed] [I19.later-agent] an answer that bounced is failed, and its agent hears it once, with its next turn', async () => {
    const river = await open()
    await river.person('anna').says('hello')
    await river.settle()
    const [answer] = await sendsTo(river, 'anna')
    expect(answer).toMatchObject({ state: 'sent' })
    const received = await hears(river, report(answer?.id ?? ''))
    expect(received).toMatchObject({ state: 'consumed', reason: 'report' })
    expect(await hears(river, report(answer?.id ?? ''))).toMatchObject({ duplicate: true })
    expect(await sendsTo(river, 'anna')).toEqual([
      { id: answer?.id, state: 'failed', reason: 'platform_rejected' },
    ])
    // Another node believes for a second that nothing failed.
    await river.pass(1_100)
    await river.person('anna').says('are you there?')
    await river.settle()
    const [line, ...more] = river.agent.deliveries.at(-1)?.context ?? []
    expect(more).toEqual([])
    expect(line).toMatchObject({ about: 'delivery', speaker: { id: 'switchboard' } })
    expect(line?.text).toContain('550 5.1.1 no such user')
    await river.restart()
    await river.pass(1_100)
    await river.person('anna').says('and now?')
    await river.settle()
    expect(river.agent.deliveries.at(-1)?.context).toBeUndefined()
  })

  it('[I19.later-notify] notify_on failure tells the owner, once, and never of a notification that came back', async () => {
    const river = await open({
      integrations: [
        testIntegration('chat', { access: { ...OPEN, allowFrom: ['owner', 'anna'] }, default: true }),
      ],
      users: [{ id: 'kate', identities: ['chat:owner'], notifyTo: null, roles: ['owner'] }],
      agents: [testAgent('demo', ['chat'], { notifyOn: 'failure' })],
    })
    await river.person('anna').says('hello')
    await river.settle()
    const [answer] = await sendsTo(river, 'anna')
    await hears(river, report(answer?.id ?? ''))
    await hears(river, report(answer?.id ?? '', { messageId: 'a second bounce' }))
    await river.settle()
    expect(river.platform.texts('owner')).toHaveLength(1)
    expect(river.platform.texts('owner')[0]).toContain('550 5.1.1 no such user')
    const [notice] = await sendsTo(river, 'owner')
    await hears(river, report(notice?.id ?? '', { conversation: 'owner' }))
    await river.settle()
    expect(await sendsTo(river, 'owner')).toEqual([
      { id: notice?.id, state: 'failed', reason: 'platform_rejected' },
    ])
    const [entry] = await river.store().notifications({ limit: 5 })
    expect(entry).toMatchObject({ status: 'failed', source: 'notify_on' })
  })

  it('[I19.later-own] a report on nothing of ours is recorded and changes nothing', async () => {
    const river = await open()
    await river.person('anna').says('hello')
    await river.settle()
    expect(await hears(river, report('o_elsewhere_1'))).toMatchObject({ state: 'consumed', reason: 'report' })
    const [answer] = await sendsTo(river, 'anna')
    expect(answer).toMatchObject({ state: 'sent' })
    expect(river.agent.texts()).toEqual(['hello'])
  })
})
