// The one way to do one piece of work after another: a second must not overtake the first half-way. What fails goes to
// whoever asked, and the next does not stumble over it.

export type Serial = <Result>(work: () => Result | Promise<Result>) => Promise<Result>

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
}

/** A line for each key, beside each other. A key that has nothing under way takes no room. */
export interface SerialLines<Key> {
  run<Result>(key: Key, work: () => Result | Promise<Result>): Promise<Result>
  /** Something of this key is under way or waits. */
  isBusy(key: Key): boolean
  /** Resolves when nothing is under way and nothing waits. */
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
