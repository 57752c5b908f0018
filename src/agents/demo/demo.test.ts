// The demo agent: the shared suite, and its own cases.
import { describe, expect, it } from 'vitest'
import { delivery, describeConnectorSuite, startRecorded } from '../../testing/suites/connector-suite.ts'
import { createDemoAgent } from './index.ts'
import { understand } from './understand.ts'

describeConnectorSuite('demo', async () => ({
  connector: createDemoAgent(),
  answerable: 'hello',
  asking: 'deploy',
}))

describe('the demo agent', () => {
  it('[I2.demo-answers] [I2.demo-help] answers, asks before a deploy, speaks first later, and helps', async () => {
    const agent = createDemoAgent()
    const recorded = await startRecorded(agent)
    await agent.deliver(delivery('hi there'))
    await agent.deliver(delivery('help'))
    await agent.deliver(delivery('remind me in 5s to stretch'))
    const says = recorded.outputs.filter((one) => one.kind === 'say')
    expect(says.map((one) => one.text.split('\n')[0])).toEqual([
      'You said: hi there',
      'I am the demo agent. Try:',
      '⏰ Reminder: stretch',
      'I will remind you in 5s.',
    ])
    expect(says[2]).toMatchObject({ afterMs: 5_000, idempotencyKey: 'remind:t_test_1' })
  })

  it('[I16.context-shown] says that something was said before, and repeats none of it', async () => {
    const agent = createDemoAgent()
    const recorded = await startRecorded(agent)
    const line = { speaker: { id: 'u1' }, text: 'deploy', messageId: 'm0', at: 0 }
    await agent.deliver(delivery('hi', { context: [line, line] }))
    expect(recorded.outputs).toMatchObject([
      { kind: 'say', text: expect.stringContaining('2 earlier messages') },
    ])
  })

  it('[S2.redelivery-marked] says when a message was delivered again', async () => {
    const agent = createDemoAgent()
    const recorded = await startRecorded(agent)
    await agent.deliver(delivery('hi', { repeat: true }))
    expect(recorded.outputs[0]).toMatchObject({ text: expect.stringContaining('delivered again') })
  })

  it.each([
    ['HELP', { kind: 'help' }],
    ['deploy', { kind: 'deploy', what: 'main' }],
    ['Deploy api', { kind: 'deploy', what: 'api' }],
    ['deploy; rm -rf /', { kind: 'echo' }],
    [
      'remind me in 2m',
      { kind: 'remind', afterMs: 120_000, inWords: '2m', about: 'you asked me to speak up' },
    ],
    ['remind me in 2 hours about tea', { kind: 'remind', afterMs: 7_200_000, inWords: '2h', about: 'tea' }],
    ['remind me in 999d', { kind: 'remind-too-far' }],
    ['remind me in 0s', { kind: 'remind', afterMs: 0, inWords: '0s', about: 'you asked me to speak up' }],
    ['', { kind: 'echo' }],
  ])('understands %j', (text, wish) => {
    expect(understand(text)).toEqual(wish)
  })
})
