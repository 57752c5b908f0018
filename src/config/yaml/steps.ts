// Work in steps, for large files: all at once, or with a pause after each, so that the process takes what came meanwhile.
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

export async function withPauses<Result>(steps: Generator<void, Result>, pause = breath): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}

export const breath = () => new Promise<void>((resolve) => setImmediate(resolve))
