// How long a daemon lets others wait: the longest time between two answers of /healthz while something else goes on. Asked
// over one connection, the next question a few milliseconds after an answer.
import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, openConnection } from './connection.ts'

const EVERY_MS = 3

export interface Gaps {
  /** Longest wait for an answer, in milliseconds, while the work went on; at least one question is asked. */
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
