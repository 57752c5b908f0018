// A slash command at Slack: what Switchboard says to it is seen once, and who may not speak is told so alone.
import { describe, expect, it } from 'vitest'
import { until } from '../faults/until.ts'
import { openSlackRiver } from './slack-river.ts'

describe('a slash command at slack', () => {
  it('[I15.command-once] its answer is shown once; a stranger hears that alone, and nothing more', async () => {
    const river = await openSlackRiver({ timings: { chatIntervalMs: 10 } })
    try {
      const { fake, kate, store } = river
      await until('the link', () => fake.socket.open() > 0)
      const isAcknowledged = (id: string) => until('the acknowledgement', () => fake.socket.acknowledged(id))
      for (const word of ['status', 'help', 'new', 'stop', 'hello there']) {
        const before = kate.sees().length
        await isAcknowledged(kate.commands('/switchboard', word))
        await until(`an answer to ${word}`, () => kate.sees().length > before)
        await until('the outbox is empty', async () => {
          return (await store.sends({ states: ['queued', 'sending'], limit: 10 })).length === 0
        })
        expect([word, kate.sees().length]).toEqual([word, before + 1])
      }
      expect(fake.world.ephemerals).toEqual([])
      const eve = fake.person({ id: 'U0EVE0001', name: 'eve', channel: 'D0EVE0001' })
      await isAcknowledged(eve.commands('/switchboard', 'status'))
      await until('she is told', () => fake.world.ephemerals.length > 0)
      expect(fake.world.ephemerals).toEqual([
        { channel: eve.channel.id, user: eve.user.id, text: 'Not authorized.' },
      ])
      expect(eve.sees()).toEqual([])
    } finally {
      await river.close()
    }
  })
})
