// A message that is edited while the link hears nothing: it is one turn with the text as it stands, or one edit of a turn that
// was received before, whatever Slack delivers again afterwards. Time runs faster: what is younger than a minute is not missed.
import { describe, expect, it } from 'vitest'
import { until } from '../faults/until.ts'
import { openSlackRiver } from './slack-river.ts'

const TIMINGS = {
  requestTimeoutMs: 3_000_000,
  helloMs: 900_000,
  pingMs: 900_000,
  namesMs: 300_000,
  drainMs: 30_000,
}

describe('slack, edited while away', () => {
  it('[I15.edited-away] is received once: neither the original nor the edit that comes late is answered a second time', async () => {
    const river = await openSlackRiver({ faster: 300, timings: TIMINGS, ackMs: 2_000 })
    try {
      const { fake, kate, store } = river
      const answers = (part: string) => kate.sees().filter((text) => text.includes(part)).length
      await until('the link', () => fake.socket.open() > 0)
      // Nothing is compared before the edits stand: of what was compared before, a history tells no edit.
      fake.plan([{ on: 'conversations.history', do: 'error' }])
      const known = kate.says('known before')
      await until('the answer', () => answers('You said: known before') === 1)

      fake.socket.deafen(true)
      const missed = kate.says('written')
      const original = { ...missed, channel: kate.channel.id, channel_type: 'im', event_ts: missed.ts }
      kate.edits(missed.ts, 'rewritten')
      kate.edits(known.ts, 'known and changed')
      fake.plan([])
      await until('what was missed', () => answers('You said: rewritten') === 1)
      await until('the edit', () => answers('You said: known and changed') === 1)

      // Now everything comes by the link after all, some of it twice.
      fake.socket.deafen(false)
      const change = (ts: string, before: object) => ({
        type: 'message',
        subtype: 'message_changed',
        channel: kate.channel.id,
        channel_type: 'im',
        message: fake.world.find(kate.channel.id, ts),
        previous_message: before,
        ts: fake.world.nextTs(),
        event_ts: fake.world.nextTs(),
      })
      const ids = [
        fake.push({ ...original, text: 'written', edited: undefined }),
        fake.push(change(missed.ts, { ...original, text: 'written', edited: undefined })),
        fake.push(change(known.ts, { ...known, text: 'known before', edited: undefined })),
        fake.push(change(missed.ts, { ...original, text: 'written', edited: undefined })),
      ]
      await until('all are acknowledged', () => ids.every((id) => fake.socket.acknowledged(id)))
      kate.says('last')
      await until('the last answer', () => answers('You said: last') === 1)
      const told = (await store.turns({ limit: 50 })).map(
        ({ body, state, reason }) => `${body?.kind} ${body?.text}: ${state} ${reason ?? ''}`,
      )
      expect(told.toSorted()).toEqual([
        'edit known and changed: answered ',
        // The key of an edit that came with the message itself.
        'edit rewritten: consumed late',
        'message known before: answered ',
        'message last: answered ',
        'message rewritten: answered ',
      ])
      expect(answers('You said: written')).toBe(0)
      expect(answers('You said: rewritten')).toBe(1)
    } finally {
      await river.close()
    }
  })
})
