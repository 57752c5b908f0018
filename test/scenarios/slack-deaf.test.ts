// Slack that says it is connected and hears nothing, or not everything: the history has what the link did not bring, and each
// message is answered once. Time runs faster here, because what is younger than a minute is not missed yet.
import { describe, expect, it } from 'vitest'
import { historyPlansFor } from '../../src/testing/emulate.ts'
import { until } from '../faults/until.ts'
import { LATE_MS, plansOnSharedStores, TALK_LIMIT_MS } from './fault-plan-talk.ts'
import { openSlackRiver, type SlackRiverOptions } from './slack-river.ts'

const FASTER = 300
/** On a clock that runs so fast, what waits for this machine must wait for long. */
const TIMINGS = {
  requestTimeoutMs: 3_000_000,
  helloMs: 900_000,
  pingMs: 900_000,
  namesMs: 300_000,
  drainMs: 30_000,
}
const CHANNEL = 'C0GENERAL'

const GROUPS = { [CHANNEL]: { requireMention: true, allowFrom: [] } }

async function answersFifty(options: SlackRiverOptions): Promise<void> {
  const river = await openSlackRiver({ ...options, groups: GROUPS, ackMs: 2_000 })
  try {
    const { fake, kate, store } = river
    const inChannel = fake.person({ channel: CHANNEL })
    await until('the link', () => fake.socket.open() > 0)
    const root = inChannel.says('@switchboard root')
    const words = ['root']
    const said = (word: string) => {
      words.push(word)
      return word
    }
    for (let at = 0; at < 29; at++) kate.says(said(`direct${at}.`))
    for (let at = 0; at < 10; at++) inChannel.says(`@switchboard ${said(`channel${at}.`)}`)
    for (let at = 0; at < 10; at++)
      inChannel.says(`@switchboard ${said(`thread${at}.`)}`, { thread: root.ts })
    expect(words).toHaveLength(50)
    const answers = () => [...kate.sees(), ...inChannel.sees()]
    const copies = (word: string) => answers().filter((text) => text.includes(`You said: ${word}`)).length
    await until('all answers', () => words.every((word) => copies(word) > 0), LATE_MS)
    await until(
      'the outbox is empty',
      async () => (await store.sends({ states: ['queued', 'sending'], limit: 10 })).length === 0,
    )
    expect(words.filter((word) => copies(word) !== 1)).toEqual([])
    const turns = (await store.turns({ limit: 200 })).filter((turn) => turn.state === 'answered')
    expect(turns).toHaveLength(50)
    expect(turns.filter((turn) => turn.lateAt !== null).length).toBeGreaterThan(0)
    expect(fake.fired.length).toBeGreaterThan(0)
    expect(await store.verify()).toMatchObject({ ok: true, conservation: { ok: true } })
  } finally {
    await river.close()
  }
}

describe('slack, deaf', () => {
  it.each(historyPlansFor('envelope'))(
    '[I15.deaf-50] [I15.history] $name: 50 messages in a chat, a channel and a thread are each answered once',
    ({ faults }) => answersFifty({ faster: FASTER, timings: TIMINGS, faults }),
    TALK_LIMIT_MS,
  )

  it.concurrent.for(plansOnSharedStores(historyPlansFor('envelope')))(
    '[I15.deaf-50] [I15.history] $name on $arrangement: 50 messages are each answered once',
    { timeout: TALK_LIMIT_MS },
    ({ faults, arrangement }, { expect }) =>
      expect(answersFifty({ arrangement, faults, timings: { chatIntervalMs: 10 } })).resolves.toBeUndefined(),
  )
})
