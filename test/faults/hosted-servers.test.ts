// A real daemon with channel servers that do not behave beside one that does: none stops the others, and the ledger holds.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import type { Audit, Turn } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard, writeConfig } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const fixture = (name: string) =>
  fileURLToPath(new URL(`../../src/platforms/mcp/fixtures/${name}`, import.meta.url))
const node = (file: string, ...args: string[]) => ({
  command: process.execPath,
  args: [fixture(file), ...args],
})
const bad = (plan: object) => node('bad-server.mjs', JSON.stringify(plan))
const push = (method: string, params: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', method: `notifications/nexo/${method}`, params })

interface StatusShape {
  readonly servers: readonly {
    readonly name: string
    readonly state: string
    readonly restarts: number
    readonly noise: number
  }[]
}

describe('channel servers that do not behave', () => {
  it('stop neither the daemon nor the one that does, and are told for what they are', async () => {
    const data = scene.folder()
    const FLOOD = 5_000
    const verdicts = ['abcde', 'bcdef', 'x'].map((request_id) =>
      push('channel/permission', { request_id, behavior: 'allow' }),
    )
    const odd = [undefined, 5, 'x', { content: 1 }, { content: 'x', meta: { n: 3 } }].map((one) =>
      push('channel', one),
    )
    const mcp_servers = {
      good: { ...node('two-way-webhook.mjs'), env: { WEBHOOK_PORT: '0' } },
      flood: bad({ flood: FLOOD }),
      limited: bad({ flood: 500 }),
      hangs: bad({ initialize: 'hang' }),
      frail: bad({ dieMidMessage: true }),
      garbage: bad({ before: ['npm notice'], after: ['{', ...odd] }),
      eager: bad({ capabilities: { 'nexo/channel': {}, 'nexo/channel/permission': {} }, after: verdicts }),
      undeclared: bad({ capabilities: {}, after: [push('channel', { content: 'let me in' })] }),
    }
    const names = Object.keys(mcp_servers)
    const config = writeConfig(
      data,
      JSON.stringify({
        mcp_servers,
        // This is about what servers do, not about limits.
        tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } },
        integrations: [{ id: 'web', platform: 'web' }],
        agents: [
          {
            id: 'demo',
            connector: { type: 'demo' },
            channels: {
              enabled: true,
              approved: names.map((server) => ({
                server,
                ...(server === 'good' ? { outbound_tool_name: 'reply' } : { outbound_tool_name: 'emit' }),
                ...(server === 'limited' ? { rate_limit: { rps: 1, burst: 20 } } : {}),
              })),
            },
            inbound_bindings: [{ plugin: 'web', instance: 'web', allowed_channel_servers: names }],
          },
        ],
      }),
    )
    const daemon = await scene.start({ data, config })
    const status = () => askJson<StatusShape>(data, 'status')
    const server = async (name: string) => (await status()).servers.find((one) => one.name === name)

    // The one that behaves: a message around, through the agent and back.
    const listening = () => /listening on (\d+)/.exec(daemon.stderr())?.[1]
    const url = `http://127.0.0.1:${await until('the good one listens', listening)}/`
    const events = (await fetch(`${url}events`)).body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const watch = async () => {
      for (;;) {
        const { value, done } = (await events?.read()) ?? { done: true }
        if (done) return
        seen += value
      }
    }
    // It breaks off when the server ends with the daemon.
    watch().catch(() => undefined)
    await fetch(url, { method: 'POST', body: 'are you there?', headers: { 'x-sender': 'dev' } })
    await until('it is answered', () => /Reply to 1: .*are you there\?/.test(seen))

    await until('one hangs', async () => (await server('hangs'))?.state === 'connecting')
    await until('the frail one came back', async () => ((await server('frail'))?.restarts ?? 0) >= 1)
    expect((await server('frail'))?.noise).toBeGreaterThanOrEqual(1)
    await until('the noise is counted', async () => (await server('garbage'))?.noise === 2)

    const turns = (name: string) =>
      askLines<Turn>(data, 'turns', '--source', `channel:${name}`, '--limit', '10000')
    await until('the flood is in', async () => {
      const { counts } = await askJson<{ counts: Record<string, number> }>(data, 'status')
      return (counts.received ?? 0) >= FLOOD
    })
    await until('every one of it', async () => (await turns('flood')).length >= Math.min(FLOOD, 1_000))
    const refused = async (name: string) =>
      (await turns(name)).map(({ state, reason }) => `${state} ${reason}`)
    await until('the odd ones are recorded', async () => (await turns('garbage')).length === odd.length)
    expect(new Set(await refused('garbage'))).toEqual(new Set(['refused unparsable']))
    await until('the undeclared one is refused', async () => (await turns('undeclared')).length > 0)
    expect(await refused('undeclared')).toEqual(['refused gate_capability'])
    await until('its verdicts are recorded', async () => (await turns('eager')).length === verdicts.length)
    expect(new Set(await refused('eager'))).toEqual(new Set(['refused not_asked']))
    expect((await turns('limited')).filter(({ state }) => state !== 'refused').length).toBeLessThan(100)

    expect(await switchboard(data, 'doctor', '--json')).toMatchObject({ stderr: '' })
    await daemon.terminate()
    const audit = await askJson<Audit>(data, 'audit', 'verify')
    expect(audit).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
    expect(audit.conservation.received).toBeGreaterThanOrEqual(FLOOD + 500)
  })
})

describe('a server that keeps a port of its own', () => {
  const config = (data: string, port: number) =>
    writeConfig(
      data,
      JSON.stringify({
        mcp_servers: { hook: { ...node('two-way-webhook.mjs'), env: { WEBHOOK_PORT: String(port) } } },
        integrations: [{ id: 'web', platform: 'web' }],
        agents: [
          {
            id: 'demo',
            connector: { type: 'demo' },
            channels: { enabled: true, approved: [{ server: 'hook', outbound_tool_name: 'reply' }] },
            inbound_bindings: [{ plugin: 'web', instance: 'web', allowed_channel_servers: ['hook'] }],
          },
        ],
      }),
    )
  const says = (port: number, body: string) =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers: { 'x-sender': 'dev' } })
      .then((answer) => answer.ok)
      .catch(() => false)
  const answered = (data: string, text: string) => async () =>
    (await askLines<Turn>(data, 'turns', '--source', 'channel:hook')).some(
      (turn) => turn.text === text && turn.state === 'answered',
    )

  it('ends with the daemon, also with one that is killed, and its successor gets the port', async () => {
    const data = scene.folder()
    const port = await freePort()
    const first = await scene.start({ data, config: config(data, port) })
    await until('it listens', () => says(port, 'before'))
    await until('it is answered', answered(data, 'before'))
    await first.kill9()
    const second = await scene.start({ data, config: config(data, port) })
    await until('the old one is gone and the new one is up', async () => {
      const { servers } = await askJson<StatusShape>(data, 'status')
      return servers[0]?.state === 'up' && (await says(port, 'after'))
    })
    await until('it is answered', answered(data, 'after'))
    await second.terminate()
    expect(await says(port, 'nobody there')).toBe(false)
    expect(await askJson<Audit>(data, 'audit', 'verify')).toMatchObject({ ok: true })
  })
})

it('[I35.b15-hosted] kill -9 of the daemon ends its hosted servers before they see that their pipes end', async () => {
  const data = scene.folder()
  const alone = join(data, 'alone')
  const program = join(data, 'goes-on-alone.mjs')
  writeFileSync(
    program,
    `import { appendFileSync } from 'node:fs'
process.stdin.on('end', () => appendFileSync(${JSON.stringify(alone)}, 'went on'))
process.stdin.on('close', () => appendFileSync(${JSON.stringify(alone)}, 'closed'))
await import(${JSON.stringify(fixture('two-way-webhook.mjs'))})
`,
  )
  const names = Array.from({ length: 8 }, (_, at) => `hook${at}`)
  const server = { command: process.execPath, args: [program], env: { WEBHOOK_PORT: '0' } }
  const config = writeConfig(
    data,
    JSON.stringify({
      mcp_servers: Object.fromEntries(names.map((name) => [name, server])),
      integrations: [{ id: 'web', platform: 'web' }],
      agents: [
        {
          id: 'demo',
          connector: { type: 'demo' },
          channels: {
            enabled: true,
            approved: names.map((name) => ({ server: name, outbound_tool_name: 'reply' })),
          },
          inbound_bindings: [{ plugin: 'web', instance: 'web', allowed_channel_servers: names }],
        },
      ],
    }),
  )
  const daemon = await scene.start({ data, config })
  await until('all are up', async () => {
    const { servers } = await askJson<StatusShape>(data, 'status')
    return servers.length === names.length && servers.every(({ state }) => state === 'up')
  })
  const ports = [...daemon.stderr().matchAll(/listening on (\d+)/g)].map(([, port]) => port)
  expect(ports).toHaveLength(names.length)
  await daemon.kill9()
  const isUp = (port: string | undefined) =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
  await until('all are gone', async () => !(await Promise.all(ports.map(isUp))).includes(true))
  expect(existsSync(alone) ? readFileSync(alone, 'utf8') : '').toBe('')
})

describe('the last words of a server', () => {
  it('[I8.last-words] spoken while the daemon stops are stored, and answered by the next one', async () => {
    const data = scene.folder()
    const config = writeConfig(
      data,
      JSON.stringify({
        mcp_servers: {
          slack: bad({ onEof: [push('channel', { content: 'goodbye', meta: { chat_id: 'C1' } })] }),
        },
        integrations: [{ id: 'web', platform: 'web' }],
        agents: [
          {
            id: 'demo',
            connector: { type: 'demo' },
            channels: { enabled: true, approved: [{ server: 'slack', outbound_tool_name: 'emit' }] },
            inbound_bindings: [{ plugin: 'web', instance: 'web', allowed_channel_servers: ['slack'] }],
          },
        ],
      }),
    )
    const turns = async () =>
      (await askLines<Turn>(data, 'turns', '--source', 'channel:slack')).map(({ state }) => state)
    const first = await scene.start({ data, config })
    const up = async () => (await askJson<StatusShape>(data, 'status')).servers[0]?.state === 'up'
    await until('it is up', up)
    await first.terminate()
    expect(await turns()).toEqual(['queued'])
    const second = await scene.start({ data, config })
    await until('it is answered', async () => (await turns())[0] === 'answered')
    await until('it is up', up)
    await second.terminate()
    expect(await turns()).toHaveLength(2)
    expect(await askJson<Audit>(data, 'audit', 'verify')).toMatchObject({ ok: true })
  })
})
