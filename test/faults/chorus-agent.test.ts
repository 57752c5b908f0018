// An agent made with the library, called by a real daemon: the tool endpoint of a delivery is its session's own.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../../src/chorus/index.ts'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { writeChorusFront } from './chorus-front.ts'
import { postDemo } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { askJson, createScene, writeConfig } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

async function listening(options: Parameters<typeof createAgent>[0]): Promise<string> {
  const agent = createAgent({ secret: 'sk_planted4711', allowPrivate: true, ...options })
  const server = createServer(agent.node)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  scene.onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbox/sk_planted4711`
}

describe('an agent of the library', () => {
  it('[S8.mcp-scoped] [S8.library] [I9.tools-kept] [I9.tools-no-secret] connects to the tools of its delivery, lists them, and what it reports is kept', async () => {
    const headers: string[] = []
    const url = await listening({
      async onMessage(message, voice) {
        await voice.status('looking at the tools')
        headers.push(JSON.stringify(voice.mcpServers))
        const call = await voice.toolCall('list', { with: voice.mcpServers })
        const [service] = await voice.mcp()
        const { tools = [] } = (await service?.client.listTools()) ?? {}
        await voice.toolResult(call, `${tools.length} tools`)
        await voice.say(
          `${message.content}: ${tools
            .map((tool) => tool.name)
            .sort()
            .join(' ')}`,
        )
      },
    })
    const data = scene.folder()
    const config = writeChorusFront(data, url)
    const daemon = await scene.start({ data, config })
    await postDemo(daemon.url, 'tools', 'k1')
    await settled(data)
    expect(await turnsOf(data)).toMatchObject([{ state: 'answered' }])
    const [turn] = await turnsOf(data)
    const detail = await askJson(data, 'turns', 'show', turn?.id ?? '')
    expect(detail).toMatchObject({
      events: [
        { kind: 'tool_call', name: 'list' },
        { kind: 'tool_result', text: expect.stringMatching(/^\d+ tools$/) },
      ],
    })
    const [said] = await sendsOf(data)
    for (const tool of ['fetch_messages', 'get_roster', 'reply', 'send_message'])
      expect(said?.text).toContain(tool)
    await expectLedgerHolds(data)
    const bearer = /Bearer (\S+?)"/.exec(headers[0] ?? '')?.[1] ?? 'none'
    expect(bearer).toMatch(/^agent_/)
    for (const secret of [bearer, 'sk_planted4711', '/callback/'])
      expect(daemon.stderr() + JSON.stringify(detail)).not.toContain(secret)
  })

  it('[I9.tools-suffice] reads, reacts, has its files and answers with nothing but what the delivery gave it', async () => {
    const fake = await createFakeTelegram()
    scene.onEnd(() => fake.stop())
    const found: Record<string, unknown> = {}
    const url = await listening({
      async onMessage(message, voice) {
        const [service] = await voice.mcp()
        const call = async (name: string, args: Record<string, unknown> = {}) => {
          found[name] = await service?.client.callTool({ name, arguments: args })
        }
        await call('fetch_messages')
        await call('get_roster', { chat_id: voice.channel.id })
        await call('react', { message_id: message.id, emoji: '👍' })
        await call('download_attachment', { file_id: message.attachments?.[0]?.id })
        await call('download_attachment', { message_id: message.id })
        await call('reply', { text: 'I read it', reply_to: message.id })
      },
    })
    const data = scene.folder()
    writeFileSync(join(data, 'telegram.token'), fake.token, { mode: 0o600 })
    writeFileSync(join(data, 'agent.url'), url, { mode: 0o600 })
    const config = writeConfig(
      data,
      `integrations:
  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${fake.url}", access: { dm: allowlist, allow_from: ["412587349"] } }
agents:
  - id: far
    connector: { type: chorus, url: "file:agent.url", allow_private: true }
    inbound_bindings: [{ plugin: telegram, instance: tg }]
`,
    )
    await scene.start({ data, config })
    const kate = fake.person()
    kate.sendsFile({ name: 'notes.txt', mime: 'text/plain', content: 'the notes' })
    await until('its last tool came back', () => found.reply)
    await settled(data)
    const [turn] = await turnsOf(data)
    const text = (expected: unknown) => ({ content: [{ type: 'text', text: expected }] })
    expect(found.fetch_messages).toMatchObject(text(expect.stringContaining(`(id: ${turn?.message_id}`)))
    expect(found.get_roster).toMatchObject(text(expect.stringContaining('412587349')))
    expect(found.react).toMatchObject(text('reacted'))
    expect(found.download_attachment).toMatchObject({
      content: [
        { type: 'text', text: expect.not.stringContaining('/attachments/') },
        {
          type: 'resource',
          resource: { mimeType: 'text/plain', blob: Buffer.from('the notes').toString('base64') },
        },
      ],
      structuredContent: { files: [{ name: 'notes.txt', mime: 'text/plain', size: 9 }] },
    })
    expect(JSON.stringify(found)).not.toContain(data)
    expect(found.reply).toMatchObject(text(expect.stringMatching(/^sent \(id: \d+\)$/)))
    expect(await sendsOf(data)).toMatchObject([{ state: 'sent' }, { state: 'sent', text: 'I read it' }])
  })
})
