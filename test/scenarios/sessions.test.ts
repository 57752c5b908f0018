// Sessions: one conversation with one agent, the same after a restart, fresh after /new; and the commands in a chat.
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'

const SILENT = () => undefined
const ANNA = { integration: 'chat', conversation: 'anna' }

describeRiver('sessions', (open) => {
  it('[S5.same-after-restart] [F7.session-restart] [S5.names-not-in-key] a session is the same after a restart, whoever speaks and under whatever name', async () => {
    const river = await open()
    const first = await river.person('room', 'u1', { name: 'Anna' }).says('1')
    await river.restart()
    const second = await river.person('room', 'u2', { name: 'Bert' }).says('2')
    const third = await river.person('room', 'u1', { name: 'Anna (away)' }).says('3')
    expect(second.session).toBe(first.session)
    expect(third.session).toBe(first.session)
    expect((await river.person('room', 'u1').says('4', { thread: 't' })).session).not.toBe(first.session)
  })

  it('[F7.session-concurrent] two first messages at once agree on one session', async () => {
    const river = await open()
    const both = await Promise.all([river.person('anna').says('1'), river.person('anna').says('2')])
    expect(new Set(both.map((one) => one.session)).size).toBe(1)
    await river.settle()
    expect(river.platform.texts('anna').toSorted()).toEqual(['re: 1', 're: 2'])
  })

  it('[F7.session-no-alias] separators in names lead to sessions of their own', async () => {
    const river = await open()
    const seen = new Set<string | null>()
    const places: [string, string?][] = [['a|b'], ['a', 'b'], ['a=b'], ['a:b'], ['a%3Ab'], ['a/b'], ['a']]
    for (const [conversation, thread] of places) {
      const options = thread === undefined ? {} : { thread }
      seen.add((await river.person(conversation).says('hi', options)).session)
    }
    expect(seen.size).toBe(places.length)
  })

  it('[S5.never-dropped-idle] [F7.session-idle] an idle session is still there after a year', async () => {
    const river = await open()
    const before = await river.person('anna').says('hi')
    await river.sleep(365 * 24 * 3_600_000)
    await river.restart()
    expect((await river.person('anna').says('me again')).session).toBe(before.session)
  })

  it('[S5.two-agents-differ] the conversation that moves to another agent has a session with each', async () => {
    const river = await open({ agents: [testAgent('one', ['chat'])] })
    const first = await river.person('anna').says('hi')
    await river.configure({ agents: [testAgent('two', ['chat'])] })
    const second = await river.person('anna').says('hi')
    await river.settle()
    expect(second.session).not.toBe(first.session)
    expect(river.agentNamed('two').texts()).toEqual(['hi'])
  })

  it.each(['/new', '!new'])(
    '[S5.new-raises-generation] [S5.generation-persisted] [S5.bang-commands] [S5.commands-not-to-model] %s opens a fresh session that lasts',
    async (command) => {
      const river = await open()
      const anna = river.person('anna')
      const before = await anna.says('hi')
      expect(await anna.says(command)).toMatchObject({ state: 'consumed', reason: 'command' })
      const after = await anna.says('hello')
      expect(after.session).not.toBe(before.session)
      await river.restart()
      expect((await anna.says('still here')).session).toBe(after.session)
      expect((await river.store().sessionAt('demo', ANNA))?.generation).toBe(2)
      await river.pass(20_000)
      // The first is of another session, and nobody waits for it.
      expect(river.agent.texts().filter((text) => text !== 'hi')).toEqual(['hello', 'still here'])
      expect(river.agent.texts()).toContain('hi')
      expect(
        river.platform.texts('anna').filter((text) => text.startsWith('Your next message starts')),
      ).toHaveLength(1)
    },
  )

  it('[S5.new-raises-generation] what was under way before /new is still answered', async () => {
    const river = await open()
    river.agent.script = SILENT
    await river.person('anna').says('old')
    await river.settle()
    await river.person('anna').says('/new')
    await river.person('anna').says('new')
    await river.settle()
    expect(river.agent.texts()).toEqual(['old', 'new'])
    for (const delivery of river.agent.deliveries) await river.agent.answer(delivery, `re: ${delivery.text}`)
    await river.settle()
    expect(river.platform.texts('anna').slice(1)).toEqual(['re: old', 're: new'])
  })

  it('[S5.status-command] /status says what waits, what runs and who answers', async () => {
    const river = await open()
    river.agent.script = SILENT
    const anna = river.person('anna')
    for (const text of ['1', '2', '3']) await anna.says(text)
    await river.settle()
    await anna.says('/status')
    await river.settle()
    river.agent.detach()
    await river.settle()
    await anna.says('!status')
    await river.settle()
    const [attached, away] = river.platform.texts('anna')
    expect(attached).toBe('demo is online. Waiting: 2. In work: 1.')
    expect(away).toContain('demo is offline')
  })

  it('[I18.chat-help] /help and !help list the commands, and neither reaches the agent', async () => {
    const river = await open()
    const anna = river.person('anna')
    await anna.says('/help')
    await anna.says('!HELP')
    await river.settle()
    const [first, second] = river.platform.texts('anna')
    for (const word of ['/new', '/status', '/stop', '/back', '/help', '!status'])
      expect(first).toContain(word)
    expect(second).toBe(first)
    expect(river.agent.texts()).toEqual([])
  })

  it('[S5.stop-cancels] [I6.cancel-across] /stop ends what runs and what waits, tells the agent, and the chat goes on', async () => {
    const river = await open()
    river.agent.script = SILENT
    const anna = river.person('anna')
    const turns = [await anna.says('1'), await anna.says('2')]
    await river.settle()
    const [running] = river.agent.deliveries as [Delivery]
    await anna.says('/stop')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['Stopped: 2 messages cancelled.'])
    expect(river.agent.cancelled).toEqual([{ session: running.session, turn: running.turn }])
    for (const turn of turns) {
      expect(await river.operator().turn(turn.id ?? '')).toMatchObject({
        state: 'failed',
        reason: 'cancelled',
      })
    }
    // A late answer of the stopped turn is still said; it changes no state.
    await river.agent.answer(running, 'too late')
    await anna.says('3')
    await river.settle()
    expect(river.agent.texts()).toEqual(['1', '3'])
    expect(await river.operator().turn(running.turn)).toMatchObject({ state: 'failed', reason: 'cancelled' })
    await river.restart()
    await river.pass(20_000)
    expect(river.agent.texts(), 'only the open one is offered again').toEqual(['1', '3', '3'])
  })

  it('[S5.stop-after-new] /stop reaches what was running when /new was said', async () => {
    const river = await open()
    river.agent.script = SILENT
    const anna = river.person('anna')
    await anna.says('long work')
    await river.settle()
    const [running] = river.agent.deliveries as [Delivery]
    await anna.says('/new')
    expect((await anna.says('/stop')).answer).toContain('Stopped: 1 message cancelled.')
    await river.settle()
    expect(river.agent.cancelled).toEqual([{ session: running.session, turn: running.turn }])
  })

  it('[I14.group-stop] in a group /stop stops what its sender began; /new and stopping others is for approvers', async () => {
    const group = { requireMention: false, allowFrom: ['*'] }
    const access = { ...OPEN, approvers: ['boss'], groups: { room: group } }
    const river = await open({ integrations: [testIntegration('chat', { access })], agent: { window: 5 } })
    river.agent.script = SILENT
    const member = (who: string) => river.person('room', who, { chat: 'group' })
    const [hers, his] = [await member('anna').says('1'), await member('bert').says('2')]
    await river.settle()
    const session = river.agent.deliveries[0]?.session
    const states = async () =>
      Promise.all([hers, his].map(async ({ id }) => (await river.operator().turn(id ?? ''))?.state))
    expect((await member('cleo').says('/stop')).answer).toBe(
      'Nothing of yours is running. Only an approver can stop the work of others.',
    )
    expect((await member('bert').says('/new')).answer).toBe(
      'In a group, only an approver can start a new conversation.',
    )
    expect((await member('bert').says('/stop')).answer).toBe('Stopped: 1 message cancelled.')
    await river.settle()
    expect(await states()).toEqual(['handed', 'failed'])
    // What the others began goes on as if nothing had happened.
    const [running] = river.agent.deliveries as [Delivery]
    await river.agent.answer(running, 'done')
    await member('anna').says('3')
    await river.settle()
    expect(river.platform.texts('room')).toContain('done')
    expect(river.agent.deliveries.at(-1)).toMatchObject({ text: '3', session, repeat: false })
    expect((await member('boss').says('/stop')).answer).toBe('Stopped: 1 message cancelled.')
    await member('boss').says('/new')
    await member('anna').says('4')
    await river.settle()
    expect(river.agent.deliveries.at(-1)?.session).not.toBe(session)
  })

  it('[S5.stop-cannot] /stop says so when nothing runs, and when the connector cannot stop what does', async () => {
    const idle = await open()
    await idle.person('anna').says('/stop')
    await idle.settle()
    expect(idle.platform.texts('anna')).toEqual(['Nothing is running.'])
    const deaf = await open({ agent: { cancels: false } })
    deaf.agent.script = SILENT
    await deaf.person('anna').says('1')
    await deaf.settle()
    await deaf.person('anna').says('/stop')
    await deaf.settle()
    expect(deaf.platform.texts('anna')).toEqual([
      'Stopped: 1 message cancelled. demo cannot be interrupted: what it began may still be answered.',
    ])
  })

  it('[S5.stop-cancels] [S5.status-command] a command tells of messages that came in the same breath', async () => {
    const river = await open({ agent: { attached: false } })
    const event = { kind: 'message', conversation: 'anna', chat: 'direct', sender: { id: 'anna' } } as const
    const said = ['do it', '/status', 'and that', '/stop', 'go on'].map((text, at) => ({
      ...event,
      ...{ at, text, messageId: `${at}` },
    }))
    const all = await river.platform.receive('chat', said)
    const waiting = 'demo is offline; messages wait in order. Waiting: 1. In work: 0.'
    const stopped = 'Stopped: 2 messages cancelled.'
    expect(all.map(({ answer }) => answer)).toEqual([undefined, waiting, undefined, stopped, undefined])
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(expect.arrayContaining([waiting, stopped]))
    const states = await Promise.all(
      all.map(async ({ id }) => (await river.operator().turn(id ?? ''))?.state),
    )
    expect(states).toEqual(['failed', 'consumed', 'failed', 'consumed', 'queued'])
  })

  it('[S5.commands-not-to-model] a command of a stranger does nothing', async () => {
    const access = { ...OPEN, dm: 'allowlist', allowFrom: ['anna'] } as const
    const river = await open({ integrations: [testIntegration('chat', { access })] })
    river.agent.script = SILENT
    const { id } = await river.person('room', 'anna').says('1')
    await river.settle()
    expect(await river.person('room', 'mallory').says('/stop')).toMatchObject({ state: 'refused' })
    await river.settle()
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'handed' })
  })
})
