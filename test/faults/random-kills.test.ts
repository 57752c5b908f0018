// kill -9 at random while messages flow: nothing acknowledged is lost, order holds, repeats are marked.
import { expect, it } from 'vitest'
import type { Daemon } from './daemon.ts'
import { readEvents } from './event-reader.ts'
import { type Message, persist, postCrowd } from './hook-client.ts'
import {
  AGAIN,
  bare,
  expectAllAnswered,
  expectLedgerHolds,
  repeated,
  settled,
  turnsOf,
} from './river-checks.ts'
import { CROWD_SECRET, createScene, crowdConfig } from './scene.ts'
import { pause, until } from './until.ts'

const MESSAGES = 2_000
const CONVERSATIONS = 16
const KILLS = 22
/** So many of a conversation are on their way at once; the next ones follow when these are acknowledged. */
const BURST = 5
const PER_KILL = Math.ceil(MESSAGES / (KILLS + 1))

const scene = createScene()

it('[I2.kill9-random] [I2.kill9-order] [I2.kill9-marked] [S2.order-in-session] [S7.webhook-resumable] survives kill -9 at random, 22 times while 2,000 messages flow', async () => {
  const data = scene.folder()
  const config = crowdConfig(data)
  let daemon: Daemon | null = await scene.start({ data, config })
  const url = () => daemon?.url ?? null
  const reader = readEvents(() => (daemon ? `${daemon.url}/hooks/crowd/events?format=json&after=0` : null), {
    'x-webhook-secret': CROWD_SECRET,
  })
  scene.onEnd(() => reader.stop())
  await until('the reader watches', () => reader.connections() > 0)

  // Each kill gets its share of the messages, so that all kills happen while some flow.
  let kills = 0
  let begun = 0
  const acknowledged = new Map<string, { id: string; message: Message }>()
  const write = async (conversation: string) => {
    for (let burst = 0; burst < MESSAGES / CONVERSATIONS / BURST; burst += 1) {
      await until('the next share', () => begun < (kills + 1) * PER_KILL, 120_000)
      begun += BURST
      const sending = Array.from({ length: BURST }, async (_, n) => {
        const message = {
          conversation,
          key: `${conversation}-${burst}-${n}`,
          text: `${burst} ${n} ${conversation}`,
        }
        const { id } = await persist(url, (at) => postCrowd(at, message))
        acknowledged.set(message.key, { id, message })
      })
      await Promise.all(sending)
    }
  }
  const killAgainAndAgain = async () => {
    while (kills < KILLS) {
      const alive = daemon
      await pause(5 + Math.random() * 145)
      daemon = null
      await alive?.kill9()
      daemon = await scene.start({ data, config })
      kills += 1
    }
  }
  await Promise.all([
    killAgainAndAgain(),
    ...Array.from({ length: CONVERSATIONS }, (_, at) => write(`talk${at}`)),
  ])

  expect(acknowledged.size).toBe(MESSAGES)
  const status = await settled(data)
  expect(status.counts).toMatchObject({ received: MESSAGES, answered: MESSAGES, failed: 0, refused: 0 })
  await expectAllAnswered(data, acknowledged)
  await expectLedgerHolds(data)

  // The reader, which came back with its position each time, saw each answer once and in order.
  const seen = await until('the reader has seen all', () =>
    reader.events.length >= MESSAGES ? reader.events : null,
  )
  const shown = seen.map(
    ({ data: text }) => JSON.parse(text) as { id: string; conversation: string; text: string },
  )
  expect(repeated(shown.map((event) => event.id))).toEqual([])
  const turns = await turnsOf(data)
  for (let at = 0; at < CONVERSATIONS; at += 1) {
    const received = turns.filter((turn) => turn.address === `crowd:talk${at}`).map((turn) => turn.text)
    const answers = shown
      .filter((event) => event.conversation === `talk${at}`)
      .map((event) => bare(event.text))
    expect(answers).toEqual(received)
    // What was acknowledged before another was sent comes before it.
    const bursts = received.map((text) => Number(text.split(' ')[0]))
    expect(bursts).toEqual(bursts.toSorted((a, b) => a - b))
  }
  const again = turns.filter((turn) => turn.attempts > 1).length
  expect(shown.filter((event) => event.text.includes(AGAIN)).length).toBe(again)
})
