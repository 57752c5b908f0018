// A start with many open channels: deliveries of an earlier run are read and resumed in slices.
import { describe, expect, it } from 'vitest'
import { createFakeIntake } from '../../testing/fake-intake.ts'
import { fakeDeps } from './fixtures/chorus-scene.ts'
import { createChorus } from './index.ts'
import { deliveryName } from './parse.ts'

const CHANNELS = 500
/** More than one slice of each kind of work would mean a start that delays everything else. */
const AT_ONCE = 25

describe('chorus with many open channels', () => {
  it('[I14.start-slices] [I14.start-channels] reads and takes up so many at once, and no more', async () => {
    const kept = new Map<string, string>()
    const deps = fakeDeps({}, kept)
    for (let at = 0; at < CHANNELS; at++) {
      const conversation = `channel-${at}`
      const delivery = {
        callback: 'https://example.com/cb',
        conversation,
        messageId: 'm1',
        at: deps.clock.now(),
      }
      kept.set(deliveryName(conversation, 'm1'), JSON.stringify({ ...delivery, done: false }))
    }
    const counts = { read: 0, asked: 0 }
    let most = 0
    let work = 0
    const { credentials, transcript, clock } = deps
    if (!credentials) throw new Error('there is no shelf')
    const count = (what: keyof typeof counts) => {
      counts[what] += 1
      work += 1
      most = Math.max(most, work)
    }
    Object.assign(deps, {
      credentials: {
        ...credentials,
        get: (name: string) => {
          count('read')
          return credentials.get(name)
        },
      },
      transcript: (query: Parameters<typeof transcript>[0]) => {
        count('asked')
        return transcript(query)
      },
      // Each pause resets the count.
      clock: {
        ...clock,
        after: (delayMs: number, run: () => void) =>
          clock.after(delayMs, () => {
            work = 0
            run()
          }),
      },
    })
    const adapter = createChorus(deps)
    const starting = adapter.start(createFakeIntake(), null)
    for (let turn = 0; turn < 200; turn++) await clock.advance(0)
    await starting
    for (let turn = 0; turn < 200; turn++) await clock.advance(0)
    expect(counts).toEqual({ read: CHANNELS, asked: CHANNELS })
    expect(most).toBeLessThanOrEqual(AT_ONCE)
    await adapter.stop()
  })
})
