// A Chorus service before a real daemon that is its agent: callbacks that hang, are dead or never end their answer.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { expectLedgerHolds, sendsOf } from './river-checks.ts'
import { askJson, createScene, writeConfig } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

/** Its callbacks: `/slow/…` is never answered, the body of `/open/…` never ends, all others are well. */
async function openService() {
  const heard: { readonly path: string; readonly type: string; readonly status?: string }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const path = request.url ?? ''
    heard.push({ path, ...(JSON.parse(text) as { type: string; status?: string }) })
    if (path.startsWith('/slow/')) return
    response.writeHead(200).write('x')
    if (!path.startsWith('/open/')) response.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const end = () => {
    server.closeAllConnections()
    server.close()
  }
  scene.onEnd(end)
  const eventsAt = (path: string) =>
    heard.filter((one) => one.path === path).map(({ type, status }) => status ?? type)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, eventsAt, end }
}

async function openAgent() {
  const data = scene.folder()
  const config = writeConfig(
    data,
    `integrations:
  - { id: upstream, platform: chorus, allow_private: true }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: chorus, instance: upstream }]
`,
  )
  const daemon = await scene.start({ data, config })
  const { connection_string } = await askJson<{ connection_string: string }>(
    data,
    'chorus',
    'connect',
    'upstream',
  )
  const inbox = daemon.url + new URL(connection_string).pathname
  const deliver = async (channel: string, callback: string) => {
    const message = { id: 'm1', sender: 'alice', content: 'hello' }
    const body = JSON.stringify({ channel: { id: channel }, message, callback })
    expect((await fetch(inbox, { method: 'POST', body })).status).toBe(200)
  }
  /** What became of the answers, by channel. */
  const states = async () =>
    new Map((await sendsOf(data)).map(({ to, state }) => [to.split(/[:/]/).at(-1) ?? '', state]))
  return { data, deliver, states }
}

describe('callbacks of a service', () => {
  it('[F7.chorus-slow-callback] [S8.output-order] forty that hang and one that is dead delay no other channel', async () => {
    const service = await openService()
    const dead = await openService()
    dead.end()
    const { data, deliver, states } = await openAgent()
    const slow = Array.from({ length: 40 }, (_, n) => `slow-${n}`)
    for (const channel of slow) await deliver(channel, `${service.url}/slow/${channel}`)
    await deliver('dead', `${dead.url}/dead/1`)
    await until('all of them hang', () =>
      slow.every((channel) => service.eventsAt(`/slow/${channel}`).length > 0),
    )
    await deliver('quick', `${service.url}/quick/1`)
    await until('the quick one is over', () => service.eventsAt('/quick/1').includes('idle'))
    expect(service.eventsAt('/quick/1')).toEqual(['processing', 'message', 'idle'])
    const found = await states()
    expect(found.get('quick')).toBe('sent')
    for (const channel of [...slow, 'dead']) expect(found.get(channel)).toMatch(/^(queued|sending)$/)
    await expectLedgerHolds(data)
  })

  it('[S8.output-order] [S8.lifecycle] one that never ends its answer has answered: nothing is posted twice', async () => {
    const service = await openService()
    const { deliver, states } = await openAgent()
    await deliver('open', `${service.url}/open/1`)
    await until('it is over', () => service.eventsAt('/open/1').includes('idle'))
    expect(service.eventsAt('/open/1')).toEqual(['processing', 'message', 'idle'])
    expect((await states()).get('open')).toBe('sent')
  })
})
