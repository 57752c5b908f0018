// The demo agent in the river: it answers, asks, speaks first later, and is found again as it was.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const DEMO = {
  integrations: [testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })],
  agents: [testAgent('demo', ['chat'], { connector: { type: 'demo', options: {} } })],
}

async function deploying(river: River): Promise<string> {
  await river.person('anna').says('deploy')
  await river.settle()
  return (await river.operator().approvals(['pending'], 10))[0]?.id ?? ''
}

describeRiver('the demo agent', (open) => {
  it('[S6.demo-no-key] [S6.demo-echoes] [I2.demo-answers] [S6.demo-evidence] [I2.demo-help] it answers and helps', async () => {
    const river = await open(DEMO)
    const { id } = await river.person('anna').says('hello there')
    await river.person('anna').says('help')
    await river.settle()
    const [echo, help] = river.platform.texts('anna')
    expect(echo).toBe('You said: hello there')
    expect(help).toContain('deploy')
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'answered', attempts: 1 })
  })

  it('[S6.demo-asks] [S10.asked-by-demo] [I2.demo-deploy] deploy asks, and runs once it is allowed; talk goes on meanwhile', async () => {
    const river = await open(DEMO)
    const id = await deploying(river)
    await river.person('anna').says('are you there?')
    await river.settle()
    expect(river.platform.texts('anna').at(-1)).toBe('You said: are you there?')
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    const texts = river.platform.texts('anna').filter((text) => text.startsWith('🚀'))
    expect(texts).toEqual(['🚀 Deployed: `deploy --target main --to production` (allowed by anna)'])
    expect((await river.operator().status()).counts).toMatchObject({ answered: 2, consumed: 1, seen: 0 })
  })

  it('[S10.asked-by-demo] a no, silence and nobody to ask are told apart', async () => {
    const river = await open(DEMO)
    await river.person('anna').says(`no ${await deploying(river)}`)
    await river.settle()
    expect(river.platform.texts('anna')).toContain('Not deployed: denied by anna.')
    await deploying(river)
    await river.sleep(600_001)
    expect(river.platform.texts('anna')).toContain('Not deployed: the approval was not answered in time.')
    const alone = await open({ ...DEMO, integrations: [testIntegration('chat')] })
    await alone.person('bert').says('deploy')
    await alone.settle()
    expect(alone.platform.texts('bert')).toEqual(['Not deployed: no approver could be reached.'])
  })

  it('[I2.restart-as-it-was] [S10.survives-restart] a question survives a crash: asked once, answered once', async () => {
    const river = await open(DEMO)
    const id = await deploying(river)
    await river.restart()
    await river.pass(20_000)
    expect(await river.operator().approvals(null, 10)).toHaveLength(1)
    await river.person('anna').taps('Allow')
    await river.settle()
    const texts = river.platform.texts('anna')
    expect(texts.filter((text) => text.startsWith('🚀'))).toHaveLength(1)
    expect(texts.filter((text) => text.includes(`Reply "yes ${id}"`))).toHaveLength(1)
    expect((await river.operator().status()).counts).toMatchObject({
      answered: 1,
      seen: 0,
      handed: 0,
      queued: 0,
    })
  })

  it('[I35.b2] a verdict that was being passed on when the daemon died is asked for again, and carried out once', async () => {
    const river = await open(DEMO)
    const id = await deploying(river)
    river.crashAt('dispatch.before-settle')
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    const deployed = () => river.platform.texts('anna').filter((text) => text.startsWith('🚀'))
    expect(deployed()).toEqual([])
    const [again] = await river.operator().approvals(['pending'], 10)
    expect(again?.description).toContain('It may already have run')
    await river.person('anna').says(`yes ${again?.id}`)
    await river.settle()
    expect(deployed()).toHaveLength(1)
    expect((await river.operator().status()).counts).toMatchObject({
      answered: 1,
      seen: 0,
      handed: 0,
      queued: 0,
    })
  })

  it('[S6.demo-notifies] [I2.demo-remind] [I2.demo-remind-restart] a reminder comes when it is due, once, over a restart', async () => {
    const river = await open(DEMO)
    await river.person('anna').says('remind me in 60s to stretch')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['I will remind you in 60s.'])
    await river.pass(20_000)
    await river.restart()
    await river.pass(30_000)
    expect(river.platform.texts('anna')).toHaveLength(1)
    await river.pass(45_000)
    expect(river.platform.texts('anna')).toEqual(['I will remind you in 60s.', '⏰ Reminder: stretch'])
  })

  it('[S5.stop-cancels] /stop withdraws its question; a later yes deploys nothing', async () => {
    const river = await open(DEMO)
    const id = await deploying(river)
    await river.person('anna').says('/stop')
    await river.settle()
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(river.platform.texts('anna').filter((text) => text.startsWith('🚀'))).toEqual([])
    expect((await river.operator().status()).counts).toMatchObject({ failed: 1, consumed: 2 })
  })
})
