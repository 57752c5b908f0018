// Buttons, selects, modals and slash commands: answered within three seconds whatever the commit takes, decided after
// it.
import { afterEach, describe, expect, it } from 'vitest'
import {
  GENERAL,
  openScene,
  openStarted,
  type Scene,
  type SceneOptions,
  until,
} from './fixtures/discord-scene.ts'

const BUTTONS = [{ type: 1, components: [{ type: 2, style: 3, label: 'Allow', custom_id: 'v:abcde:allow' }] }]
let scene: Scene
afterEach(() => scene.close())

async function begin(options: SceneOptions = {}) {
  scene = await openStarted(options)
  return scene
}

describe('interactions', () => {
  it('[I20.interactions] are answered before the commit, and closed after it', async () => {
    const { fake, intake } = await begin()
    const kate = fake.person()
    const { id } = fake.world.put(kate.channel.id, {
      author: fake.world.bot,
      content: 'Run it?',
      components: BUTTONS,
    })
    const release = intake.hold()
    const tapped = kate.taps('Allow')
    const chosen = kate.chooses(id, 'menu', 'second')
    const asked = kate.commands('status')
    await until('all are answered', () => [tapped, chosen, asked].every(({ answered }) => answered !== null))
    expect([tapped.answered, chosen.answered, asked.answered]).toEqual([6, 6, 5])
    expect(asked.ephemeral).toBe(true)
    expect(intake.events).toEqual([])
    intake.answerWith((event) =>
      event.kind === 'tap' ? { answer: 'verdict recorded' } : { answer: 'all is well' },
    )
    release()
    await until('they are decided', () => intake.events.length === 3)
    expect(intake.events).toMatchObject([
      {
        kind: 'tap',
        on: id,
        value: 'v:abcde:allow',
        sender: { id: kate.user.id },
        conversation: kate.channel.id,
      },
      { kind: 'tap', on: id, value: 'second' },
      { kind: 'message', text: '!status', mentioned: true },
    ])
    await until('who tapped is told', () => fake.world.ephemerals.length === 2)
    // The command's answer is a message. Its open response is closed, so that it does not seem to think for ever.
    await until('the command is closed', () => asked.answered === 4)
    expect(fake.world.ephemerals.map(({ text }) => text)).toEqual(['verdict recorded', 'verdict recorded'])
  })

  it('[I20.interactions] who may not is told so alone, and nobody else', async () => {
    const { fake, intake } = await begin()
    intake.answerWith(() => ({ state: 'refused', reason: 'not_allowed' as never }))
    const eve = fake.person({ id: '930000000000000042', channel: GENERAL })
    fake.world.put(GENERAL, { author: fake.world.bot, content: 'Run it?', components: BUTTONS })
    eve.taps('Allow')
    await until('she is told', () => fake.world.ephemerals.length === 1)
    expect(fake.world.ephemerals[0]).toEqual({ channel: GENERAL, user: eve.user.id, text: 'Not authorized.' })
    expect(eve.sees()).toEqual(['Run it?'])
  })

  it('[I20.interactions] /ask asks before everybody; without a text it opens a form, whose words are the question', async () => {
    const { fake, intake } = await begin({ options: { message_content: false } })
    const kate = fake.person({ channel: GENERAL })
    kate.commands('ask', 'why **this** @everyone?')
    await until('the question', () => scene.texts().includes('why **this** @everyone?'))
    await until('it is shown', () => kate.sees().some((text) => text.includes('asked: why')))
    const empty = kate.commands('ask')
    await until('the form', () => empty.modal)
    expect(intake.events).toHaveLength(1)
    const { custom_id } = empty.modal as { readonly custom_id: string }
    kate.submits(custom_id, 'from the form')
    await until('the words', () => scene.texts().includes('from the form'))
    expect(fake.world.pinged).toEqual([])
    // Discord's newer form of the same field.
    const label = { type: 18, component: { type: 4, custom_id: 'x', value: 'newer form' } }
    const payload = {
      id: '990000000000000001',
      token: 'tok',
      type: 5,
      channel_id: kate.channel.id,
      user: kate.user,
      data: { custom_id, components: [label] },
    }
    fake.gateway.dispatch('INTERACTION_CREATE', payload, {})
    await until('newer form', () => scene.texts().includes('newer form'))
  })

  it('[I20.expired-token] one that Discord does not know any more is decided all the same', async () => {
    const { fake, intake, log } = await begin({ deadlineMs: 0 })
    const kate = fake.person()
    fake.world.put(kate.channel.id, { author: fake.world.bot, content: 'Run it?', components: BUTTONS })
    await new Promise((resolve) => setTimeout(resolve, 2))
    kate.taps('Allow')
    kate.commands('status')
    await until('both', () => intake.events.length === 2)
    kate.says('and on')
    await until('the next', () => scene.texts().includes('and on'))
    expect(log.lines.join('\n')).not.toContain('emulated-')
    expect(intake.events.map(({ kind }) => kind)).toEqual(['tap', 'message', 'message'])
  })

  it('[I20.expired-token] a token that runs out between the two answers breaks nothing', async () => {
    let ahead = 0
    const { fake, intake } = await begin({ now: () => Date.now() + ahead })
    const release = intake.hold()
    const asked = fake.person().commands('status')
    await until('answered', () => asked.answered !== null)
    ahead = 16 * 60_000
    release()
    await until('decided', () => intake.events.length === 1)
    await until('tried', () =>
      fake.world.calls.some(({ name, status }) => name === 'delete-original' && status === 401),
    )
    // An expired interaction token says nothing about the bot's token.
    await scene.send(GENERAL, { kind: 'text', text: 'still here' })
    expect(fake.world.calls.some(({ body }) => body?.content === 'still here')).toBe(true)
  })
})

describe('slash commands', () => {
  const written = () =>
    scene.fake.world.calls.filter(({ name }) => name === 'create-command').map(({ body }) => body.name)

  it('[I20.commands] are registered when they are missing or differ, and not again; those of others stay', async () => {
    scene = await openScene()
    const { fake, intake } = scene
    fake.world.commands.set('1', { id: '1', name: 'mine', description: 'of somebody else', type: 1 })
    fake.world.commands.set('2', { id: '2', name: 'help', description: 'an older one', type: 1 })
    await scene.start()
    await until('they are there', () => written().length === 4)
    expect(written().toSorted()).toEqual(['help', 'new', 'status', 'stop'])
    await scene.adapter.stop()
    const next = scene.make()
    await next.start(intake, null)
    await until('looked', () => fake.world.calls.filter(({ name }) => name === 'commands').length === 2)
    await until('the link', () => next.link?.state().state === 'up')
    expect(written()).toHaveLength(4)
    expect([...fake.world.commands.values()].map(({ name }) => name).toSorted()).toEqual([
      'help',
      'mine',
      'new',
      'status',
      'stop',
    ])
    await next.stop()
  })

  it('[I20.commands] with /ask where there is no content, without any where they are switched off', async () => {
    await begin({ options: { message_content: false } })
    await until('they are there', () => written().length === 5)
    expect(written()).toContain('ask')
    await scene.close()
    await begin({ options: { commands: false } })
    await until('looked', () => scene.fake.world.calls.some(({ name }) => name === 'my-guilds'))
    expect(
      scene.fake.world.calls.filter(({ name }) => name.endsWith('command') || name === 'commands'),
    ).toEqual([])
  })
})
