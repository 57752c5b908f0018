// Joins the writes of one event-loop turn into one, in order. Each write is a system call, and wakes the reader.

export interface GatheredWrites {
  /** Writes by the end of this event-loop turn. */
  push(text: string): void
  /** Writes at once what waits. */
  flush(): void
}

export function gatherWrites(write: (text: string) => void): GatheredWrites {
  let waiting: string[] = []
  const flush = () => {
    if (waiting.length === 0) return
    const text = waiting.join('')
    waiting = []
    write(text)
  }
  return {
    push(text) {
      // Runs after everything that began in this turn, including promises.
      if (waiting.length === 0) process.nextTick(flush)
      waiting.push(text)
    },
    flush,
  }
}
