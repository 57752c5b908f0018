// One piece of work after another: a second must not overtake the first half-way. What fails goes to whoever asked, and the
// next does not stumble over it.

export type Serial = <Result>(work: () => Promise<Result>) => Promise<Result>

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
}
