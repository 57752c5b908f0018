// A new user's journey on the real binary: listen, say something, approve something, pull the plug, find all as it was.
import { spawn } from 'node:child_process'
import { describe, expect, it, type TestContext } from 'vitest'
import type { Daemon } from './daemon.ts'
import { readEvents } from './event-reader.ts'
import { acknowledged, postDemo } from './hook-client.ts'
import { expectLedgerHolds, type Send, sendsOf, settled, type Turn, turnsOf } from './river-checks.ts'
import { askJson, askLines, createScene, run } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

interface Approval {
  readonly id: string
  readonly state: string
  readonly tool_name: string
}

/** Times move on; everything else of a row has to stay. */
const still = (rows: readonly (Turn | Send)[]) => rows.map(({ id, state, text }) => ({ id, state, text }))

describe('killed and started again', () => {
  it('[I2.restart-as-it-was] [I2.demo-remind-restart] [I2.demo-deploy] [S5.same-after-restart] [F7.session-restart] finds turns, answers, approvals and reminders as they were', async () => {
    const data = scene.folder()
    let daemon: Daemon | null = await scene.start({ data })
    const reader = readEvents(() => (daemon ? `${daemon.url}/hooks/demo/events` : null), {
      'x-sender': 'dev',
    })
    scene.onEnd(() => reader.stop())
    await until('the reader watches', () => reader.connections() > 0)
    const heard = (text: string) => () => reader.events.find((event) => event.data.includes(text))

    await postDemo(daemon.url, 'hello')
    await until('the answer is heard', heard('You said: hello'))
    await postDemo(daemon.url, 'deploy api')
    const prompt = await until('the question is heard', heard('deploy --target api'))
    await postDemo(daemon.url, 'remind me in 5s to stretch')
    await until('the promise is heard', heard('I will remind you in 5s'))
    const [turns, sends] = [await turnsOf(data), await sendsOf(data)]
    const sessions = await askLines<{ session: string }>(data, 'turns')
    const pending = await askLines<Approval>(data, 'approvals', 'list')
    expect(pending).toMatchObject([{ state: 'pending', tool_name: 'Deploy' }])
    const approval = pending[0]?.id ?? ''
    expect(prompt.data).toContain(`yes ${approval}`)

    await daemon.kill9()
    daemon = null
    // Without a daemon everything can be read.
    expect(still(await turnsOf(data))).toEqual(still(turns))
    daemon = await scene.start({ data })
    expect(still(await turnsOf(data)).map(({ id, text }) => ({ id, text }))).toEqual(
      still(turns).map(({ id, text }) => ({ id, text })),
    )
    expect(still(await sendsOf(data)).slice(0, sends.length)).toMatchObject(
      sends.map(({ id, text }) => ({ id, text })),
    )
    expect(await askLines<Approval>(data, 'approvals', 'list')).toMatchObject([
      { id: approval, state: 'pending' },
    ])
    await until('the reminder is heard', heard('⏰ Reminder: stretch'))

    // The question that was asked before the fall is answered after it, and asked once only.
    const decided = await postDemo(daemon.url, `yes ${approval}`)
    expect(decided).toMatchObject({ status: 200, text: 'verdict recorded' })
    await until('the deployment is heard', heard('🚀 Deployed'))
    await settled(data)
    expect(
      reader.events.filter((event) => event.event === 'message').map((event) => event.data.split('\n')[0]),
    ).toEqual([
      'You said: hello',
      expect.stringContaining('wants to run Deploy'),
      'I will remind you in 5s.',
      '⏰ Reminder: stretch',
      expect.stringContaining('🚀 Deployed'),
    ])
    await postDemo(daemon.url, 'hello again')
    await settled(data)
    const now = await askLines<{ session: string }>(data, 'turns')
    expect(new Set(now.map((turn) => turn.session).filter((id) => id !== null))).toEqual(
      new Set(sessions.map((turn) => turn.session)),
    )
    await expectLedgerHolds(data)
  })

  it('[S14.hook-duplicate] [S2.dup-key] a message sent again after the fall is known by its key', async () => {
    const data = scene.folder()
    const first = await scene.start({ data })
    const { id } = acknowledged(await postDemo(first.url, 'once', 'the-key'))
    await first.kill9()
    const second = await scene.start({ data })
    expect(acknowledged(await postDemo(second.url, 'once', 'the-key'))).toMatchObject({ id, duplicate: true })
    const { counts } = await settled(data)
    expect(counts).toMatchObject({ received: 1, answered: 1 })
  })
})

describe('with curl', () => {
  it("[I2.seed-curl] [S7.webhook-connected] the seed's lines work against /hooks/demo", async (context: TestContext) => {
    const data = scene.folder()
    const found = await run('curl', ['--version'], data).catch(() => null)
    if (found?.code !== 0) return context.skip('curl is missing')
    const { url } = await scene.start({ data })
    const curl = (...args: string[]) => run('curl', ['-s', '-w', '\n%{http_code}', ...args], data)

    const stream = spawn('curl', ['-s', '-N', '-H', 'X-Sender: dev', `${url}/hooks/demo/events`])
    scene.onEnd(() => void stream.kill('SIGKILL'))
    let heard = ''
    stream.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk
    })
    await until('curl is connected', () => heard.startsWith(': connected\n\n'))

    const build = 'build failed on main: https://ci.example.com/run/1234'
    const taken = await curl('-X', 'POST', `${url}/hooks/demo`, '-H', 'X-Sender: dev', '-d', build)
    expect(taken.stdout).toMatch(/^\{"ok":true,"id":"[^"]+","state":"queued"\}\n200$/)
    await until('the answer streams', () => heard.includes(`data: You said: ${build}\n`))

    await curl('-d', 'list the files in this directory', '-H', 'X-Sender: dev', `${url}/hooks/demo`)
    await until('the answer streams', () =>
      heard.includes('data: You said: list the files in this directory'),
    )

    await curl('-d', 'deploy', '-H', 'X-Sender: dev', `${url}/hooks/demo`)
    const [, id = ''] = await until('the question streams', () => /"yes ([a-km-z]{5})"/.exec(heard))
    const verdict = await curl('-d', `yes ${id}`, '-H', 'X-Sender: dev', `${url}/hooks/demo`)
    expect(verdict.stdout).toMatch(/200$/)
    await until('the deployment streams', () => heard.includes('🚀 Deployed'))

    const stranger = await curl('-d', 'let me in', `${url}/hooks/demo`)
    expect(stranger.stdout).toBe('forbidden\n403')
    const somebody = await curl('-d', 'let me in', '-H', 'X-Sender: mallory', `${url}/hooks/demo`)
    expect(somebody.stdout).toBe('forbidden\n403')
    const listener = await curl(`${url}/hooks/demo/events`)
    expect(listener.stdout).toBe('forbidden\n403')
    const { counts } = await askJson<{ counts: Record<string, number> }>(data, 'status')
    // The nameless one is turned away at the door; mallory has a name, so the refusal is recorded.
    expect(counts).toMatchObject({ received: 5, answered: 3, consumed: 1, refused: 1 })
  })
})
