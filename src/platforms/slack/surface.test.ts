// Slack's surface for agents in new apps: prompts at its opening, titles of threads, the viewed context, the stop
// button. And the kind of a chat: only direct chats are direct, and chats of several people are groups.
import { describe, expect, it } from 'vitest'
import { openScene, until } from './fixtures/slack-scene.ts'

describe('the surface of an agent', () => {
  it('[I15.agent-view] prompts when it is opened, a title for a thread, context by event and by message, and the stop button', async () => {
    const prompts = [{ title: 'Hi', message: 'hello' }]
    const scene = await openScene({ options: { suggested_prompts: prompts }, replyToMode: 'all' })
    try {
      await scene.start()
      const { fake, intake } = scene
      const kate = fake.person()
      const channel = kate.channel.id
      const said = (text: string) =>
        until(text, () => intake.events.find((event) => event.kind === 'message' && event.text === text))
      fake.push({ type: 'app_home_opened', user: kate.user.id, channel, tab: 'home' })
      fake.push({ type: 'app_home_opened', user: kate.user.id, channel, tab: 'messages' })
      await until('prompts', () => fake.world.prompts.length > 0)
      expect(fake.world.prompts).toEqual([{ channel, prompts }])

      const entities = (value: string) => ({ entities: [{ type: 'slack#/entities/channel', value }] })
      fake.push({ type: 'app_context_changed', user: kate.user.id, channel, context: entities('C0LOOK001') })
      const { ts } = kate.says('what is this?')
      expect(await said('what is this?')).toMatchObject({ thread: ts, meta: { context: 'C0LOOK001' } })
      await until('a title', () => fake.world.titles.get(`${channel}/${ts}`) === 'what is this?')
      kate.says('and that?', { thread: ts, fields: { app_context: entities('C0THERE01') } })
      expect(await said('and that?')).toMatchObject({ meta: { context: 'C0THERE01' } })
      expect(fake.world.titles.size).toBe(1)

      fake.push({ type: 'agent_session_stopped', channel, user: kate.user.id, thread_ts: ts, event_ts: ts })
      expect(await said('!stop')).toMatchObject({ thread: ts, sender: { id: kate.user.id }, mentioned: true })
    } finally {
      await scene.close()
    }
  })

  it('[I15.agent-view] with surface none nothing of it is asked for', async () => {
    const prompts = [{ title: 'Hi', message: 'hello' }]
    const scene = await openScene({
      options: { suggested_prompts: prompts, surface: 'none' },
      replyToMode: 'all',
    })
    try {
      await scene.start()
      const kate = scene.fake.person()
      const { id } = kate.channel
      scene.fake.push({ type: 'app_home_opened', user: kate.user.id, channel: id, tab: 'messages' })
      kate.says('hello')
      await until('it came', () => scene.intake.events.length === 1)
      const asked = scene.fake.world.calls.filter(({ method }) => method.startsWith('assistant.'))
      expect(asked).toEqual([])
    } finally {
      await scene.close()
    }
  })
})

describe('kinds of chats', () => {
  it('[I15.chats-in] a direct chat is direct; channels, private ones and group messages are groups, and need a mention', async () => {
    const scene = await openScene()
    try {
      await scene.start()
      const { fake, intake } = scene
      fake.world.addChannel({ id: 'C0PRIVATE', kind: 'group' })
      fake.world.addChannel({ id: 'G0SEVERAL', kind: 'mpim' })
      for (const channel of ['C0GENERAL', 'C0PRIVATE', 'G0SEVERAL']) fake.person({ channel }).says('psst')
      fake.person().says('you')
      fake.person({ channel: 'G0SEVERAL' }).says('@switchboard you')
      await until('all came', () => intake.events.filter((event) => event.kind === 'message').length >= 6)
      const told = intake.events.map((event) =>
        event.kind === 'message' ? `${event.conversation} ${event.chat} ${event.mentioned}` : event.kind,
      )
      expect([...new Set(told)].toSorted()).toEqual([
        'C0GENERAL group false',
        'C0PRIVATE group false',
        'D0KATE001 direct true',
        'G0SEVERAL group false',
        'G0SEVERAL group true',
      ])
    } finally {
      await scene.close()
    }
  })
})
