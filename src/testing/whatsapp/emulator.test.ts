// `switchboard emulate whatsapp` through its HTTP endpoints, as a person at a terminal uses it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunningEmulator } from '../../contract/index.ts'
import { FAULT_KINDS } from '../faults/fault-plan.ts'
import { emulateWhatsApp } from './emulator.ts'

let emulator: RunningEmulator
const heard: string[] = []
beforeEach(async () => {
  heard.length = 0
  emulator = await emulateWhatsApp({ port: 0, faults: [], onBot: (line) => heard.push(line) })
})
afterEach(() => emulator.stop())

const request = async (path: string, body?: unknown) => {
  const response = await fetch(
    emulator.url + path,
    body === undefined
      ? {}
      : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
  )
  const text = await response.text()
  return {
    status: response.status,
    body: (text.startsWith('{') ? JSON.parse(text) : text) as Record<string, unknown>,
  }
}
const graph = (path: string, body: object) =>
  fetch(`${emulator.url}/v25.0/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messaging_product: 'whatsapp', to: '4915112345678', ...body }),
  })
const messages = `${'106540352242922'}/messages`

describe('[I24.wa-emulate] switchboard emulate whatsapp', () => {
  it('prints keys and environment that belong together', () => {
    const named = Object.values(emulator.integration).filter((value) => value.startsWith('env:'))
    expect(named.map((one) => one.slice(4)).toSorted()).toEqual(Object.keys(emulator.environment).toSorted())
    expect(emulator.integration).toMatchObject({ platform: 'whatsapp', api_url: emulator.url })
  })

  it('has a person who writes, reads, taps and comes late, and shows the chat and its window', async () => {
    emulator.says('hello')
    expect((await request('/_person', { text: 'again' })).body).toMatchObject({ ok: true })
    expect((await graph(messages, { type: 'text', text: { body: 'an answer' } })).status).toBe(200)
    await vi.waitFor(() => expect(heard).toEqual(['text: an answer']))
    expect((await request('/_person', { read: true })).body).toEqual({ ok: true })
    const { body } = await request('/_chat/4915112345678')
    expect(body).toMatchObject({
      window_open: true,
      messages: [{ text: 'hello' }, { text: 'again' }, { text: 'an answer', from_bot: true }],
    })
    await request('/_person', { from: '4977', text: 'late', hours_ago: 25 })
    expect((await request('/_chat/4977')).body).toMatchObject({ window_open: false })
    expect((await request('/')).body).toContain('WhatsApp emulator')
  })

  it('has templates, a token that expires, and every fault plan', async () => {
    await request('/_template', { name: 'order', language: 'en', body: 'Order {{1}}' })
    emulator.says('hi')
    const template = {
      name: 'order',
      language: { code: 'en' },
      components: [{ type: 'body', parameters: [{ type: 'text', text: '7' }] }],
    }
    expect((await graph(messages, { type: 'template', template })).status).toBe(200)
    expect(heard).toEqual(['template: Order 7'])
    await request('/_token', { expired: true })
    expect((await graph(messages, { type: 'text', text: { body: 'x' } })).status).toBe(401)
    await request('/_token', { expired: false })
    const kinds = Object.keys(FAULT_KINDS)
    expect(kinds.length).toBeGreaterThan(10)
    for (const kind of kinds)
      expect((await request('/_faults', { faults: [{ on: 'messages', do: kind }] })).status).toBe(200)
    expect((await request('/_faults', { faults: [{ on: 'messages', do: 'explode' }] })).status).toBe(400)
    await request('/_faults', { faults: [{ on: 'messages', do: 'error', status: 503 }] })
    expect((await graph(messages, { type: 'text', text: { body: 'x' } })).status).toBe(503)
  })

  it('says what it does not understand', async () => {
    for (const [path, body] of [
      ['/_person', {}],
      ['/_person', 'no json'],
      ['/_person', { tap: 'no such button' }],
      ['/_webhook', { url: 'http://127.0.0.1:9/x' }],
    ] as const)
      expect([path, (await request(path, body)).status]).toEqual([path, 400])
    expect((await request('/_nothing', {})).status).toBe(404)
  })
})
