// Every fault of the TCP proxy before the link of every platform that holds one: Socket Mode, the gateway of Discord, IMAP. What is
// written meanwhile arrives once and in order, and a link that hears nothing says so. Prints the table.
import { afterAll, describe, expect, it } from 'vitest'
import {
  FRAME_FAULTS,
  LINK_FAULTS,
  LINK_TABLE,
  type LinkBench,
  type LinkPlatform,
} from '../scenarios/link-table.ts'
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
    it.concurrent.each(LINK_FAULTS.filter(({ kind }) => platform.http || kind !== 'status'))(
      `${platform.name}: $name until it heals: what is written meanwhile comes once, in order; the link is called down`,
      async ({ name, ...fault }) =>
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
      CASE_MS,
    )

    it.concurrent.each(FRAME_FAULTS)(
      `${platform.name}: $name: it comes once, in order, by the next connection`,
      async ({ name, kind }) =>
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
      CASE_MS,
    )
  }
})
