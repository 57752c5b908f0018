// A wall clock that is set back, while the river runs or while it is down: nothing waits until the clock has caught up.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../src/contract/index.ts'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const CONFIGURED = { integrations: [testIntegration('chat')], agents: [testAgent('demo', ['chat'])] }

describeRiver('a clock that is set back', (open) => {
  it('[I14.clock-back] what is put off for a moment goes out after that moment, by the timers', async () => {
    const river = await open(CONFIGURED)
    river.platform.failNext([{ kind: 'busy', retryAfterMs: 20_000 }])
    await river.person('anna').says('go')
    await river.settle()
    river.setBack(HOUR)
    await river.pass(35_000)
    expect(river.platform.texts('anna')).toEqual(['re: go'])
    await river.person('anna').says('on')
    await river.pass(5_000)
    expect(river.platform.texts('anna')).toEqual(['re: go', 're: on'])
  })

  it.each(['while it runs', 'while it is down'])(
    '[I14.clock-back] %s: sends and turns that wait are due after what was left of their time',
    async (when) => {
      const river = await open(CONFIGURED)
      const [away, back] = ['away', 'again']
      river.platform.failNext([{ kind: 'unavailable' }])
      river.agent.failNext(new SwitchboardError('agent_absent', 'not now'))
      await river.person('anna').says(away)
      await river.person('bert').says(back)
      await river.settle()
      river.setBack(HOUR)
      if (when === 'while it is down') await river.restart()
      await river.pass(30_000)
      expect(river.platform.texts('anna')).toEqual([`re: ${away}`])
      expect(river.platform.texts('bert')).toEqual([`re: ${back}`])
    },
  )

  it.each([
    ['resend', {}],
    ['readback', { platform: { reconcile: () => null } }],
  ] as const)('[I35.b1-%s] a try whose outcome is open is looked after in time', async (_, more) => {
    const river = await open({ ...CONFIGURED, ...more })
    river.platform.failNext([{ kind: 'unknown', arrived: false }])
    await river.person('anna').says('go')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual([])
    river.setBack(HOUR)
    await river.pass(MINUTE)
    expect(river.platform.texts('anna')).toEqual([expect.stringMatching(/re: go$/)])
  })

  it('[I14.clock-back] a reminder keeps its distance, and a question its expiry', async () => {
    const river = await open({ ...CONFIGURED, tunables: { approvalExpiryMs: 60_000 } })
    let id: string | null = null
    river.agent.script = async (delivery, agent) => {
      if (delivery.repeat) return
      await agent.speak(delivery.session, 'reminder', { afterMs: 60_000 })
      id = (await agent.ask(delivery, { toolName: 'Bash', description: 'List', input: 'ls' })).id
    }
    await river.person('anna').says('go')
    await river.settle()
    river.setBack(HOUR)
    await river.restart()
    await river.pass(40_000)
    expect(river.platform.texts('anna')).not.toContain('reminder')
    await river.pass(35_000)
    expect(river.platform.texts('anna')).toContain('reminder')
    expect((await river.store().approval(id ?? ''))?.state).not.toBe('pending')
  })

  it('[I14.clock-back] a schedule that was seen by the clock before is run when its time comes', async () => {
    const schedule = { cron: '*/5 * * * *', tz: 'UTC', prompt: 'look', missed: 'run', id: 'often' } as const
    const river = await open({
      ...CONFIGURED,
      agents: [testAgent('demo', ['chat'], { schedules: [schedule] })],
    })
    await river.settle()
    river.setBack(6 * HOUR)
    await river.pass(5 * 60_000)
    expect(river.agent.texts()).toContain('look')
  })
})
