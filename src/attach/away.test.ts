// A daemon that goes away during work: the answer to a host's call, and to a verdict in progress.
import { expect, it, onTestFinished } from 'vitest'
import type { HostCall } from '../contract/index.ts'
import { createRecordingLog, createTestClock } from '../testing/index.ts'
import { createAttachClient } from './attach-client.ts'
import { createAttachServer } from './attach-server.ts'
import type { LinkEvents } from './frame-link.ts'
import { encodeFrame } from './frames.ts'

interface Said {
  readonly t: string
  readonly id?: number
  readonly asks?: readonly string[]
}

const ABSENT_MS = 15_000

/** A shim whose daemon the test plays, line by line. */
function opened() {
  const clock = createTestClock()
  const said: Said[] = []
  const links: LinkEvents[] = []
  const client = createAttachClient(
    {
      agent: 'kate',
      dialect: 'claude',
      routingKey: null,
      shim: 'shim-1',
      open(events) {
        links.push(events)
        return {
          send: (text) => void said.push(JSON.parse(text)),
          end: () => undefined,
          destroy: () => undefined,
        }
      },
    },
    {
      clock,
      log: createRecordingLog(),
      deliver: async () => undefined,
      verdict: async () => undefined,
      revive: () => undefined,
    },
  )
  client.start()
  client.ready(null)
  onTestFinished(() => client.stop())
  const frames = (t: string) => said.filter((one) => one.t === t)
  const say = (frame: Parameters<typeof encodeFrame>[0]) => links.at(-1)?.line(encodeFrame(frame).trim())
  const attach = async () => {
    links.at(-1)?.opened()
    say({ t: 'welcome', v: 1, permission: true, channels: false, version: '1' })
    await clock.settle()
  }
  return { clock, client, frames, say, attach, cut: () => links.at(-1)?.closed() }
}

it('[S6.ch-call-unknown] a call that went out is of unknown outcome when the daemon stays away, one that did not was not done', async () => {
  const { clock, client, attach, cut } = opened()
  await attach()
  const sent = client.call('reply', { text: 'x' }, 'k1')
  await clock.settle()
  cut()
  const unsent = client.call('reply', { text: 'y' }, 'k2')
  await clock.advance(ABSENT_MS)
  expect(await sent).toMatchObject({
    isError: true,
    structured: { ok: false, code: 'outcome_unknown' },
    text: expect.stringMatching(/not known.*fetch_messages/),
  })
  expect(await unsent).toBeNull()
})

it('[S6.ch-call-unknown] the time that a call waits is counted from the loss, and a daemon that is back answers it', async () => {
  const { clock, client, attach, cut, frames, say } = opened()
  await attach()
  let outcome: unknown = 'none'
  void client.call('reply', { text: 'x' }, 'k1').then((given) => {
    outcome = given
  })
  // The platform is slow, but the daemon is there.
  await clock.advance(ABSENT_MS - 1_000)
  cut()
  await clock.advance(ABSENT_MS - 1_000)
  expect(outcome).toBe('none')
  await attach()
  await clock.advance(ABSENT_MS - 5_000)
  expect(outcome).toBe('none')
  const [first, again] = frames('call')
  expect(again).toEqual(first)
  say({
    t: 'result',
    id: first?.id ?? 0,
    text: 'sent (id: 1)',
    isError: false,
    structured: {},
    proven: true,
    done: [],
    seen: [],
  })
  await clock.settle()
  expect(outcome).toMatchObject({ text: 'sent (id: 1)', isError: false })
})

it('[S6.ch-call-unknown] a daemon that is stopped lets calls finish first, and waits for none without end', async () => {
  const clock = createTestClock()
  const server = createAttachServer({
    clock,
    log: createRecordingLog(),
    version: '1',
    abilities: () => ({ permission: true, channels: false, services: false, oneWay: false }),
  })
  const answers: ((text: string) => void)[] = []
  server.open('kate', {
    dialect: 'claude',
    admit: () => ({
      async call(_call: HostCall) {
        const text = await new Promise<string>((resolve) => answers.push(resolve))
        return { text, isError: false, structured: {}, proven: true, done: [], seen: [] }
      },
      ask: async () => undefined,
      detached: () => undefined,
    }),
  })
  const peer = () => {
    const heard: Said[] = []
    const reader = server.accept({ send: (text) => void heard.push(JSON.parse(text)), end: () => undefined })
    reader.line(
      '{"t":"hello","v":1,"agent":"kate","dialect":"claude","routingKey":null,"held":[],"asks":[],"proven":false}',
    )
    reader.line('{"t":"ready","client":null}')
    reader.line('{"t":"call","id":1,"key":"k","tool":"reply","input":{}}')
    return () => heard.map(({ t }) => t)
  }
  const quick = peer()
  const stuck = peer()
  const closed = server.close()
  await clock.settle()
  answers[0]?.('sent')
  await clock.settle()
  expect([quick(), stuck()]).toEqual([['welcome', 'result'], ['welcome']])
  await clock.advance(5_000)
  await closed
  expect([quick(), stuck()]).toEqual([
    ['welcome', 'result', 'bye'],
    ['welcome', 'bye'],
  ])
})

it('[S10.verdict-waits] a verdict whose receipt was lost with the line is named in the next hello: it can be passed on', async () => {
  const { clock, client, attach, cut, frames, say } = opened()
  await attach()
  client.ask({ requestId: 'abcde', toolName: 'Bash', description: '', inputPreview: '' })
  const [ask] = frames('ask')
  say({ t: 'asked', id: ask?.id ?? 0 })
  say({ t: 'verdict', n: 1, requestId: 'abcde', behavior: 'allow' })
  cut()
  await clock.advance(2_000)
  await attach()
  expect(frames('hello').at(-1)?.asks).toEqual(['abcde'])
})
