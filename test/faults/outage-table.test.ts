// Every fault of the TCP proxy × every call of every platform: delivered once or labelled, in order, or known. Prints the table.
import { afterAll, describe, it } from 'vitest'
import { defined } from '../../src/contract/index.ts'
import {
  CALLS,
  type Call,
  FAULTS,
  playTable,
  problemsOf,
  TABLE,
  TIMEOUT_MS,
  WORDS,
} from '../scenarios/outage-table.ts'
import { holdAnswers } from './hold-answers.ts'
import { until } from './until.ts'

const OVER_MS = 20_000
/** How long a fault lasts that no single call meets. */
const OUTAGE_MS = 2 * TIMEOUT_MS

const began = Date.now()
const cells: string[] = []
afterAll(() =>
  console.log(`fault × call (${Math.round((Date.now() - began) / 1_000)} s)\n${cells.toSorted().join('\n')}`),
)

describe('[I35.a1-table] [I35.a1-known] [I35.b1] outages', () => {
  for (const platform of TABLE) {
    const faults = FAULTS.filter(({ kind }) => platform.http || kind !== 'status')
    it.concurrent.for(faults)(
      `${platform.name}: $name at every call loses nothing, repeats nothing unlabelled, keeps the order`,
      { timeout: 180_000 },
      async ({ name, ...fault }, { expect }) => {
        const met: string[] = []
        const words: string[] = []
        const login = platform.calls.login
        // A port that refuses is no port of a call: it is closed for a while.
        const bench = await platform.open(login && { ...fault, on: login, times: 2 })
        try {
          playTable(bench)
          for (const call of CALLS) {
            const on = platform.calls[call]
            if (on === undefined) continue
            await meet(platform, bench, call, { ...fault, on })
            words.push(...WORDS[call])
            met.push(`${call} ${bench.proxy.fired}`)
            await until(
              `${platform.name}: ${call} under ${name}`,
              async () => (await problemsOf(bench, words)).length === 0,
              OVER_MS,
            ).catch(async () => expect(await problemsOf(bench, words), call).toEqual([]))
          }
          expect(met.length).toBe(CALLS.filter((call) => platform.calls[call] !== undefined).length)
          cells.push(`${platform.name.padEnd(9)} ${name.padEnd(22)} ${met.join(', ')}`)
        } finally {
          await bench.close()
        }
      },
    )
  }
})

describe('[I35.a1-table] [I35.b1] an outage of the whole platform', () => {
  const gateways = TABLE.filter(({ http }) => http)
  it.concurrent.for(gateways)(
    '$name: 502 to the send and to all that is asked behind it, for longer than two tries',
    { timeout: 180_000 },
    async (platform, { expect }) => {
      const bench = await platform.open()
      const { proxy } = bench
      try {
        playTable(bench)
        const bad = { kind: 'status', status: 502 } as const
        await proxy.fail({ ...bad, ...defined({ on: platform.calls.send }) })
        bench.says('send')
        await until('the send met it', () => proxy.fired > 0)
        await proxy.fail(bad)
        await pause(OUTAGE_MS * 10)
        await proxy.heal()
        const problems = () => problemsOf(bench, WORDS.send)
        await until(platform.name, async () => (await problems()).length === 0, OVER_MS).catch(() => 0)
        expect(await problems()).toEqual([])
      } finally {
        await bench.close()
      }
    },
  )
})

type Platform = (typeof TABLE)[number]
type Bench = Awaited<ReturnType<(typeof TABLE)[number]['open']>>
type Fault = Parameters<Bench['proxy']['fail']>[0]

/** Says the word while the fault waits for its call, and heals. */
async function meet(platform: Platform, bench: Bench, call: Call, fault: Fault): Promise<void> {
  const { proxy, store } = bench
  const before = proxy.fired
  if (call === 'login') {
    if (platform.loginAtSend) bench.says(call)
    if (fault.kind !== 'refuse') await until('the login met it', () => proxy.fired > 0)
    else if (platform.loginAtSend) await until('an answer waits', async () => (await waiting(store)) > 0)
    await pause(OUTAGE_MS)
    await proxy.heal()
    await until('the link is up', () => bench.isUp())
    if (!platform.loginAtSend) bench.says(call)
    return
  }
  if (call === 'read-back') {
    // The answer to the send is lost first; then the platform cannot be asked.
    await proxy.fail({ kind: 'reset-after', on: /T-back/, times: 1 })
    bench.says(call)
    await until('the answer is lost', () => proxy.fired > before)
    await proxy.fail(fault)
    await pause(2 * OUTAGE_MS)
    return proxy.heal()
  }
  if (fault.kind === 'refuse') {
    const answers = holdAnswers(bench)
    bench.says(call)
    // Received first: what comes in by the same server is another table's.
    await until('it is with the agent', () => bench.agent.deliveries.some(({ text }) => text.trim() === call))
    await proxy.fail(fault)
    answers.release()
    await until('what is to be sent waits', async () => (await waiting(store)) > 0)
    await pause(OUTAGE_MS)
    return proxy.heal()
  }
  await proxy.fail({ ...fault, times: 1 })
  bench.says(call)
  await until('the call met it', () => proxy.fired > before)
  // What is silent or slow lasts until our time-out.
  await pause(fault.kind === 'silent' || fault.kind === 'half-open' || fault.kind === 'slow' ? OUTAGE_MS : 0)
  await proxy.heal()
}

const waiting = async (store: Bench['store']) =>
  (await store.sends({ states: ['queued', 'sending'], limit: 10 })).length

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
