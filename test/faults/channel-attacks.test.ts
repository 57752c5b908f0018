// A host with a good token for its own agent that does what it can to another's: forged frames before a real daemon.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { audited, type ChannelScene, openChannel } from './channel-scene.ts'
import { askJson, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const INTACT = { ok: true, chain: 'intact', conservation: { ok: true } }

interface Frame {
  readonly t: string
  readonly id?: number
  readonly isError?: boolean
  readonly text?: string
  readonly reason?: string
}

/** A peer that writes its frames itself, with a token of the agent `mallory`. */
async function peer(place: ChannelScene) {
  const { token } = await askJson<{ token: string }>(
    ...([place.data, 'token', 'mint', '--kind', 'agent', '--agent', 'mallory'] as const),
  )
  const socket = new WebSocket(`${place.url().replace('http', 'ws')}/attach`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const heard: Frame[] = []
  let closed = false
  socket.on('message', (data) => void heard.push(JSON.parse(String(data)) as Frame))
  socket.on('close', () => {
    closed = true
  })
  socket.on('error', () => undefined)
  await new Promise<void>((resolve) => socket.on('open', () => resolve()))
  scene.onEnd(() => socket.terminate())
  return {
    heard,
    closed: () => closed,
    send: (frame: object | string) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
  }
}

const hello = (held: readonly object[] = []) => ({
  t: 'hello',
  v: 1,
  agent: 'mallory',
  dialect: 'claude',
  routingKey: null,
  held,
  asks: [],
  proven: true,
})

function open(): ChannelScene {
  const place = openChannel(scene)
  appendFileSync(place.config, '  - { id: mallory, connector: { type: channel } }\n')
  return place
}

describe('a host of another agent', () => {
  it('[S1.authorize-attach] cannot answer, acknowledge, read or use up what is not its own, whatever it claims to hold', async () => {
    const place = open()
    const claude = await place.claude()
    await place.say('for kate alone')
    const prompt = await until('it is there', () => claude.prompts[0])
    const chatId = prompt.meta.chat_id ?? ''
    const { id: turn } = await place.turn('for kate alone', 'handed')
    const mallory = await peer(place)
    // It says that it was handed kate's message, and one of its own after it, in the same chat.
    const held = (name: string, messageId: string) => ({ turn: name, session: 's', chatId, messageId })
    mallory.send(hello([held(turn, 'z1'), held('t_none', 'z2')]))
    mallory.send({ t: 'ready', client: 'mallory 1' })
    const calls: readonly object[] = [
      { tool: 'ack', input: { message_id: 'z1' } },
      { tool: 'reply', input: { chat_id: chatId, text: 'forged', reply_to: 'z2' } },
      { tool: 'reply', input: { chat_id: chatId, text: 'forged' }, proved: turn },
      { tool: 'fetch_messages', input: { chat_id: chatId } },
      { tool: 'get_roster', input: { chat_id: chatId } },
      { tool: 'download_attachment', input: { chat_id: chatId, message_id: prompt.meta.message_id } },
      { tool: 'reply', input: { chat_id: chatId, text: 'x', files: ['/etc/hostname'] } },
      { tool: 'pending_messages', input: {} },
    ]
    for (const [at, call] of calls.entries()) mallory.send({ t: 'call', id: at + 1, key: `k${at}`, ...call })
    const results = await until('all are answered', () => {
      const found = mallory.heard.filter(({ t }) => t === 'result')
      return found.length === calls.length && found
    })
    for (const { id, isError, text } of results)
      if (id === calls.length) expect(text).toBe('(nothing waits)')
      else expect({ id, isError }).toEqual({ id, isError: true })
    expect(JSON.stringify(results)).not.toContain('for kate alone')
    await place.turn('for kate alone', 'handed')
    // The same key as one of hers is another call.
    const answer = await claude.call('reply', { chat_id: chatId, text: 'from kate' }, 'k1')
    expect(answer).toMatchObject({ isError: false })
    await place.turn('for kate alone', 'answered')
    expect((await switchboard(place.data, 'outbox', '--json')).stdout).not.toContain('forged')
    expect(await audited(place.data)).toMatchObject(INTACT)
  })

  it.each([
    ['a kind that no text can be made of', '{"t":{"toString":1,"valueOf":1}}'],
    ['no JSON', '\u0000\u0001'],
    ['depth without end', '['.repeat(100_000)],
    ['another version', JSON.stringify({ ...hello(), v: 99 })],
    ['an agent that is not its own', JSON.stringify({ ...hello(), agent: 'kate' })],
  ])('%s ends its own connection, and the daemon goes on', async (_name, frame) => {
    const place = open()
    const claude = await place.claude()
    // A shim is served before the daemon's note is written.
    const pid = await until('its note', () => place.daemonPid())
    const mallory = await peer(place)
    mallory.send(frame)
    await until('it is closed', () => mallory.closed())
    expect(mallory.heard.at(-1)).toMatchObject({ t: 'refused', reason: expect.stringMatching(/./) })
    expect(await claude.call('pending_messages', {})).toMatchObject({ text: '(nothing waits)' })
    expect(place.daemonPid()).toBe(pid)
  })
})

describe('what a shim leaves behind', () => {
  it('is no credential: the log of the daemon that it starts has no link to the chat', async () => {
    const place = openChannel(scene, {
      integrations: '  - { id: web, platform: web }\n',
      bindings: ', { plugin: web, instance: web }',
    })
    await place.claude()
    const log = await until('its first line', () => {
      const text = readFileSync(join(place.data, 'daemon.log'), 'utf8')
      return text.includes('"ready":true') && text
    })
    expect(log).not.toMatch(/ticket=/)
  })

  it('and an attachment with a name that climbs stays in its folder', async () => {
    const place = openChannel(scene)
    const claude = await place.claude()
    mkdirSync(join(place.data, 'attachments', 'hook'), { recursive: true })
    writeFileSync(join(place.data, 'secret.txt'), 'state')
    await place.say('hello')
    const prompt = await until('it is there', () => claude.prompts[0])
    for (const file of [
      '../secret.txt',
      `${place.data}/attachments/hook/../../secret.txt`,
      '..%2fsecret.txt',
    ]) {
      const sent = await claude.call('reply', { chat_id: prompt.meta.chat_id, text: 'x', files: [file] })
      expect(sent.isError, file).toBe(true)
    }
    expect(await claude.call('download_attachment', { file_id: '../../secret.txt' })).toMatchObject({
      isError: true,
    })
    expect(existsSync(join(place.data, 'secret.txt'))).toBe(true)
  })
})
