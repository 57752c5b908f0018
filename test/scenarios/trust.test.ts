// Trust of a binding: what may run for what is said at a place, and that nobody is asked about what may not.
import { expect, it } from 'vitest'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const RUN = { toolName: 'Bash', description: 'd', input: 'ls' }

let trusted = 0

describeRiver('trust', (open) => {
  const opened = (trust?: 'read_only' | 'none', readOnlyTools: readonly string[] = []) =>
    open({
      integrations: [testIntegration('chat'), testIntegration('safe')],
      agents: [
        testAgent('demo', ['chat', 'safe'], {
          bindings: [
            { plugin: 'test', instance: 'chat', allowedChannelServers: [], ...(trust ? { trust } : {}) },
            { plugin: 'test', instance: 'safe', allowedChannelServers: [] },
          ],
          messagingAllow: ['test:*'],
          readOnlyTools,
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
  const outcomes = async (river: River, at: { turn: string; session: string }) => {
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
    expect(await river.desk().approvals(null, 10)).toEqual([])
    await river.agent.ask(delivery, { ...RUN, toolName: 'Read' })
    expect(await river.desk().approvals(null, 10)).toMatchObject([{ tool_name: 'Read' }])
  })

  it('[I35.b46-trust] a host works by what all the places of its open turns are trusted with', async () => {
    const river = await opened('read_only')
    river.agent.script = () => undefined
    const [low, high] = [await said(river, 'chat'), await said(river, 'safe')]
    const send = async (open: readonly string[]) => {
      const by = caller({ session: null, turn: null, host: { open, used: true } })
      const input = { platform: 'test', target: 'room', body: `x ${trusted++}` }
      return (await outcomeOf(river, river.tools().sendMessage(by, input))).isError
    }
    expect(await send([high.turn])).toBe(false)
    expect(await send([low.turn, high.turn])).toBe(true)
    // With nothing open it is not known whose words the call is made for.
    expect(await send([])).toBe(true)
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
  })
})
