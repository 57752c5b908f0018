// The parts of the gateway: made in parallel, started in order, and a failing one stops no other.
import { expect, it } from 'vitest'
import { createRecordingLog } from '../testing/recording-log.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { createParts, type Part } from './running.ts'

const log = { error: () => undefined, warn: () => undefined } as never

it('makes all at once, starts them in order, and tells why one does not run', async () => {
  const seen: string[] = []
  const parts = createParts({
    clock: createTestClock(),
    log,
    end: async (key) => void seen.push(`end ${key}`),
  })
  let othersMade: () => void = () => undefined
  const allMade = new Promise<void>((resolve) => {
    othersMade = resolve
  })
  const started = (key: string) => async () => void seen.push(`start ${key}`)
  const part = (make: Part['make']): Part => ({ digest: 'd', make })
  const wanted = new Map<string, Part>([
    // Never completes unless the next parts are made in parallel.
    ['slow', part(() => allMade.then(() => started('slow')))],
    ['broken', part(async () => Promise.reject(new Error('no such code')))],
    ['planned', part(async () => 'not built')],
    ['off', part(async () => undefined)],
    ['falls', part(async () => async () => Promise.reject(new Error('fell')))],
    [
      'quick',
      part(async () => {
        othersMade()
        return started('quick')
      }),
    ],
  ])
  await parts.match(wanted)
  expect(seen).toEqual(['start slow', 'start quick'])
  expect(Object.fromEntries(parts.problems)).toEqual({
    broken: 'Error: no such code',
    planned: 'not built',
    falls: 'Error: fell',
  })
  await parts.match(new Map([['quick', part(async () => started('again'))]]))
  expect(seen.slice(2)).toEqual(['end slow', 'end broken', 'end planned', 'end off', 'end falls'])
})

const never = new Promise<never>(() => undefined)

it('[I13.module-hangs] one that is never made, or never started, is down with its reason, and the rest runs', async () => {
  const clock = createTestClock()
  const begun: string[] = []
  const parts = createParts({ clock, log: createRecordingLog(), end: async () => undefined })
  const good = (name: string): Part => ({
    digest: name,
    make: async () => async () => void begun.push(name),
  })
  const wanted = new Map<string, Part>([
    ['a', good('a')],
    ['hangs', { digest: 'h', make: () => never }],
    ['stuck', { digest: 's', make: async () => () => never }],
    ['b', good('b')],
  ])
  const matched = parts.match(wanted)
  await clock.advance(200_000)
  await matched
  expect(begun).toEqual(['a', 'b'])
  expect([...parts.problems]).toEqual([
    ['hangs', 'it was not made within 20 s'],
    ['stuck', 'it was not started within 60 s'],
  ])
})
