// Every fault of the TCP proxy before the link of every platform that holds one: Socket Mode, the gateway of Discord, IMAP. What is
// written meanwhile arrives once and in order, and a link that hears nothing says so. Prints the table.
import { afterAll, describe, expect, it } from 'vitest'
import {
  CALL_FAULTS,
  FRAME_FAULTS,
  LINK_FAULTS,
  LINK_TABLE,
  type LinkBench,
  type LinkPlatform,
} from '../scenarios/link-table.ts'
import { holdAnswers } from './hold-answers.ts'
import { pause, until } from './until.ts'

const began = Date.now()
const cells: string[] = []
afterAll(() =>
  console.log(`fault × link (${Math.round((Date.now() - began) / 1_000)} s)\n${cells.toSorted().join('\n')}`),
)

const CASE_MS = 120_000
const OVER_MS = 40_000

async function within(platform: LinkPlatform, play: (bench: LinkBench) => Promise<string>, name: string) {
  const bench = await platform.open()
  try {
    await expectWell(bench)
    bench.says('before')
    await heard(bench, 'before')
    await expectWell(bench)
    cells.push(`${platform.name.padEnd(9)} ${name.padEnd(28)} ${await play(bench)}`)
  } finally {
    await bench.close()
  }
}

const texts = ({ agent }: LinkBench) => agent.deliveries.map(({ text }) => text.trim())

const heard = (bench: LinkBench, word: string) =>
  until(`"${word}" is with the agent`, () => texts(bench).includes(word), OVER_MS).catch((thrown) =>
    expect(texts(bench), String(thrown)).toContain(word),
  )

const problemsOf = async ({ doctor }: LinkBench) =>
  (await doctor()).problems.map(({ code, text }) => `${code}: ${text}`)

/** Up, compared with its history, and nothing to be said by `doctor`. */
async function expectWell(bench: LinkBench) {
  const isWell = async () => bench.state() === 'up' && (await problemsOf(bench)).length === 0
  await until('it is well', isWell, OVER_MS).catch(async () =>
    expect([bench.state(), await problemsOf(bench)]).toEqual(['up', []]),
  )
}

/** Each was received once, in order but for those that are marked as late, and answered once. */
async function expectOnceInOrder(bench: LinkBench, words: readonly string[]) {
  await until('all answers', async () => {
    const seen = await bench.sees()
    return words.every((word) => seen.some((text) => text.startsWith(`re: ${word}`)))
  })
  expect(texts(bench).toSorted()).toEqual([...words].toSorted())
  const seen = await bench.sees()
  for (const word of words)
    expect([word, seen.filter((text) => text.startsWith(`re: ${word}`)).length]).toEqual([word, 1])
  for (const isLate of [false, true]) {
    const group = bench.agent.deliveries.filter(({ meta }) => (meta.late === 'true') === isLate)
    const order = group.map(({ text }) => words.indexOf(text.trim()))
    expect(order, texts(bench).join(', ')).toEqual(order.toSorted((a, b) => a - b))
  }
  expect(await bench.store.verify()).toMatchObject({ ok: true, conservation: { ok: true } })
  return `${bench.agent.deliveries.filter(({ meta }) => meta.late === 'true').length} late`
}

/** Down, by that word, in `doctor`, with what to do. */
async function isNamedDown({ doctor, integration }: LinkBench): Promise<boolean> {
  const report = await doctor()
  const finding = report.problems.find(
    ({ code, subject }) => code === 'link-down' && subject === `integration ${integration}`,
  )
  if (finding === undefined) return false
  expect(finding).toMatchObject({ word: 'down', severity: 'problem', remedy: expect.stringMatching(/\S/) })
  expect(finding.text).toMatch(/ is down: \S/)
  expect(report.ok).toBe(false)
  return true
}

describe('[I35.a1-links] outages of links', () => {
  for (const platform of LINK_TABLE) {
    it.concurrent.for(LINK_FAULTS.filter(({ kind }) => platform.http || kind !== 'status'))(
      `${platform.name}: $name until it heals: what is written meanwhile comes once, in order; the link is called down`,
      { timeout: CASE_MS },
      async ({ name, ...fault }, { expect }) =>
        expect(
          within(
            platform,
            async (bench) => {
              await bench.link.fail(fault)
              // What stands would not meet it.
              if (fault.kind === 'status') bench.link.reset()
              bench.says('one')
              await until('doctor names it', () => isNamedDown(bench), OVER_MS)
              bench.says('two')
              for (let look = 0; look < 20; look++) {
                expect(bench.state()).not.toBe('up')
                await pause(25)
              }
              expect(await isNamedDown(bench)).toBe(true)
              bench.says('three')
              await bench.link.heal()
              await heard(bench, 'three')
              await expectWell(bench)
              bench.says('four')
              await heard(bench, 'four')
              const late = await expectOnceInOrder(bench, ['before', 'one', 'two', 'three', 'four'])
              await expectWell(bench)
              return `met ${bench.link.fired}, ${late}`
            },
            name,
          ),
        ).resolves.toBeUndefined(),
    )

    it.concurrent.for(FRAME_FAULTS)(
      `${platform.name}: $name: it comes once, in order, by the next connection`,
      { timeout: CASE_MS },
      async ({ name, kind }, { expect }) =>
        expect(
          within(
            platform,
            async (bench) => {
              await bench.link.fail({ kind, onAnswer: /hit-me|aGl0LW1l/, times: 1 })
              bench.says('one')
              await heard(bench, 'one')
              bench.says('hit-me')
              await until('it met it', () => bench.link.fired > 0)
              bench.says('two')
              await heard(bench, 'two')
              await heard(bench, 'hit-me')
              const late = await expectOnceInOrder(bench, ['before', 'one', 'hit-me', 'two'])
              await bench.link.heal()
              await expectWell(bench)
              return `met ${bench.link.fired}, ${late}`
            },
            name,
          ),
        ).resolves.toBeUndefined(),
    )
  }
})

type Fault = (typeof CALL_FAULTS)[number]

describe('outages of calls beside the link', () => {
  for (const platform of LINK_TABLE) {
    const faults = CALL_FAULTS.filter(({ kind }) => platform.http || kind !== 'status')
    it.concurrent.for(faults)(
      `[I35.a1-history] ${platform.name}: $name at the history: nothing is claimed that was not read, and what was missed comes once`,
      { timeout: CASE_MS },
      async ({ name, ...fault }, { expect }) =>
        expect(
          within(platform, (bench) => loseTheHistory(platform, bench, fault), `history ${name}`),
        ).resolves.toBeUndefined(),
    )
    it.concurrent.for(faults)(
      `[I35.a1-known] ${platform.name}: $name at the send until it heals: doctor names what waits, then it arrives`,
      { timeout: CASE_MS },
      async ({ name, ...fault }, { expect }) =>
        expect(
          within(platform, (bench) => loseTheSend(platform, bench, fault), `send ${name}`),
        ).resolves.toBeUndefined(),
    )
    it.concurrent.for(faults)(
      `[I35.a1-read-back] ${platform.name}: $name at the read-back: the outcome stays open and is known, then it stands there once`,
      { timeout: CASE_MS },
      async ({ name, ...fault }, { expect }) =>
        expect(
          within(platform, (bench) => loseTheReadBack(platform, bench, fault), `read-back ${name}`),
        ).resolves.toBeUndefined(),
    )
  }
})

const completeOf = async ({ doctor, integration }: LinkBench) => {
  const report = await doctor()
  const { complete } = report.integrations.find(({ id }) => id === integration) ?? {}
  // A link that is down is the graver row: while it is, it stands instead.
  const isNamed = report.problems.some(
    ({ code, subject }) =>
      (code === 'history-behind' || code === 'link-down') && subject === `integration ${integration}`,
  )
  const until = complete?.until ? Date.parse(complete.until) : 0
  return { ...complete, until, isNamed }
}

async function loseTheHistory({ history }: LinkPlatform, bench: LinkBench, fault: Omit<Fault, 'name'>) {
  const { link, agent } = bench
  const proxy = bench[history.by]
  const before = proxy.fired
  // The link of email reads on where it stopped, so nothing is missed there.
  const isMissed = history.by === 'api'
  if (isMissed) await link.fail({ kind: 'refuse' })
  if (isMissed) await until('the platform has no link', () => !bench.isJoined())
  bench.forget()
  const beganAt = bench.now()
  await proxy.fail({ ...fault, on: history.on })
  bench.says('missed')
  if (isMissed) await link.heal()
  else link.reset()
  await until('the link is up again', () => proxy.fired > before && bench.state() === 'up', OVER_MS)
  // Nothing waits for a history that cannot be read.
  bench.says('live')
  await heard(bench, 'live')
  await until('doctor names it', async () => (await completeOf(bench)).isNamed, OVER_MS)
  const met = proxy.fired
  await until('it is asked again', () => proxy.fired > met + 1, OVER_MS)
  const complete = await completeOf(bench)
  expect(complete).toMatchObject({ state: 'behind', isNamed: true, detail: expect.stringMatching(/\S/) })
  expect(complete.until).toBeLessThanOrEqual(beganAt)
  expect(texts(bench).includes('missed')).toBe(!isMissed)
  const saidUntil = bench.now()
  await proxy.heal()
  await heard(bench, 'missed')
  if (isMissed) {
    const missed = agent.deliveries.find(({ text }) => text.trim() === 'missed')
    expect(missed?.meta.late).toBe('true')
  }
  await expectWell(bench)
  await until(
    'it is complete beyond the outage',
    async () => (await completeOf(bench)).until > saidUntil,
    OVER_MS,
  )
  await expectOnceInOrder(bench, ['before', 'missed', 'live'])
  return `met ${met}, "${complete.detail?.slice(0, 80)}"`
}

async function loseTheSend({ send }: LinkPlatform, bench: LinkBench, fault: Omit<Fault, 'name'>) {
  const { integration } = bench
  const proxy = bench[send.by]
  await proxy.fail({ ...fault, on: send.on })
  bench.says('one')
  await heard(bench, 'one')
  const isAnswered = async () => (await bench.sees()).some((text) => text.includes('re: one'))
  const isNamed = async () => {
    const { problems } = await bench.doctor()
    return problems.some(
      ({ code, subject, severity }) =>
        code === 'sends-waiting' && subject === `integration ${integration}` && severity === 'problem',
    )
  }
  // Half a minute of the river has gone by: either it came, or `doctor` says that it waits.
  await until('the send met it', () => proxy.fired > 0, OVER_MS)
  await until(
    'it arrived, or doctor names it',
    async () => (await isNamed()) || (await isAnswered()),
    OVER_MS,
  )
  const wasNamed = await isNamed()
  const met = proxy.fired
  await proxy.heal()
  bench.says('two')
  await heard(bench, 'two')
  await until('nothing is open', async () => {
    const rows = await bench.store.sends({ limit: 20 })
    return rows.length >= 3 && rows.every(({ state }) => state === 'sent')
  })
  await expectWell(bench)
  const seen = await bench.sees()
  for (const word of ['before', 'one', 'two']) {
    const copies = seen.filter((text) => text.includes(`re: ${word}`) && !isQuote(text, word))
    const plain = copies.filter((text) => !text.startsWith(LABEL))
    expect([word, plain.length < 2, copies.length > 0]).toEqual([word, true, true])
  }
  return `met ${met}, ${wasNamed ? 'named' : 'arrived at once'}`
}

async function loseTheReadBack(
  { send, readBack, loseMs }: LinkPlatform,
  bench: LinkBench,
  fault: Omit<Fault, 'name'>,
) {
  const { integration } = bench
  const proxy = bench[readBack.by]
  const sending = bench[send.by]
  const isSame = sending === proxy
  // Nothing can be asked between the two: the read-back is lost from the beginning.
  const lost = isSame ? new RegExp(`${send.on.source}|${readBack.on.source}`) : send.on
  const before = sending.fired
  const answers = holdAnswers(bench)
  bench.says('one')
  await heard(bench, 'one')
  // The link would tell what became of it: an own message comes back by it.
  if (readBack.by === 'api') {
    await bench.link.fail({ kind: 'refuse' })
    await until('the platform has no link', () => !bench.isJoined())
  }
  await sending.fail({ kind: 'reset-after', on: lost })
  if (!isSame) await proxy.fail({ ...fault, on: readBack.on })
  answers.release()
  await until('the answer is lost', () => sending.fired > before)
  await pause(loseMs)
  if (isSame) await proxy.fail({ ...fault, on: readBack.on })
  else await sending.heal()
  const met = proxy.fired
  await until(
    'doctor names it',
    async () => {
      const { problems } = await bench.doctor()
      return problems.some(
        ({ code, subject, text }) =>
          code === 'sends-waiting' &&
          subject === `integration ${integration}` &&
          /may have arrived/.test(text),
      )
    },
    OVER_MS,
  )
  await until('it was asked', () => proxy.fired > met + 1, OVER_MS)
  const open = await bench.store.sends({ states: ['sending'], limit: 10 })
  expect(open.map(({ reason }) => reason)).toEqual(['outcome_open'])
  await proxy.heal()
  if (readBack.by === 'api') {
    await until(
      'it is settled',
      async () => (await bench.store.sends({ states: ['sending'], limit: 1 })).length === 0,
    )
    await bench.link.heal()
  }
  bench.says('two')
  await heard(bench, 'two')
  await until('nothing is open', async () => {
    const rows = await bench.store.sends({ limit: 20 })
    return rows.length >= 3 && rows.every(({ state }) => state === 'sent')
  })
  await expectWell(bench)
  const seen = await bench.sees()
  const copies = (word: string) => seen.filter((text) => text.includes(`re: ${word}`) && !isQuote(text, word))
  for (const word of ['before', 'one', 'two']) {
    const plain = copies(word).filter((text) => !text.startsWith(LABEL))
    expect([word, plain.length, copies(word).length > 0]).toEqual([word, 1, true])
  }
  const first = ['before', 'one', 'two'].map((word) => seen.findIndex((text) => text.includes(`re: ${word}`)))
  expect(first).toEqual(first.toSorted((a, b) => a - b))
  return `met ${proxy.fired - met}, ${copies('one').length} copies`
}

const LABEL = '(may be a duplicate'
/** A mail that quotes one. */
const isQuote = (text: string, word: string) => !text.startsWith(`re: ${word}`) && !text.startsWith(LABEL)
