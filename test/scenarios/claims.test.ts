// Claims, as people meet them: an agent speaks first, and the reply finds its way back to that session, once.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River, type RiverOptions } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const CHAT = testIntegration('chat', {
  scope: 'all',
  default: true,
  access: {
    ...OPEN,
    approvers: ['boss'],
    groups: { room: { requireMention: false, allowFrom: ['*'] } },
  },
})
const WORK = testIntegration('work', { scope: 'all' })
/** `front` answers the boss; `ops` works elsewhere and speaks first. */
const AGENTS = [testAgent('front', ['chat']), testAgent('ops', ['work'])]

describeRiver('claims', (open) => {
  const opened = async (over: RiverOptions = {}) => {
    const river = await open({ integrations: [CHAT, WORK], agents: AGENTS, ...over })
    const sessions: string[] = []
    const session = async (name: string) => {
      await river.person(name, 'ci', { integration: 'work' }).says('start')
      await river.settle()
      const found = river.agentNamed('ops').deliveries.at(-1)?.session ?? ''
      sessions.push(found)
      return found
    }
    const nudge = async (label: string, from: string) => {
      await river.pass(1)
      const input = { message: `about ${label}`, claimThread: true, claimThreadLabel: label }
      const told = await outcomeOf(
        river,
        river.tools().notifyUser(caller({ agent: 'ops', session: from }), input),
      )
      expect(told.isError, told.text).toBe(false)
      return river.platform.arrived.at(-1)?.platformId ?? ''
    }
    return { river, session, nudge, boss: river.person('boss') }
  }
  const to = (river: River, agent: string) => river.agentNamed(agent).texts()
  const shown = (river: River) => river.platform.shown('boss')

  it('[F7.claim-claim] [S11.claim-tap] a tap leads the chat there until /back; answers come to the boss', async () => {
    const { river, session, nudge, boss } = await opened()
    const from = await session('build')
    await nudge('deploy', from)
    expect(await boss.taps('📎 Reply here')).toMatchObject({
      state: 'consumed',
      reason: 'tap',
      answer: 'Threaded.',
    })
    await river.settle()
    expect(shown(river)).toEqual(['about deploy\n\n✓ Threaded — reply when ready.'])
    expect((await boss.says('go')).session).toBe(from)
    await boss.says('and again')
    await river.settle()
    expect(to(river, 'ops')).toEqual(['start', 'go', 'and again'])
    expect(shown(river).slice(1)).toEqual(['re: go', 're: and again'])
    expect(await boss.says('/back')).toMatchObject({
      state: 'consumed',
      answer: 'Back in your own chat; the deploy thread is closed.',
    })
    expect(await boss.says('/back')).toMatchObject({ answer: 'You are in your own chat.' })
    await boss.says('hello')
    await river.settle()
    expect(to(river, 'front')).toEqual(['hello'])
  })

  it('[F7.claim-dismiss] [S11.claim-keep] keeping the chat closes it', async () => {
    const { river, session, nudge, boss } = await opened()
    await nudge('deploy', await session('build'))
    expect((await boss.taps('💬 Keep my chat')).answer).toBe('Noted.')
    await boss.says('hello')
    await river.settle()
    expect(to(river, 'front')).toEqual(['hello'])
    expect(shown(river)[0]).toBe('about deploy\n\n✓ FYI noted.')
  })

  it('[S11.claim-newest] [S11.claim-label] [F7.claim-auto-1] untapped, the next plain message takes it, and says so', async () => {
    const { river, session, nudge, boss } = await opened()
    await nudge('deploy', await session('build'))
    await boss.says('what is it?')
    await boss.says('tell me')
    await river.settle()
    expect(to(river, 'ops').slice(1)).toEqual(['[Switched to deploy thread]\n\nwhat is it?', 'tell me'])
    expect(shown(river)[0]).toMatch(/✓ Threaded/)
  })

  it('[S11.claim-reply-to] [F7.claim-reply-beats] a reply to that very message beats the newest', async () => {
    const { river, session, nudge, boss } = await opened()
    const [a, b] = [await session('a'), await session('b')]
    const first = await nudge('one', a)
    await nudge('two', b)
    expect((await boss.says('to one', { replyTo: { messageId: first } })).session).toBe(a)
    expect((await boss.says('plain')).session).toBe(b)
    await river.settle()
    expect(to(river, 'ops')).toContain('to one')
  })

  it('[S11.claim-commands] [F7.claim-commands] [S5.commands-keep-claims] commands never claim, and act on where the chat leads', async () => {
    const { river, session, nudge, boss } = await opened()
    const from = await session('build')
    await nudge('deploy', from)
    for (const command of ['/status', '!stop', '/back', '/new']) {
      expect((await boss.says(command)).state).toBe('consumed')
    }
    expect((await river.store().claims({ limit: 1 }))[0]?.state).toBe('open')
    await boss.taps('📎 Reply here')
    expect((await boss.says('/status')).answer).toMatch(/^ops is online.*in the deploy thread/)
    await boss.says('/new')
    await boss.says('fresh')
    await river.settle()
    expect(to(river, 'front')).toEqual(['fresh'])
  })

  it('/stop in a claimed chat stops what runs there', async () => {
    const { river, session, nudge, boss } = await opened()
    const from = await session('build')
    await nudge('deploy', from)
    await boss.taps('📎 Reply here')
    river.agentNamed('ops').script = () => undefined
    await boss.says('long work')
    await river.settle()
    expect((await boss.says('/stop')).answer).toBe('Stopped: 1 message cancelled.')
    await river.settle()
    expect(river.agentNamed('ops').cancelled).toMatchObject([{ session: from }])
  })

  const batch = (texts: readonly string[]) =>
    texts.map((text, at) => ({
      ...{ kind: 'message' as const, conversation: 'boss', chat: 'direct' as const, sender: { id: 'boss' } },
      ...{ at, text, messageId: `${texts.join()} ${at}` },
    }))

  it('[S11.claim-tap] [S5.commands-keep-claims] /back leaves a thread that a message of the same breath has taken', async () => {
    const { river, session, nudge, boss } = await opened()
    await nudge('deploy', await session('build'))
    const [, back, own] = await river.platform.receive('chat', batch(['go', '/back', 'for front']))
    expect(back?.answer).toBe('Back in your own chat; the deploy thread is closed.')
    expect(own?.session).not.toBeNull()
    await boss.says('private')
    await river.settle()
    expect(to(river, 'ops')).toEqual(['start', '[Switched to deploy thread]\n\ngo'])
    expect(to(river, 'front')).toEqual(['for front', 'private'])
    expect(await boss.says('/back')).toMatchObject({ answer: 'You are in your own chat.' })
  })

  it('[S5.stop-cancels] /stop behind /back leaves the thread alone, and speaks of the agent that it concerns', async () => {
    const { river, session, nudge, boss } = await opened({
      perAgent: { front: { cancels: true }, ops: { cancels: false } },
    })
    await nudge('deploy', await session('build'))
    await boss.taps('📎 Reply here')
    river.agentNamed('ops').script = () => undefined
    const { id } = await boss.says('long work')
    await river.settle()
    const [back, stop] = await river.platform.receive('chat', batch(['/back', '/stop']))
    expect([back?.answer, stop?.answer]).toEqual([
      'Back in your own chat; the deploy thread is closed.',
      'Nothing is running.',
    ])
    await river.settle()
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'handed' })
    await nudge('again', (await river.operator().turn(id ?? ''))?.session ?? '')
    await boss.taps('📎 Reply here')
    expect((await boss.says('/stop')).answer).toBe(
      'Stopped: 1 message cancelled. ops cannot be interrupted: what it began may still be answered.',
    )
  })

  it('[S11.claim-owner] [F7.claim-non-owner] in a group only an owner may tap or take it', async () => {
    const { river, session } = await opened({
      users: [{ id: 'ann', identities: ['chat:boss'], notifyTo: 'chat:room', roles: ['owner'] }],
    })
    const from = await session('build')
    const input = { message: 'about it', claimThread: true }
    await outcomeOf(river, river.tools().notifyUser(caller({ agent: 'ops', session: from }), input))
    const member = river.person('room', 'member', { chat: 'group' })
    const owner = river.person('room', 'boss', { chat: 'group' })
    expect(await member.taps('📎 Reply here')).toMatchObject({ state: 'refused', reason: 'not_owner' })
    await member.says('hi')
    await river.settle()
    expect(to(river, 'front')).toEqual(['hi'])
    expect((await owner.taps('📎 Reply here')).answer).toBe('Threaded.')
    expect((await member.says('now')).session).toBe(from)
  })

  it('[F7.claim-expired] [S11.claim-row] after 24 h a tap is told so, and nothing is taken', async () => {
    const { river, session, nudge, boss } = await opened()
    await nudge('deploy', await session('build'))
    await river.sleep(24 * 3_600_000)
    expect((await boss.taps('📎 Reply here')).answer).toBe('Expired.')
    await boss.says('hello')
    await river.settle()
    expect(to(river, 'front')).toEqual(['hello'])
  })

  it('[S11.claim-given-back] an agent that is no longer configured gives it back, and the person is told', async () => {
    const { river, session, nudge, boss } = await opened()
    await nudge('deploy', await session('build'))
    await boss.taps('📎 Reply here')
    await river.configure({ integrations: [CHAT, WORK], agents: [testAgent('front', ['chat', 'work'])] })
    await boss.says('anyone?')
    await river.settle()
    expect(to(river, 'front')).toEqual(['anyone?'])
    expect(shown(river)).toContain('The deploy thread cannot be reached any more. You are in your own chat.')
  })

  it('[F7.claim-unclaims] a session that refuses the turn for good gives it back', async () => {
    const { river, session, nudge, boss } = await opened()
    await nudge('deploy', await session('build'))
    await boss.taps('📎 Reply here')
    river.agentNamed('ops').failNext(new Error('no such session'))
    // The word to the person needs no commit of its own, so none can fail.
    river.storeAway('enqueue', 1_000)
    await boss.says('anyone?')
    await river.settle()
    expect(shown(river).at(-1)).toBe(
      'The deploy thread cannot be reached any more. You are in your own chat.',
    )
    await boss.says('hello')
    await river.settle()
    expect(to(river, 'front')).toEqual(['hello'])
  })

  it('survives a restart: claim, route and all', async () => {
    const { river, session, nudge, boss } = await opened()
    const from = await session('build')
    await nudge('deploy', from)
    await river.restart()
    await boss.says('still there?')
    await river.restart()
    expect((await boss.says('yes?')).session).toBe(from)
    await river.pass(60_000)
    expect(to(river, 'ops').slice(-2)).toEqual(['[Switched to deploy thread]\n\nstill there?', 'yes?'])
  })

  it('where messages cannot be edited, a new one says what was decided', async () => {
    const { river, session, nudge, boss } = await opened({ platform: { abilities: { edits: false } } })
    await nudge('deploy', await session('build'))
    await boss.taps('📎 Reply here')
    await river.settle()
    expect(shown(river)).toEqual(['about deploy', '✓ Threaded — reply when ready.'])
  })
})
