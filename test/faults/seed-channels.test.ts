// The channels reference, row by row, against a real daemon: an MCP client that knows the reference and nothing else on our
// stdio, and its own example server behind a daemon that hosts it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { HOOK, openChannel } from './channel-scene.ts'
import { post } from './hook-client.ts'
import { hostedServer } from './hosted-seed.ts'
import { askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

interface Told {
  readonly method: string
  readonly params: { readonly content: string; readonly meta: Record<string, unknown> } & Record<
    string,
    unknown
  >
}

/** A host that keeps every notification as it came. */
async function attach(place: ReturnType<typeof openChannel>, more: string[] = []) {
  const told: Told[] = []
  const client = new Client({ name: 'reference', version: '1' })
  client.fallbackNotificationHandler = async (one) => void told.push(one as unknown as Told)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...place.shim, ...more],
    cwd: place.data,
    env: place.environment,
    stderr: 'ignore',
  })
  scene.onEnd(() => client.close())
  await client.connect(transport)
  const of = (method: string) => told.filter((one) => one.method === `notifications/${method}`)
  return { client, told, of, transport }
}

const PERMISSION = {
  request_id: 'abcde',
  tool_name: 'Bash',
  description: 'List the files of this directory',
  input_preview: '{"command":"ls -la"}',
}

describe('[I35.b46-seeds] the channels reference', () => {
  it.each(['claude', 'nexo'] as const)(
    'as the server of a host that speaks %s: what is declared, pushed, offered, asked and decided',
    async (dialect) => {
      const place = openChannel(scene, { dialect })
      const { client, of, told } = await attach(place, ['--dialect', dialect])
      const channel = `${dialect}/channel`

      // Server options: each object is {}, exactly these; instructions name the tag, its attribute and the tool.
      expect(client.getServerCapabilities()).toEqual({
        experimental: { [channel]: {}, [`${channel}/permission`]: {} },
        tools: {},
      })
      const instructions = client.getInstructions() ?? ''
      for (const word of ['<channel source=', 'chat_id=', '`reply`', 'Pass chat_id back'])
        expect(instructions).toContain(word)
      expect(client.getServerVersion()?.name).toBe('switchboard')
      await expect(client.request({ method: 'server/discover', params: {} }, z.any())).rejects.toMatchObject({
        code: -32601,
      })

      // The reply tool: its name and its schema.
      const { tools } = await client.listTools()
      const reply = tools.find(({ name }) => name === 'reply')
      expect(reply?.description).toMatch(/\S/)
      expect(reply?.inputSchema).toMatchObject({
        type: 'object',
        properties: {
          chat_id: { type: 'string', description: expect.any(String) },
          text: { type: 'string', description: expect.any(String) },
        },
        required: ['chat_id', 'text'],
      })

      // Gated by who speaks, before anything is pushed.
      const door = `${place.url()}/hooks/hook`
      expect((await post(door, 'let me in', { 'x-sender': 'eve' })).status).toBe(403)
      expect((await post(door, 'let me in', {})).status).toBe(403)

      // The notification: content as it was said, meta of texts under names of letters, digits and underscores; in order.
      const build = 'build failed on main: https://ci.example.com/run/1234'
      for (const text of [build, 'second', 'third']) await place.say(text)
      const pushed = await until('all three', () => of(channel).length === 3 && of(channel))
      expect(pushed.map(({ params }) => params.content)).toEqual([build, 'second', 'third'])
      for (const { params } of pushed) {
        expect(Object.keys(params).sort()).toEqual(['content', 'meta'])
        for (const [key, value] of Object.entries(params.meta)) {
          expect(key).toMatch(/^[A-Za-z0-9_]+$/)
          expect(value).toBeTypeOf('string')
        }
        expect(params.meta).toMatchObject({ chat_id: 'hook:dev', user: 'dev', platform: 'webhook' })
        expect(params.meta).not.toHaveProperty('source')
      }

      const call = async (name: string, args: Record<string, unknown>) => {
        const result = await client.callTool({ name, arguments: args })
        return { isError: result.isError === true, text: (result.content as { text: string }[])[0]?.text }
      }
      expect(await call('reply', { chat_id: pushed[0]?.params.meta.chat_id, text: 'on it' })).toEqual({
        isError: false,
        text: expect.stringMatching(/^sent/),
      })
      expect(await call('reply', { text: 'to nobody' })).toMatchObject({ isError: true })
      expect(await call('no_such_tool', {})).toEqual({ isError: true, text: 'unknown tool: no_such_tool' })

      // Relay: four strings in; shown in the chat; the verdict has two fields and the id as it was.
      const ask = (request_id: string) =>
        client.notification({
          method: `notifications/${channel}/permission_request`,
          params: { ...PERMISSION, request_id },
        } as never)
      const open = (id: string) =>
        until(`${id} is asked`, async () =>
          (await askLines<{ id: string; state: string }>(place.data, 'approvals', 'list')).find(
            (one) => one.id === id && one.state === 'pending',
          ),
        )
      const verdicts = () => of(`${channel}/permission`).map(({ params }) => params)
      const ROWS = [
        ['abcde', 'yes abcde', 'allow'],
        ['bcdef', ' Y BCDEF ', 'allow'],
        ['cdefg', 'no cdefg', 'deny'],
        ['defgh', 'N Defgh', 'deny'],
      ] as const
      for (const [id, said, behavior] of ROWS) {
        await ask(id)
        await open(id)
        const prompt = await switchboard(place.data, 'outbox', '--json')
        for (const part of ['Bash', PERMISSION.description, 'ls -la', `yes ${id}`, `no ${id}`])
          expect(prompt.stdout).toContain(part)
        await place.say(said)
        await until(`${id} is decided`, () => verdicts().some(({ request_id }) => request_id === id))
        expect(verdicts().at(-1)).toEqual({ request_id: id, behavior })
      }
      // Another form, and the right form for another id: talk, and the dialog stays open.
      await ask('fghij')
      await open('fghij')
      const TALK = ['approve it', 'yes', 'yes fghij please', 'yes zzzzz', 'yes alice']
      for (const text of TALK) await place.say(text)
      await until('they are talk', () => of(channel).length === 3 + TALK.length)
      expect(
        of(channel)
          .slice(3)
          .map(({ params }) => params.content),
      ).toEqual(TALK)
      expect(verdicts()).toHaveLength(ROWS.length)
      await open('fghij')
      const methods = new Set(told.map(({ method }) => method))
      expect(methods).toEqual(new Set([`notifications/${channel}`, `notifications/${channel}/permission`]))
    },
  )

  it('permission relay is declared only where senders are authenticated, and a one-way host is told', async () => {
    const open = (hook: string) => attach(openChannel(scene, { hook }))
    const anybody = await open(
      '  - { id: hook, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: ["*"] } }\n',
    )
    expect(anybody.client.getServerCapabilities()?.experimental).toEqual({ 'claude/channel': {} })
    const oneWay = await open(
      '  - { id: hook, platform: webhook, sender_header: X-Sender, access: { allow_from: [dev] } }\n',
    )
    expect(oneWay.client.getInstructions()).toMatch(/one way/)
  })

  it('its two-way webhook server, hosted: a chat, a reply, a prompt of four strings and both verdicts', async () => {
    const data = scene.folder()
    const hook = hostedServer(
      data,
      'webhook',
      {
        experimental: { 'claude/channel': {}, 'claude/channel/permission': {} },
        tools: {},
      },
      ['reply'],
    )
    // The first example has no tools at all: one way.
    const alarm = hostedServer(data, 'alarm', { experimental: { 'claude/channel': {} } }, [])
    const config = join(data, 'switchboard.yaml')
    writeFileSync(
      config,
      `integrations:
${HOOK}mcp_servers:
  webhook: ${hook.yaml}
  alarm: ${alarm.yaml}
agents:
  - id: kate
    connector: { type: demo }
    channels: { enabled: true, approved: [{ server: webhook, outbound_tool_name: reply }, { server: alarm }] }
    inbound_bindings: [{ plugin: webhook, instance: hook, allowed_channel_servers: [webhook, alarm] }]
`,
    )
    await scene.start({ data, config })
    for (const server of [hook, alarm]) await server.up()
    const build = 'build failed on main: https://ci.example.com/run/1234'
    await alarm.push({
      method: 'notifications/claude/channel',
      params: { content: build, meta: { severity: 'high', run_id: '1234' } },
    })
    const alarmed = await until('the alarm is answered', async () =>
      (await askLines<{ text: string; state: string }>(data, 'turns', '--source', 'channel:alarm')).find(
        ({ state }) => state === 'answered',
      ),
    )
    expect(alarmed.text).toBe(build)
    expect(await alarm.calls()).toEqual([])
    const say = (content: string, meta: object = { chat_id: '1', path: '/' }) =>
      hook.push({ method: 'notifications/claude/channel', params: { content, meta } })
    await say('list the files')
    const answer = await hook.call((one) => String(one.arguments.text).includes('list the files'))
    expect(answer).toEqual({ name: 'reply', arguments: { chat_id: '1', text: expect.any(String) } })

    for (const [behavior, words] of [
      ['allow', 'allowed by server:webhook'],
      ['deny', 'denied by server:webhook'],
    ] as const) {
      await say('deploy main')
      const asked = await until('it is asked', () =>
        hook
          .heard()
          .then((all) =>
            all
              .filter(({ method }) => method === 'notifications/claude/channel/permission_request')
              .at(behavior === 'allow' ? 0 : 1),
          ),
      )
      expect(asked.params).toEqual({
        request_id: expect.stringMatching(/^[a-km-z]{5}$/),
        tool_name: expect.any(String),
        description: expect.any(String),
        input_preview: expect.stringContaining('deploy --target main'),
      })
      await hook.push({
        method: 'notifications/claude/channel/permission',
        params: { request_id: asked.params.request_id, behavior },
      })
      await hook.call((one) => String(one.arguments.text).includes(words))
    }
    // Keys with other characters are dropped without a word; the message stays.
    await say('odd keys', { chat_id: '1', 'run-id': '7', 'a b': 'c', run_id: '1234' })
    await hook.call((one) => String(one.arguments.text).includes('odd keys'))
  })
})
