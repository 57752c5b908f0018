// Runs pieces of work one after another. A failure rejects for its own caller, and the next piece runs anyway.

export type Serial = <Result>(work: () => Result | Promise<Result>) => Promise<Result>

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
}

/** Serial work per key; different keys run in parallel. An idle key takes no memory. */
export interface SerialLines<Key> {
  run<Result>(key: Key, work: () => Result | Promise<Result>): Promise<Result>
  /** Whether work of this key runs or waits. */
  isBusy(key: Key): boolean
  /** Resolves when no work runs or waits. */
  idle(): Promise<void>
}

export function createSerialLines<Key>(): SerialLines<Key> {
  const lines = new Map<Key, Promise<unknown>>()
  return {
    run(key, work) {
      const mine = (lines.get(key) ?? Promise.resolve()).then(work, work)
      lines.set(key, mine)
      const done = () => {
        if (lines.get(key) === mine) lines.delete(key)
      }
      mine.then(done, done)
      return mine
    },
    isBusy: (key) => lines.has(key),
    async idle() {
      while (lines.size > 0) await Promise.allSettled(lines.values())
    },
  }
}
