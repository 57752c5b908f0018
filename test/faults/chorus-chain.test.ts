// Two Switchboards, one after the other: the first is the service, the second the agent. A message goes around, also
// when either of them is killed on the way, and no secret is in what they wrote.
import { describe, expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { dealtPlans } from '../scenarios/deal.ts'
import { writeChorusFront } from './chorus-front.ts'
import type { Daemon } from './daemon.ts'
import { postDemo } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { askJson, createScene, switchboard, writeConfig } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

/** A port that is ours for a moment: a daemon that was killed has to come back where its peer knows it. */
interface Chain {
  readonly front: { data: string; start(env?: Record<string, string>): Promise<Daemon> }
  readonly back: { data: string; start(env?: Record<string, string>): Promise<Daemon> }
  readonly secrets: string[]
}

async function openChain(): Promise<Chain & { first: Daemon; second: Daemon }> {
  const [frontPort, backPort] = [await freePort(), await freePort()]
  const back = place(
    (data) =>
      writeConfig(
        data,
        `server: { port: ${backPort}, public_url: "http://127.0.0.1:${backPort}" }
integrations:
  - { id: upstream, platform: chorus, allow_private: true }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: chorus, instance: upstream }]
`,
      ),
    backPort,
  )
  const second = await back.start()
  const { connection_string } = await askJson<{ connection_string: string }>(
    back.data,
    'chorus',
    'connect',
    'upstream',
  )
  expect(connection_string).toMatch(/\/inbox\/sk_[\w-]{43}$/)
  const head = `server: { port: ${frontPort}, public_url: "http://127.0.0.1:${frontPort}" }\n`
  const front = place((data) => writeChorusFront(data, connection_string, head), frontPort)
  const first = await front.start()
  return { front, back, first, second, secrets: [connection_string.split('/inbox/')[1] ?? ''] }
}

function place(configure: (data: string) => string, port: number) {
  const data = scene.folder()
  const config = configure(data)
  return {
    data,
    start: (env?: Record<string, string>) => scene.start({ data, config, port, ...(env ? { env } : {}) }),
  }
}

/** Each point on one of the two, in turn; on both with `npm run test:all`. */
const KILLS = [
  ['front', 'dispatch.before-hand-over'],
  ['back', 'dispatch.before-hand-over'],
  ['front', 'dispatch.after-hand-over'],
  ['front', 'dispatch.before-settle'],
  ['back', 'dispatch.before-settle'],
  ['front', 'dispatch.after-settle'],
  ['back', 'dispatch.after-settle'],
  ['back', 'outbox.before-send'],
  ['back', 'outbox.after-send'],
] as const

describe('two Switchboards, chained', () => {
  it('[S8.chained] [S8.connect] [S14.cli-chorus] [S14.json-chorus] [S14.http-inbox] [S14.http-callback] [S4.default-chorus] carry a message there and an answer back', async () => {
    const { front, back, first, second, secrets } = await openChain()
    expect((await postDemo(first.url, 'hello far away', 'k1')).status).toBe(200)
    await settled(front.data)
    await settled(back.data)
    expect((await turnsOf(front.data)).map((turn) => turn.state)).toEqual(['answered'])
    expect((await sendsOf(front.data)).map((send) => send.text)).toEqual(['You said: hello far away'])
    const [theirs] = await turnsOf(back.data)
    expect(theirs).toMatchObject({ state: 'answered', message_id: (await turnsOf(front.data))[0]?.id })
    await expectLedgerHolds(front.data)
    await expectLedgerHolds(back.data)
    // Nothing that opens a door was written down by either.
    const printed = first.stderr() + second.stderr()
    for (const secret of [...secrets, 'cb_', 'agent_', '/callback/', '/inbox/'])
      expect(printed).not.toContain(secret)
  })

  it.each(dealtPlans(KILLS, ([, point]) => point))(
    '[S8.chained] [S6.chorus-never-again] kill -9 of the %s at %s loses nothing',
    async (which, point) => {
      const { front, back, first, second } = await openChain()
      const [dying, victim] = which === 'front' ? [front, first] : [back, second]
      await victim.terminate()
      const doomed = await dying.start({ SWITCHBOARD_CRASH_AT: point })
      await postDemo(first === victim ? doomed.url : first.url, 'carry me', 'k1').catch(() => null)
      await doomed.exited
      const alive = await dying.start()
      const url = which === 'front' ? alive.url : first.url
      await until('the answer is there', async () => {
        const sends = await sendsOf(front.data)
        return sends.some((send) => send.text.includes('You said: carry me'))
      })
      await settled(front.data)
      await settled(back.data)
      const turns = await turnsOf(front.data)
      expect(turns.map((turn) => turn.state)).toEqual(['answered'])
      // The agent heard it once, whatever happened on the way: message.id is the key.
      expect(await turnsOf(back.data)).toHaveLength(1)
      expect((await postDemo(url, 'and again', 'k2')).status).toBe(200)
      await settled(front.data)
      expect((await turnsOf(front.data)).map((turn) => turn.state)).toEqual(['answered', 'answered'])
      await expectLedgerHolds(front.data)
      await expectLedgerHolds(back.data)
    },
  )

  it('[S8.rotate] [F7.chorus-rotated] a rotated connection string is dead at once, and the sender is told', async () => {
    const { front, back, first } = await openChain()
    const rotated = await askJson<{ connection_string: string; revoked: number }>(
      back.data,
      'chorus',
      'rotate',
      'upstream',
    )
    expect(rotated.revoked).toBe(1)
    await postDemo(first.url, 'anybody?', 'k1')
    await settled(front.data)
    expect(await turnsOf(front.data)).toMatchObject([{ state: 'failed', reason: 'agent_rejected' }])
    const [notice] = await sendsOf(front.data)
    expect(notice?.text).toContain('the agent answered 404')
    expect((await switchboard(back.data, 'chorus', 'list')).stdout).toContain('revoked')
    const verified = await switchboard(
      back.data,
      'chorus',
      'verify',
      rotated.connection_string,
      '--allow-private',
    )
    expect(verified.stdout + verified.stderr).not.toContain(rotated.connection_string.split('sk_')[1])
    expect(verified.stdout.split('\n').filter((line) => line.startsWith('✗'))).toEqual([])
    expect(verified.code).toBe(0)
  })
})
