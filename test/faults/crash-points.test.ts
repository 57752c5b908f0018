// kill -9 at each named crash point, by the process itself at the very line: nothing is lost, repeats are marked, and
// nothing is sent twice under one key.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { dealtPlans } from '../scenarios/deal.ts'
import type { Daemon } from './daemon.ts'
import { type Message, persist, postCrowd, postDemo } from './hook-client.ts'
import { expectAllAnswered, expectLedgerHolds, sendsOf, settled } from './river-checks.ts'
import { askJson, createScene, crowdConfig, writeConfig } from './scene.ts'

const scene = createScene()

/** The point, and at which of its passes the process ends. Commits happen during the start too, hence the odd counts. */
const POINTS: readonly (readonly [string, readonly number[]])[] = [
  ['store.before-commit', [1, 6, 12]],
  ['store.after-commit', [1, 6, 12]],
  ['dispatch.before-hand-over', [1, 5]],
  ['dispatch.after-hand-over', [1, 5]],
  ['dispatch.before-settle', [1, 5]],
  ['dispatch.after-settle', [1, 5]],
  ['outbox.before-send', [1, 5]],
  ['outbox.after-send', [1, 5]],
  ['outbox.after-receipt', [1, 5]],
]

// During the start, and each point at one of its passes; at all of them with `npm run test:all`.
const PASSES = POINTS.flatMap(([name, times]) => times.map((time) => `${name}@${time}`))
const CASES = [
  ...new Set([
    ...['store.before-commit@1', 'store.after-commit@1'],
    ...dealtPlans(PASSES, (pass) => pass.replace(/@.*/, '')),
  ]),
]

/** Three conversations of six messages: three on their way at once in each. */
async function writeAll(url: () => string | null) {
  const acknowledged = new Map<string, { id: string; message: Message }>()
  const write = async (conversation: string, from: number) => {
    for (let n = from; n < 6; n += 3) {
      const message = { conversation, key: `${conversation}-${n}`, text: `${conversation} says ${n}` }
      const { id } = await persist(url, (at) => postCrowd(at, message))
      acknowledged.set(message.key, { id, message })
    }
  }
  await Promise.all(['ada', 'bo', 'cy'].flatMap((name) => [0, 1, 2].map((from) => write(name, from))))
  return acknowledged
}

describe('kill -9 at a crash point', () => {
  it.each(CASES)(
    '[I2.crash-points] [S2.redeliver-restart] [S2.redelivery-marked] [S2.one-transaction] loses nothing at %s',
    async (point) => {
      const data = scene.folder()
      const config = crowdConfig(data)
      let daemon: Daemon | null = null
      const first = scene.launch({ data, config, env: { SWITCHBOARD_CRASH_AT: point } })
      daemon = await first.ready
      const writing = writeAll(() => daemon?.url ?? null)
      expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' })
      daemon = await scene.start({ data, config })

      const acknowledged = await writing
      expect(acknowledged.size).toBe(18)
      const { counts } = await settled(data)
      expect(counts).toMatchObject({ received: 18, answered: 18, failed: 0, refused: 0, expired: 0 })
      await expectAllAnswered(data, acknowledged)
      await expectLedgerHolds(data)
    },
  )

  it('[S11.idempotency-key] [S11.crash-idempotent] sends once what was ordered again with the same key', async () => {
    const data = scene.folder()
    const first = scene.launch({ data, env: { SWITCHBOARD_CRASH_AT: 'outbox.after-send' } })
    await first.ready
    const order = ['send', 'demo:dev', 'only once', '--key', 'order-1'] as const
    await expect(askJson(data, ...order)).rejects.toThrow(/exited 1/)
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' })

    await scene.start({ data })
    const again = await askJson<{ status: string; outbox_id: string }>(data, ...order)
    const more = await askJson<{ status: string; outbox_id: string }>(data, ...order)
    expect(again.status).toBe('sent')
    expect(more).toEqual(again)
    const sends = await sendsOf(data)
    expect(sends.map(({ id, state, text }) => ({ id, state, text }))).toEqual([
      { id: again.outbox_id, state: 'sent', text: 'only once' },
    ])
    await expectLedgerHolds(data)
  })
})

describe('a platform that cannot tell a repeat', () => {
  /** Somebody else's URL, which takes everything. */
  async function foreign() {
    const bodies: { message: string; id: string }[] = []
    const server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      request.once('end', () => {
        bodies.push(JSON.parse(body) as { message: string; id: string })
        response.end('ok')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    scene.onEnd(() => {
      server.closeAllConnections()
      server.close()
    })
    return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in` }
  }

  function postsTo(data: string, url: string, policy: string): string {
    return writeConfig(
      data,
      `tunables: { unknown_policy: ${policy} }
integrations:
  - id: demo
    platform: webhook
    sender_header: X-Sender
    out: { url: "${url}", allow_private: true }
    access: { dm: allowlist, allow_from: [dev] }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: webhook, instance: demo }]
`,
    )
  }

  it('[S11.crash-unknown] [S2.sent-means-confirmed] resends once, with a note that anybody can see', async () => {
    const data = scene.folder()
    const { bodies, url } = await foreign()
    const config = postsTo(data, url, 'note')
    const first = scene.launch({ data, config, env: { SWITCHBOARD_CRASH_AT: 'outbox.after-send' } })
    const daemon = await first.ready
    await postDemo(daemon?.url ?? '', 'hello')
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(bodies.map((body) => body.message)).toEqual(['You said: hello'])

    await scene.start({ data, config })
    const { outbox } = await settled(data)
    expect(outbox).toMatchObject({ sent: 1, unknown: 0, failed: 0 })
    expect(bodies).toHaveLength(2)
    expect(bodies[1]?.message).toMatch(/^\(may be a duplicate.*\)\n\nYou said: hello$/s)
    expect(bodies[1]?.id).toBe(bodies[0]?.id)
    await expectLedgerHolds(data)
  })

  it('[S11.crash-unknown] leaves it to the operator where the policy says so', async () => {
    const data = scene.folder()
    const { bodies, url } = await foreign()
    const config = postsTo(data, url, 'hold')
    const first = scene.launch({ data, config, env: { SWITCHBOARD_CRASH_AT: 'outbox.after-send' } })
    const daemon = await first.ready
    await postDemo(daemon?.url ?? '', 'hello')
    await first.exited

    await scene.start({ data, config })
    const { outbox } = await settled(data)
    expect(outbox).toMatchObject({ sent: 0, unknown: 1, failed: 0 })
    expect(bodies).toHaveLength(1)
    expect(await sendsOf(data)).toMatchObject([{ state: 'unknown', reason: 'unconfirmed' }])
  })
})
