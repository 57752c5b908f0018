// iMessage from outside, over a real daemon that is killed again and again. Messages is the double, in this process: it outlives the daemon,
// and its database goes on. A module of the test's own makes the adapter believe that this is a Mac.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { createMessagesDouble } from '../../src/testing/imessage/messages-double.ts'
import { buildForTest } from './build-for-test.ts'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, turnsOf } from './river-checks.ts'
import { askJson, askLines, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const KATE = '+4915112345678'
const HOOK_SECRET = 'one-secret-for-the-hooks'

interface Send {
  readonly text: string | null
  readonly state: string
  readonly platform_ids?: readonly string[]
}

let built = ''
// A copy of the adapter's own code, as a module of others has one.
beforeAll(async () => {
  built = await buildForTest('src/platforms/imessage/module.ts', 'src/platforms/imessage/index.ts')
})
const adapter = (file: string) => JSON.stringify(pathToFileURL(join(built, file)))

function openMessages() {
  const data = scene.folder()
  const double = createMessagesDouble(scene.folder())
  scene.onEnd(() => double.close())
  writeFileSync(
    join(data, 'here.mjs'),
    `import { createIMessage } from ${adapter('index.js')}
import { imessageModule } from ${adapter('module.js')}
const double = { system: 'darwin', osascript: ${JSON.stringify(double.osascript)}, timings: { pollMs: 50, lookMs: 20 } }
export const version = '1.0.0'
export const platforms = [
  { ...imessageModule, name: 'messages', doctor: () => [], create: async (deps) => createIMessage(deps, double) },
]
`,
  )
  writeFileSync(join(data, 'hook.secret'), HOOK_SECRET, { mode: 0o600 })
  const config = join(data, 'switchboard.yaml')
  writeFileSync(
    config,
    `modules: [./here.mjs]
integrations:
  - { id: im, platform: messages, db_path: "${double.dbPath}", default: true,
      access: { dm: allowlist, allow_from: ["${KATE}"], approvers: ["${KATE}"] } }
  - { id: crowd, platform: webhook, secret: "file:hook.secret", signature: plain, two_way: true }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: messages, instance: im }, { plugin: webhook, instance: crowd }]
`,
  )
  const options = { data, config }
  return {
    double,
    data,
    start: () => scene.start(options),
    /** A daemon that dies by its own hand at the point, on its way through what was said. */
    async dieAt(point: string, text: string) {
      double.says(KATE, text)
      const doomed = scene.launch({ ...options, env: { SWITCHBOARD_CRASH_AT: point } })
      expect((await doomed.exited).signal).toBe('SIGKILL')
    },
    sees: (part: string) => until(part, () => double.shown(KATE).find((text) => text.includes(part))),
    copies: (part: string) => double.shown(KATE).filter((text) => text.includes(part)),
  }
}

async function notifyWithClaim(daemon: Daemon, session: string): Promise<string> {
  const of = ['--agent', 'demo', '--session', session, '--kind', 'notify']
  const { token } = await askJson<{ token: string }>(daemon.data, 'token', 'mint', ...of)
  const params = {
    name: 'notify_user',
    arguments: { message: 'Job done. Go on?', claim_thread: true, claim_thread_label: 'ops' },
  }
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return (await post(`${daemon.url}/mcp/notify`, call, headers)).text
}

describe('[I24.im-kill] imessage across kill -9', () => {
  it('[I24.im-confirm] what Messages sent before the kill is known by its row; an approval that was given while nobody was there counts once', async () => {
    const { double, data, start, dieAt, sees, copies } = openMessages()
    double.says(KATE, 'before it began')
    const first = await start()
    await first.kill9()
    // Nothing came before the kill: where it began was kept.
    double.says(KATE, 'while nobody was there')
    const second = await start()
    await sees('You said: while nobody was there')
    await second.kill9()
    for (const point of [
      'outbox.after-send',
      'outbox.after-receipt',
      'dispatch.before-hand-over',
      'outbox.before-send',
    ]) {
      await dieAt(point, `at ${point}`)
      const next = await start()
      await sees(`You said: at ${point}`)
      await until('it is settled', async () =>
        (await askLines<Send>(data, 'outbox', '--limit', '100')).every(({ state }) => state === 'sent'),
      )
      await next.kill9()
    }
    const third = await start()
    double.says(KATE, 'deploy')
    const asked = await sees('demo wants to run Deploy')
    await third.kill9()
    double.says(KATE, `yes ${/yes ([a-z]{5})/.exec(asked)?.[1]}`)
    await start()
    await sees('Deployed')
    const parts = [
      'You said: while nobody was there',
      'You said: at outbox.after-send',
      'You said: at outbox.after-receipt',
      'You said: at dispatch.before-hand-over',
      'Deployed',
    ]
    expect(parts.map((part) => [part, copies(part).length])).toEqual(parts.map((part) => [part, 1]))
    expect(copies('before it began')).toEqual([])
    // Killed before the script was started: nobody can tell, so at most once more, and then with a label.
    const unsure = copies('You said: at outbox.before-send')
    expect(unsure.filter((text) => !text.includes('may be a duplicate')).length).toBeLessThanOrEqual(1)
    await expectLedgerHolds(data)
  })

  it('a claim: the answer to the notification reaches the session that spoke, though it was given to nobody', async () => {
    const { double, data, start, sees } = openMessages()
    const first = await start()
    double.says(KATE, 'hello')
    await sees('You said: hello')
    await post(`${first.url}/hooks/crowd`, 'job started', {
      'x-webhook-secret': HOOK_SECRET,
      'x-conversation': 'ops',
    })
    type Turn = Awaited<ReturnType<typeof turnsOf>>[number] & { readonly session: string }
    const answered = (part: string) =>
      until(part, async () =>
        (await turnsOf(data)).find(({ text, state }) => text?.includes(part) && state === 'answered'),
      ) as Promise<Turn>
    const { session } = await answered('job started')
    expect(await notifyWithClaim(first, session)).toContain('Notification sent via')
    await sees('Job done')
    const sent = await askLines<Send>(data, 'outbox', '--limit', '100')
    const [guid] = sent.find(({ text }) => text?.includes('Job done'))?.platform_ids ?? []
    if (guid === undefined) throw new Error('the notification has no guid')
    await first.kill9()
    double.says(KATE, 'go on', { replyTo: guid })
    await start()
    expect((await answered('go on')).session).toBe(session)
    await expectLedgerHolds(data)
  })
})
