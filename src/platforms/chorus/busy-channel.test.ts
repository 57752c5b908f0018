// A busy channel, and callbacks that would only be refused.
import { describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../contract/index.ts'
import { seed } from './fixtures/chorus-scene.ts'
import { opened } from './fixtures/opened-chorus.ts'
import { createChorus } from './index.ts'

const minimal = seed('minimal')
const later = (n: number) => ({
  ...minimal,
  message: { id: `later_${n}`, sender: 'alice', content: 'more' },
  callback: `https://slack-adapter.example.com/cb/later_${n}`,
})

describe('a busy channel', () => {
  it('[S8.output-order] an answer goes to its own callback however much came after it', async () => {
    const { receive, say, callbacks } = await opened()
    await receive(minimal)
    for (let batch = 0; batch < 3; batch++)
      await receive(Array.from({ length: 100 }, (_, n) => later(batch * 100 + n)))
    await say('msg_1', 'at last')
    expect(callbacks.posts.at(-1)).toMatchObject({ url: minimal.callback, event: { content: 'at last' } })
  })

  it('[F7.chorus-lifecycle] the next life owes its idle however much came after it', async () => {
    const first = await opened()
    await first.receive(minimal)
    for (let batch = 0; batch < 3; batch++)
      await first.receive(Array.from({ length: 100 }, (_, n) => later(batch * 100 + n)))
    await first.adapter.stop()
    const ended = (row: TranscriptEntry) =>
      row.platformMessageId === 'msg_1' ? { ...row, state: 'answered' } : row
    first.deps.rows.splice(0, first.deps.rows.length, ...first.deps.rows.map(ended))
    const next = createChorus(first.deps, first.callbacks.fetch)
    const starting = next.start(first.intake, null)
    await first.deps.clock.advance(0)
    await starting
    await first.deps.clock.advance(1_000)
    expect(first.shown()).toEqual(['lifecycle processing', 'lifecycle idle'])
    expect(first.callbacks.posts.every(({ url }) => url === minimal.callback)).toBe(true)
  })
})

describe('a callback that could only be refused', () => {
  it.each([
    'https://127.0.0.1/cb',
    'https://2130706433/cb',
    'https://0x7f.1/cb',
    'https://10.0.0.7/cb',
    'https://169.254.169.254/latest',
    'https://[::1]/cb',
    'https://[::ffff:10.0.0.7]/cb',
    'https://localhost/cb',
    'https://a.localhost/cb',
    'http://slack-adapter.example.com/cb',
  ])('[F7.chorus-private-ip] %s is told at once, by name: nobody would hear the answer', async (callback) => {
    const { receive, intake, deps } = await opened()
    const refused = await receive({ ...minimal, callback })
    expect(refused.status).toBe(400)
    expect(refused.sentBack).toContain('callback: ')
    expect(refused.sentBack).not.toContain('/cb')
    expect(intake.events.map(({ kind }) => kind)).toEqual(['unparsable'])
    expect(deps.kept.size).toBe(0)
  })

  it('is taken where private addresses are allowed, link-local ones excepted', async () => {
    const { receive } = await opened({ allow_private: true })
    expect((await receive({ ...minimal, callback: 'http://127.0.0.1:4/cb' })).status).toBe(200)
    expect((await receive({ ...minimal, callback: 'https://169.254.169.254/cb' })).status).toBe(400)
  })
})
