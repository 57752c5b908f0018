// What is written in one turn of the loop goes out in one write, in order: a write is a system call, and wakes whoever reads.

export interface GatheredWrites {
  /** Written by the end of this turn of the loop. */
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
      // After everything that was begun in this turn, promises included.
      if (waiting.length === 0) process.nextTick(flush)
      waiting.push(text)
    },
    flush,
  }
}
