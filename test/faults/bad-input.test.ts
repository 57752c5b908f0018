// What bad input gets from the real daemon: a clear answer, nothing half-done, and a link that lives on.
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { acknowledged, post, postDemo } from './hook-client.ts'
import { expectLedgerHolds, settled } from './river-checks.ts'
import { askLines, createScene, writeConfig } from './scene.ts'

const scene = createScene()
const DEV = { 'x-sender': 'dev' }

/** Bytes as they are, for what no client library would send. */
function raw(url: string, bytes: Buffer | string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(text))
  })
}

describe('bad input', () => {
  it('[S16.400] [S16.401] [S16.404] [S16.413] [S16.names-field] [S16.unparsable] [S16.link-survives] [S16.nothing-half-done] is told what is wrong, and the next good message passes', async () => {
    const data = scene.folder()
    const { url } = await scene.start({ data })
    const hook = `${url}/hooks/demo`
    const codeOf = (text: string) => (JSON.parse(text) as { code: string }).code

    const garbled = await fetch(hook, { method: 'POST', headers: DEV, body: Buffer.from([0xff, 0xfe, 0xc0]) })
    expect(garbled.status).toBe(400)
    expect(await garbled.text()).toContain('UTF-8')
    const packed = await post(hook, 'hello', { ...DEV, 'content-encoding': 'gzip' })
    expect(packed).toMatchObject({ status: 400, text: expect.stringContaining('body') })
    const field = await fetch(`${url}/api/status`)
    expect(field.status).toBe(401)
    expect(field.headers.get('www-authenticate')).toContain('Bearer')
    const nowhere = await post(`${url}/hooks/nobody`, 'hello', DEV)
    expect([nowhere.status, codeOf(nowhere.text)]).toEqual([404, 'not_found'])
    const wrongWay = await fetch(hook, { headers: DEV })
    expect([wrongWay.status, wrongWay.headers.get('allow')]).toEqual([405, 'POST'])
    const huge = await post(hook, 'x'.repeat(1_048_577), DEV)
    expect([huge.status, codeOf(huge.text)]).toEqual([413, 'too_large'])
    const position = await fetch(`${hook}/events`, { headers: { ...DEV, 'last-event-id': 'yesterday' } })
    expect(position.status).toBe(400)
    expect(await position.text()).toContain('Last-Event-ID')
    expect(await raw(url, 'this is not HTTP\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)

    acknowledged(await postDemo(url, 'x'.repeat(1_048_576)))
    const { counts } = await settled(data)
    expect(counts).toMatchObject({ received: 3, refused: 2, answered: 1 })
    const refused = await askLines<{ reason: string }>(data, 'turns', '--state', 'refused')
    expect(refused.map((turn) => turn.reason)).toEqual(['unparsable', 'unparsable'])
    await expectLedgerHolds(data)
  })

  it('[S16.429] [S2.rate-limited-counted] too many get 429 with Retry-After, are counted, and are not stored', async () => {
    const data = scene.folder()
    const config = writeConfig(
      data,
      `tunables: { sender_limit: { rps: 0.1, burst: 3 } }
integrations:
  - { id: demo, platform: webhook, sender_header: X-Sender, two_way: true, access: { dm: allowlist, allow_from: [dev] } }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: webhook, instance: demo }]
`,
    )
    const { url } = await scene.start({ data, config })
    const answers = []
    for (let n = 0; n < 5; n += 1) answers.push(await postDemo(url, `message ${n}`, `k${n}`))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429, 429])
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await settled(data)).toMatchObject({ counts: { received: 5, answered: 3, refused: 2 } })
    expect(await askLines(data, 'turns')).toHaveLength(3)
    await expectLedgerHolds(data)
  })

  it('[S14.http-healthz] [S14.http-readyz] [S14.http-metrics] health, readiness and metrics can be asked without a credential', async () => {
    const data = scene.folder()
    const { url } = await scene.start({ data })
    acknowledged(await postDemo(url, 'hello'))
    await settled(data)
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ ok: true })
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ ready: true })
    const metrics = await fetch(`${url}/metrics`)
    expect(metrics.status).toBe(200)
    expect(await metrics.text()).toMatch(/^# HELP switchboard_/m)
  })
})
