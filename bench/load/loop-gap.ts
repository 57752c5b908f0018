// How long a daemon makes others wait: the longest time between two answers of /healthz during other work. It uses one
// connection and asks again a few milliseconds after each answer.
import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, openConnection } from './connection.ts'

const EVERY_MS = 3

export interface Gaps {
  /** Returns the longest wait for an answer during the work, in milliseconds. It asks at least once. */
  during<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result; readonly gapMs: number }>
  close(): void
}

export async function openGaps(url: string): Promise<Gaps> {
  const connection = await openConnection(Number(new URL(url).port), () => undefined)
  const question = Buffer.from('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  return {
    async during(work) {
      let gapMs = 0
      let over = false
      const asking = (async () => {
        do {
          const askedAt = performance.now()
          await asked(connection, question)
          gapMs = Math.max(gapMs, performance.now() - askedAt)
          await wait(EVERY_MS)
        } while (!over)
      })()
      try {
        const result = await work()
        over = true
        await asking
        return { result, gapMs }
      } finally {
        over = true
      }
    },
    close: () => connection.close(),
  }
}

function asked(connection: Connection, question: Buffer): Promise<number> {
  return new Promise((resolve) => connection.ask(question, resolve))
}
