// Schedules and notify_on: turns that no person started, and who hears of their end.
import { expect, it } from 'vitest'
import type { AgentSettings, ScheduleSettings } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River, type RiverOptions } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

// The driven clock begins on Tuesday, 2023-11-14 22:13:20 UTC; Oslo is an hour ahead.
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const CHAT = testIntegration('chat', {
  scope: 'all',
  default: true,
  access: { ...OPEN, approvers: ['boss'] },
})
const TEAM = testIntegration('team', { platform: 'slack', scope: 'all' })
const HOOK = testIntegration('hook', { platform: 'webhook', scope: 'all' })

const STANDUP: ScheduleSettings = {
  id: 'standup',
  cron: '0 9 * * 1-5',
  tz: 'Europe/Oslo',
  prompt: 'Post the daily standup.',
  missed: 'run',
}

describeRiver('schedules', (open) => {
  const configured = (
    schedule: Partial<ScheduleSettings> = {},
    agent: Partial<AgentSettings> = {},
  ): RiverOptions => ({
    integrations: [CHAT, TEAM, HOOK],
    platform: { perIntegration: { hook: { abilities: { unattended: true } } } },
    agents: [testAgent('demo', ['chat', 'hook'], { schedules: [{ ...STANDUP, ...schedule }], ...agent })],
  })
  const firings = async (river: River) =>
    (await river.store().firings({ agent: 'demo', limit: 50 }))
      .filter((one) => one.outcome === 'run' || one.outcome === 'skipped')
      .map((one) => [new Date(one.fireAt).toISOString(), one.outcome])

  it('[S3.schedule-turn] starts a turn at its time in its time zone, with its source', async () => {
    const river = await open(configured({ cron: '15 23 * * *' }))
    await river.pass(99_000)
    expect(river.agent.texts()).toEqual([])
    await river.pass(1_000)
    expect(river.agent.deliveries).toMatchObject([
      { source: 'schedule:standup', text: 'Post the daily standup.', platform: 'schedule' },
    ])
    expect(await firings(river)).toEqual([['2023-11-14T22:15:00.000Z', 'run']])
    expect(await river.operator().turns({ source: 'schedule:standup', limit: 5 })).toMatchObject([
      { state: 'answered', integration: '_schedule', address: '_schedule:demo:standup' },
    ])
  })

  it('[I18.schedules-run] [I18.schedules-seen] is started by command beside its times, and shown with the next and the last', async () => {
    const river = await open(configured())
    await river.pass(1_000)
    const { turn } = await river.operator().runSchedule('demo', 'standup', 'admin')
    await river.settle()
    expect(river.agent.texts()).toEqual(['Post the daily standup.'])
    expect(await river.operator().turn(turn)).toMatchObject({ source: 'schedule:standup', state: 'answered' })
    const shown = [
      {
        ...{ id: 'standup', agent: 'demo', next_at: '2023-11-15T08:00:00.000Z' },
        last: { outcome: 'run', turn },
      },
    ]
    expect((await river.operator().status()).schedules).toMatchObject(shown)
    expect((await river.operator().doctor()).schedules).toMatchObject(shown)
    await expect(river.operator().runSchedule('demo', 'none', 'admin')).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('[S3.schedule-once] [I6.schedule-once] fires once for each time, also over restarts, and always in the same session', async () => {
    const river = await open(configured({ cron: '* * * * *' }))
    await river.pass(2 * MINUTE)
    await river.restartCleanly()
    await river.pass(MINUTE)
    await river.restart()
    await river.pass(2 * MINUTE)
    const minutes = [14, 15, 16, 17, 18].map((minute) => `2023-11-14T22:${minute}:00.000Z`)
    expect((await firings(river)).map(([at]) => at).reverse()).toEqual(minutes)
    expect(river.agent.texts()).toHaveLength(5)
    expect(new Set(river.agent.deliveries.map((one) => one.session)).size).toBe(1)
  })

  it('[I14.schedules-apart] several that are due at once are as many turns, over a restart too', async () => {
    const ids = Array.from({ length: 30 }, (_, at) => `job-${at}`)
    const schedules = ids.map((id) => ({ ...STANDUP, id, cron: '* * * * *', prompt: `Do ${id}.` }))
    const river = await open(configured({}, { schedules }))
    await river.pass(MINUTE)
    const agentTexts = () => [...river.agent.texts()].sort()
    const once = ids.map((id) => `Do ${id}.`).sort()
    expect(agentTexts()).toEqual(once)
    await river.restart()
    await river.pass(MINUTE)
    expect(agentTexts()).toEqual([...once, ...once].sort())
    for (const id of ids)
      expect(await river.operator().turns({ source: `schedule:${id}`, limit: 9 })).toHaveLength(2)
  })

  it('[S3.schedule-missed] other times, and those of a schedule that was away, begin when they are first seen', async () => {
    const river = await open(configured({ cron: '0 9 * * 3', tz: 'UTC' }))
    await river.sleep(12 * HOUR)
    await river.sleep(3 * DAY)
    expect(await firings(river)).toEqual([['2023-11-15T09:00:00.000Z', 'run']])
    const daily = configured({ cron: '0 8 * * *', tz: 'UTC' })
    await river.configure(daily)
    await river.restart(daily)
    expect(river.agent.texts(), 'it never was to fire at eight').toHaveLength(1)
    await river.sleep(DAY)
    const eight = ['2023-11-19T08:00:00.000Z', 'run']
    expect((await firings(river))[0]).toEqual(eight)
    await river.configure({ integrations: [CHAT], agents: [testAgent('demo', ['chat'])] })
    await river.sleep(3 * DAY)
    await river.configure(daily)
    expect((await firings(river))[0], 'nobody missed it while it was away').toEqual(eight)
    await river.restart(daily)
    expect((await firings(river))[0]).toEqual(eight)
    await river.sleep(DAY)
    expect((await firings(river))[0]).toEqual(['2023-11-23T08:00:00.000Z', 'run'])
  })

  it('[S3.schedule-missed] what fell into a gap is run once, the newest, and the rest is recorded', async () => {
    const river = await open(configured())
    await river.pass(MINUTE)
    await river.sleep(3 * DAY)
    await river.pass(MINUTE)
    expect(river.agent.texts()).toHaveLength(1)
    expect(await firings(river)).toEqual([
      ['2023-11-17T08:00:00.000Z', 'run'],
      ['2023-11-16T08:00:00.000Z', 'skipped'],
      ['2023-11-15T08:00:00.000Z', 'skipped'],
    ])
  })

  it('or skipped, by policy', async () => {
    const river = await open(configured({ missed: 'skip' }))
    await river.pass(MINUTE)
    await river.restart()
    await river.sleep(DAY)
    await river.pass(MINUTE)
    expect(river.agent.texts()).toEqual([])
    expect(await firings(river)).toEqual([['2023-11-15T08:00:00.000Z', 'skipped']])
    await river.sleep(9 * HOUR + 44 * MINUTE)
    await river.pass(2 * MINUTE)
    expect(river.agent.texts()).toHaveLength(1)
  })

  it('a reload brings a schedule, changes it and takes it away', async () => {
    const river = await open({ ...configured(), agents: [testAgent('demo', ['chat'])] })
    await river.pass(MINUTE)
    await river.configure(configured({ cron: '15 * * * *', tz: 'UTC' }))
    await river.pass(MINUTE)
    expect(river.agent.texts()).toHaveLength(1)
    await river.configure({ ...configured(), agents: [testAgent('demo', ['chat'])] })
    await river.sleep(HOUR)
    await river.pass(MINUTE)
    expect(river.agent.texts()).toHaveLength(1)
  })

  it('fans out from such a turn to several targets; a reply there is told to use them', async () => {
    const river = await open(
      configured({ cron: '15 22 * * *', tz: 'UTC' }, { messagingAllow: ['slack:*', 'test:*'] }),
    )
    const said: string[] = []
    river.agent.script = async (delivery, agent) => {
      const who = caller({ turn: delivery.turn, session: delivery.session })
      const tools = river.tools()
      const sent = [
        tools.sendMessage(who, { platform: 'slack', target: 'C0123', body: 'standup in 5 min' }),
        tools.sendMessage(who, { platform: 'test', target: 'room', body: 'standup in 5 min' }),
      ]
      for (const one of await Promise.all(sent)) said.push(one.text)
      said.push((await tools.reply(who, { chatId: delivery.chatId, text: 'done' })).text)
      await agent.evidence(delivery, 'answered')
    }
    await river.pass(2 * MINUTE)
    expect(said).toEqual([
      'Message sent to slack:C0123',
      'Message sent to test:room',
      'This turn was started by a schedule: nobody is in its chat. Use send_message or notify_user.',
    ])
    expect(river.platform.texts('C0123', 'team')).toEqual(['standup in 5 min'])
    expect(river.platform.texts('room')).toEqual(['standup in 5 min'])
  })

  const SOON = { cron: '14,15 22 * * *', tz: 'UTC' }

  it('[S11.notify-on] completion sends the final text of such a turn, failure why it failed', async () => {
    for (const notifyOn of ['completion', 'failure', 'both', 'none'] as const) {
      const river = await open(configured(SOON, { notifyOn }))
      await river.pass(MINUTE)
      const done = notifyOn === 'completion' || notifyOn === 'both'
      expect(river.platform.texts('boss'), notifyOn).toEqual(done ? ['re: Post the daily standup.'] : [])
      river.agent.script = (delivery, agent) => void agent.fail(delivery, 'no disk')
      await river.pass(MINUTE)
      const failed = notifyOn === 'failure' || notifyOn === 'both'
      expect(river.platform.texts('boss').slice(done ? 1 : 0), notifyOn).toEqual(
        failed ? ['✗ demo — schedule:standup failed. The agent answered with an error. (no disk)'] : [],
      )
      const log = await river.store().notifications({ limit: 5 })
      expect(log.map((one) => [one.source, one.status])).toEqual([
        ['notify_on', failed ? 'sent' : 'not_sent'],
        ['notify_on', done ? 'sent' : 'not_sent'],
      ])
    }
  })

  it('a webhook’s turn is told as well, a person’s is not', async () => {
    const river = await open(configured({ cron: '0 0 1 1 *' }, { notifyOn: 'completion' }))
    await river.person('ci', 'ci', { integration: 'hook' }).says('build failed')
    await river.person('boss').says('hello')
    await river.settle()
    expect(river.platform.texts('ci', 'hook')).toEqual(['re: build failed'])
    expect(river.platform.texts('boss').toSorted()).toEqual(['re: build failed', 're: hello'])
  })

  it('where the owner cannot be told, the log says why', async () => {
    const river = await open({
      ...configured(SOON, { notifyOn: 'both' }),
      integrations: [{ ...CHAT, scope: { agents: [] } }, TEAM, HOOK],
    })
    await river.pass(MINUTE)
    expect(await river.store().notifications({ limit: 5 })).toMatchObject([
      { status: 'failed', error: 'Integration "chat" is not granted to agent "demo"' },
    ])
  })

  it('the desk notifies as the operator', async () => {
    const river = await open(configured())
    const told = await outcomeOf(river, river.operator().notify({ message: 'hi', urgency: 'high' }, 'op'))
    expect(told).toMatchObject({ ok: true, text: 'Notification sent via test:chat', channel: 'test:chat' })
    const missing = await outcomeOf(river, river.operator().notify({ message: 'hi', channel: 'email' }, 'op'))
    expect(missing).toMatchObject({ ok: false, text: 'No email integration is configured' })
  })
})
