// An agent made with the library, called by a real daemon: the tool endpoint of a delivery is its session's own.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../../src/chorus/index.ts'
import { writeChorusFront } from './chorus-front.ts'
import { postDemo } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { askJson, createScene } from './scene.ts'

const scene = createScene()

describe('an agent of the library', () => {
  it('[S8.mcp-scoped] [S8.library] [I9.tools-kept] [I9.tools-no-secret] connects to the tools of its delivery, lists them, and what it reports is kept', async () => {
    const headers: string[] = []
    const agent = createAgent({
      secret: 'sk_planted4711',
      allowPrivate: true,
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
    const server = createServer(agent.node)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    scene.onEnd(() => {
      server.closeAllConnections()
      server.close()
    })
    const data = scene.folder()
    const { port } = server.address() as AddressInfo
    const config = writeChorusFront(data, `http://127.0.0.1:${port}/inbox/sk_planted4711`)
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
})
