// What is written while the Slack link changes hands is answered at once, and before what the next link brings.
import { describe, expect, it } from 'vitest'
import { until } from '../faults/until.ts'
import { openSlackRiver } from './slack-river.ts'

describe('slack, while the link changes hands', () => {
  it('[I35.b12a] what was written in between comes in order, in a chat and in a thread', async () => {
    const river = await openSlackRiver({ ackMs: 60_000 })
    try {
      const { fake, kate, store } = river
      const answers = (part: string) => kate.sees().filter((text) => text.includes(part)).length
      await until('the link', () => fake.socket.open() > 0)
      const first = kate.says('zero')
      await until('the first answer', () => answers('You said: zero') === 1)
      kate.says('under it', { thread: first.ts })
      await until('the answer in the thread', () => answers('You said: under it') === 1)

      // No socket is opened until both were written.
      fake.plan([{ on: 'apps.connections.open', do: 'error', times: 2 }])
      fake.cut()
      await until('the link is gone', () => fake.socket.open() === 0)
      kate.says('one')
      kate.says('one below', { thread: first.ts })
      await until('the next link', () => fake.socket.open() > 0)
      kate.says('two')
      kate.says('two below', { thread: first.ts })
      await until('all are answered', () =>
        ['one', 'one below', 'two', 'two below'].every((text) => answers(`You said: ${text}`) > 0),
      )
      const turns = (await store.turns({ limit: 50, oldestFirst: true })).map(({ body }) => body?.text)
      expect(turns.filter((text) => !text?.includes('below'))).toEqual(['zero', 'under it', 'one', 'two'])
      expect(turns.filter((text) => text?.includes('below'))).toEqual(['one below', 'two below'])
    } finally {
      await river.close()
    }
  })
})
