// The shim before real MCP clients of both lines, and before hosts that do not behave.
import { Client as ClientNow } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioNow } from '@modelcontextprotocol/client/stdio'
import { Client as ClientBefore } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioBefore } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startClaudeCode } from '../../src/testing/emulate.ts'
import { answering, openChannel } from './channel-scene.ts'
import { createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const INFO = { name: 'a-host', version: '1.0.0' }
const PARAMS = z.object({ content: z.string(), meta: z.record(z.string(), z.string()) })

describe('real MCP clients as hosts', () => {
  it('of the line before take the message and answer it', async () => {
    const place = openChannel(scene)
    const client = new ClientBefore(INFO, { capabilities: {} })
    const heard: z.infer<typeof PARAMS>[] = []
    const method = z.literal('notifications/claude/channel')
    client.setNotificationHandler(
      z.object({ method, params: PARAMS }),
      ({ params }) => void heard.push(params),
    )
    await client.connect(
      new StdioBefore({
        command: process.execPath,
        args: [...place.shim],
        env: place.environment,
        stderr: 'ignore',
      }),
    )
    scene.onEnd(() => client.close())
    expect(client.getServerCapabilities()?.experimental).toHaveProperty(['claude/channel'])
    await place.say('hello')
    const { meta } = await until('it is there', () => heard[0])
    const result = await client.callTool({
      name: 'reply',
      arguments: { chat_id: meta.chat_id, text: 'hi' },
    })
    expect(result).toMatchObject({ content: [{ type: 'text', text: expect.stringMatching(/^sent \(id: /) }] })
    await place.turn('hello', 'answered')
  })

  it('of the line now take the message and answer it', async () => {
    const place = openChannel(scene)
    const client = new ClientNow(INFO)
    const heard: z.infer<typeof PARAMS>[] = []
    client.setNotificationHandler(
      'notifications/claude/channel',
      { params: PARAMS },
      (params) => void heard.push(params),
    )
    await client.connect(
      new StdioNow({
        command: process.execPath,
        args: [...place.shim],
        env: place.environment,
        stderr: 'ignore',
      }),
    )
    scene.onEnd(() => client.close())
    await place.say('hello')
    const { meta } = await until('it is there', () => heard[0])
    const result = await client.callTool({ name: 'reply', arguments: { chat_id: meta.chat_id, text: 'hi' } })
    expect(result).toMatchObject({ content: [{ type: 'text', text: expect.stringMatching(/^sent \(id: /) }] })
    await place.turn('hello', 'answered')
  })
})

describe('hosts that do not behave', () => {
  it('garbage on stdin is overlooked, and what follows is served', async () => {
    const place = openChannel(scene)
    const claude = answering(await place.claude())
    claude.write('\u0000\u0001 this is no JSON\n{"jsonrpc":"1.0"}\n[]\n')
    claude.write(
      '{"jsonrpc":"2.0","method":"notifications/claude/channel/permission_request","params":{"request_id":5}}\n',
    )
    await place.say('still there?')
    await place.turn('still there?', 'answered')
    expect(claude.noise).toEqual([])
  })

  it('a line without an end is cut off, and ends the shim alone', async () => {
    const place = openChannel(scene)
    const claude = await place.claude()
    for (let sent = 0; sent < 20; sent++) claude.write(Buffer.alloc(1_048_576, 'x'))
    expect(await claude.exited).toMatchObject({ code: 0 })
    expect(claude.stderr()).toMatch(/from the host/)
    answering(await place.claude())
    await place.say('and now?')
    await place.turn('and now?', 'answered')
  })

  it('a flood of tool calls is bounded, and messages still go through', async () => {
    const place = openChannel(scene)
    const claude = answering(await place.claude())
    const calls = Array.from({ length: 300 }, () => claude.call('pending_messages', {}))
    await place.say('in the flood')
    const results = await Promise.all(calls)
    // One of the calls may have fetched it: what a session read so is not pushed to it again, and it answers from there.
    const fetched = results.some(({ text }) => text.includes('in the flood'))
    await until('it came to the session', () => fetched || claude.prompts.length > 0)
    // The bound of the flood may still refuse a call.
    const reply = () => claude.call('reply', { chat_id: 'hook:dev', text: 're: in the flood' })
    if (claude.prompts.length === 0) await until('the reply is taken', async () => !(await reply()).isError)
    await place.turn('in the flood', 'answered')
    expect(results.filter(({ isError }) => !isError).length).toBeGreaterThan(0)
  })

  it('[S6.ch-frozen] a session that is frozen and takes nothing loses the message to the next one, in order', async () => {
    const place = openChannel(scene)
    const frozen = await place.claude()
    frozen.kill('SIGSTOP')
    scene.onEnd(() => frozen.kill('SIGCONT'))
    for (const text of ['one', 'two']) await place.say(text)
    await place.turn('one', 'handed')
    const next = answering(await place.claude())
    for (const text of ['one', 'two']) await place.turn(text, 'answered')
    expect(next.prompts.map(({ content }) => content)).toEqual(['one', 'two'])
  })

  it('two sessions race for one message: one has it', async () => {
    const place = openChannel(scene)
    const one = await place.claude()
    const two = await place.claude()
    for (const claude of [one, two]) answering(claude)
    await place.say('for whom?')
    await place.turn('for whom?', 'answered')
    expect(one.prompts.length + two.prompts.length).toBe(1)
  })

  it('[S11.no-daemon] without a daemon and told to start none, every tool says so', async () => {
    const place = openChannel(scene)
    const claude = await startClaudeCode({
      command: process.execPath,
      args: [...place.shim, '--no-start'],
      env: place.environment,
      channels: ['server:switchboard'],
    })
    scene.onEnd(() => claude.kill('SIGKILL'))
    const sent = claude.call('send_message', { platform: 'telegram', target: '1', body: 'x' })
    expect(await sent).toMatchObject({
      isError: true,
      text: 'Gateway not active — send_message requires gateway mode',
    })
  })
})
