// Trust of a binding: what may run for what is said at a place, and that nobody is asked about what may not.
import { expect, it } from 'vitest'
import { type AgentSettings, address, formatAddress } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { hosting } from './hosting.ts'
import { describeRiver, type River, type RiverOptions } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const RUN = { toolName: 'Bash', description: 'd', input: 'ls' }

let trusted = 0

describeRiver('trust', (open) => {
  const opened = (
    trust?: 'read_only' | 'none',
    readOnlyTools: readonly string[] = [],
    more: Partial<AgentSettings> = {},
    agent: RiverOptions['agent'] = {},
  ) =>
    open({
      agent,
      integrations: [testIntegration('chat'), testIntegration('safe')],
      agents: [
        testAgent('demo', ['chat', 'safe'], {
          bindings: [
            { plugin: 'test', instance: 'chat', allowedChannelServers: [], ...(trust ? { trust } : {}) },
            { plugin: 'test', instance: 'safe', allowedChannelServers: [] },
          ],
          messagingAllow: ['test:*'],
          readOnlyTools,
          ...more,
        }),
      ],
      watched: true,
    })
  const said = async (river: River, integration: string) => {
    await river.person('anna', 'anna', { integration }).says('hello')
    await river.settle()
    const turn = (await river.store().turns({ integration, limit: 1 }))[0]
    return { turn: turn?.id ?? '', session: turn?.session ?? '' }
  }
  const outcomes = async (river: River, at: { turn: string | null; session: string }) => {
    const desk = river.tools()
    const by = caller(at)
    const body = `x ${trusted++}`
    const send = await outcomeOf(river, desk.sendMessage(by, { platform: 'test', target: 'room', body }))
    const read = await desk.getRoster(by, { chatId: at.session })
    const reply = await outcomeOf(river, desk.reply(by, { chatId: at.session, text: 'hi' }))
    return [send, read, reply].map((one) =>
      one.text.includes('trust: read_only')
        ? 'read_only'
        : one.text.includes('trust: none')
          ? 'none'
          : 'passed',
    )
  }

  it('[I35.b46-trust] full lets all tools run, read_only our reads, none only answers; each place by its own', async () => {
    for (const [trust, wanted] of [
      [undefined, ['passed', 'passed', 'passed']],
      ['read_only', ['read_only', 'passed', 'passed']],
      ['none', ['none', 'none', 'passed']],
    ] as const) {
      const river = await opened(trust)
      river.agent.script = () => undefined
      expect(await outcomes(river, await said(river, 'chat'))).toEqual(wanted)
      expect(await outcomes(river, await said(river, 'safe'))).toEqual(['passed', 'passed', 'passed'])
    }
  })

  it('[I35.b46-trust] no person is asked about a call that trust forbids; a tool that is named as reading is asked about', async () => {
    const river = await opened('read_only', ['Read'])
    river.agent.script = () => undefined
    await said(river, 'chat')
    const [delivery] = river.agent.deliveries
    if (!delivery) throw new Error('nothing was handed over')
    await expect(river.agent.ask(delivery, RUN)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('trust: read_only'),
    })
    expect(await river.operator().approvals(null, 10)).toEqual([])
    const entries = await river.store().ledger({ afterSeq: 0, limit: 100 })
    expect(JSON.stringify(entries)).toContain('refused by trust')
    await river.agent.ask(delivery, { ...RUN, toolName: 'Read' })
    expect(await river.operator().approvals(null, 10)).toMatchObject([{ tool_name: 'Read' }])
  })

  it('[I35.b46-trust] a host with a dialog of its own asks all the same: trust limits our tools alone there', async () => {
    const river = await opened('none', [], {}, { holdsDecisions: false })
    river.agent.script = () => undefined
    await said(river, 'chat')
    const [delivery] = river.agent.deliveries
    if (!delivery) throw new Error('nothing was handed over')
    await river.agent.ask(delivery, RUN)
    expect(await river.operator().approvals(null, 10)).toMatchObject([
      { tool_name: 'Bash', state: 'pending' },
    ])
  })

  it('[I35.b46-trust] a host works by what all the places of its open turns are trusted with', async () => {
    for (const trust of ['read_only', 'none'] as const) {
      const river = await opened(trust)
      river.agent.script = () => undefined
      const [low, high] = [await said(river, 'chat'), await said(river, 'safe')]
      const send = async (open: readonly string[]) => {
        const by = caller({ session: null, turn: null, host: { open, used: true } })
        const input = { platform: 'test', target: 'room', body: `x ${trusted++}` }
        return (await outcomeOf(river, river.tools().sendMessage(by, input))).isError
      }
      expect(await send([high.turn])).toBe(false)
      expect(await send([low.turn, high.turn])).toBe(true)
      // With nothing open, or a turn that nobody knows, it is not known whose words the call is made for.
      expect(await send([])).toBe(true)
      expect(await send([high.turn, 't_of_nobody'])).toBe(true)
    }
  })

  it('[I35.b46-trust] a file of this machine is a read: none attaches no file to an answer', async () => {
    for (const [trust, isRefused] of [
      [undefined, false],
      ['read_only', false],
      ['none', true],
    ] as const) {
      const river = await opened(trust)
      river.agent.script = () => undefined
      const { turn, session } = await said(river, 'chat')
      const input = { chatId: session, text: 'see there', files: ['/etc/hosts'] }
      const { text } = await outcomeOf(river, river.tools().reply(caller({ turn, session }), input))
      expect(text.includes('a file in a reply'), trust).toBe(isRefused)
    }
  })

  it('[I35.b46-trust] a reply elsewhere than where the words came from is a message, and no answer', async () => {
    for (const [trust, isRefused] of [
      [undefined, false],
      ['read_only', true],
      ['none', true],
    ] as const) {
      const river = await opened(trust)
      river.agent.script = () => undefined
      const answer = async (by: object, at: ReturnType<typeof address>) => {
        const input = { chatId: formatAddress(at), text: `x ${trusted++}` }
        return (await outcomeOf(river, river.tools().reply(caller(by), input))).isError
      }
      const high = await said(river, 'safe')
      expect(await answer(high, address('safe', 'anna'))).toBe(false)
      const low = await said(river, 'chat')
      const host = { session: null, turn: null, host: { open: [low.turn], used: true } }
      for (const by of [low, host]) expect(await answer(by, address('safe', 'room'))).toBe(isRefused)
      // A host knows all chats of its agent. Nothing is open in this one.
      expect(await answer(host, address('safe', 'anna'))).toBe(isRefused)
      expect(await answer(host, address('chat', 'anna'))).toBe(false)
    }
  })

  it('[I35.b46-trust] a host calls a tool of a service by the name that is named as reading, and no other', async () => {
    for (const trust of ['read_only', 'none'] as const) {
      const river = await opened(trust, ['kb__look'])
      river.agent.script = () => undefined
      const [low, high] = [await said(river, 'chat'), await said(river, 'safe')]
      const call = async (name: string, open: readonly string[]) => {
        const by = caller({ session: null, turn: null, host: { open, used: true } })
        const chatId = address('safe', 'anna')
        const told = await river.tools().callServiceTool(by, { chatId: formatAddress(chatId), name })
        return (told as { structured?: { code?: string } }).structured?.code
      }
      // No service is behind these chats: what trust lets through is not found.
      expect(await call('kb__look', [low.turn])).toBe(trust === 'none' ? 'forbidden' : 'not_found')
      expect(await call('kb__wipe', [low.turn, high.turn])).toBe('forbidden')
      expect(await call('get_roster', [low.turn])).toBe('forbidden')
      expect(await call('kb__wipe', [high.turn])).toBe('not_found')
    }
  })

  it('[I35.b46-trust] words that a claim brought in from another place are trusted as that place is', async () => {
    const DESK = testIntegration('desk', {
      ...{ scope: 'all', default: true },
      access: { ...OPEN, approvers: ['anna'] },
    })
    const front = [{ plugin: 'test', instance: 'desk', allowedChannelServers: [], trust: 'none' as const }]
    const river = await open({
      integrations: [testIntegration('safe'), DESK],
      agents: [
        testAgent('demo', ['safe'], { messagingAllow: ['test:*'] }),
        testAgent('front', ['desk'], { bindings: front }),
      ],
    })
    river.agent.script = () => undefined
    const { session } = await said(river, 'safe')
    const by = { session, turn: null }
    expect(await outcomes(river, by)).toEqual(['passed', 'passed', 'passed'])
    await river.settle()
    const claim = { message: 'shall I?', claimThread: true }
    const told = await outcomeOf(river, river.tools().notifyUser(caller(by), claim))
    expect(told.isError, told.text).toBe(false)
    const anna = river.person('anna', 'anna', { integration: 'desk' })
    expect(await anna.says('do it')).toMatchObject({ session })
    await river.settle()
    expect(await outcomes(river, by)).toEqual(['none', 'none', 'passed'])
  })

  it('[I35.b46-trust] what came through a channel server is trusted as every binding says that lets it in or names it', async () => {
    const named = { plugin: 'mcp', instance: 'slack', allowedChannelServers: [] }
    const lets = { plugin: 'test', instance: 'chat', allowedChannelServers: ['slack'] }
    const also = { plugin: 'test', instance: 'other', allowedChannelServers: ['slack'] }
    for (const [bindings, wanted] of [
      [[lets, named], 'passed'],
      [[{ ...lets, trust: 'none' }, named], 'none'],
      [[lets, { ...named, trust: 'none' }], 'none'],
      [[lets, { ...also, trust: 'read_only' }], 'read_only'],
    ] as const) {
      const integrations = [testIntegration('chat'), testIntegration('other')]
      const river = await open(hosting({ bindings, messagingAllow: ['test:*'] }, { integrations }))
      river.agent.script = () => undefined
      river.server('slack').up()
      river.server('slack').says('hello', { chat_id: 'C1' })
      await river.settle()
      const [{ turn = '', session = '' } = {}] = river.agent.deliveries
      expect((await outcomes(river, { turn, session }))[0]).toBe(wanted)
    }
  })

  it('[I35.b46-trust] a scheduled turn speaks for nobody, so no trust limits it', async () => {
    const schedule = { id: 'often', cron: '* * * * *', tz: 'UTC', prompt: 'look', missed: 'run' } as const
    const river = await opened('none', [], { schedules: [schedule] })
    river.agent.script = () => undefined
    await river.pass(60_000)
    const [{ turn = '', session = '' } = {}] = river.agent.deliveries
    const send = async (at: object) => {
      const input = { platform: 'test', target: 'room', body: `x ${trusted++}` }
      return (await outcomeOf(river, river.tools().sendMessage(caller(at), input))).isError
    }
    expect(await send({ turn, session })).toBe(false)
    expect(await send({ turn: null, session })).toBe(false)
    const { turn: low } = await said(river, 'chat')
    const host = { open: [turn, low], used: true }
    expect(await send({ turn: null, session: null, host })).toBe(true)
  })

  it('[I35.b45-allow-list-first] [I35.b46-trust] what would be refused is known before anybody is asked', async () => {
    const river = await opened('none')
    river.agent.script = () => undefined
    const [low, high] = [await said(river, 'chat'), await said(river, 'safe')]
    const judge = (at: object, tool: string, input = {}, own = true) =>
      river.tools().refusalOf?.(caller(at), { tool, own, input })
    expect(await judge(high, 'send_message', { platform: 'slack', target: 'C1' })).toContain(
      "is not in the personality's allowed messaging targets",
    )
    expect(await judge(high, 'send_message', { platform: 'test', target: 'C1' })).toBeNull()
    expect(await judge(low, 'send_message', { platform: 'test', target: 'C1' })).toContain('trust: none')
    expect(await judge(low, 'server__wipe', {}, false)).toContain('trust: none')
    expect(await judge(low, 'reply')).toBeNull()
    // A tool of others has no right by its name.
    expect(await judge(low, 'reply', {}, false)).toContain('trust: none')
    const reading = await opened('read_only')
    reading.agent.script = () => undefined
    const at = caller(await said(reading, 'chat'))
    const look = (own: boolean) => reading.tools().refusalOf?.(at, { tool: 'fetch_messages', own })
    expect([await look(true), await look(false)]).toEqual([null, expect.stringContaining('trust: read_only')])
  })
})
