// findWork: a walk over all that is open, slice by slice. Between two slices the process takes what came meanwhile.
import type { Work } from '../contract/index.ts'
import type { WorkSlice } from './verbs/turns/lane-work.ts'

/** `slice` walks on behind a lane, and finds no more than so many. */
export async function findWork(
  options: { readonly limit: number; readonly after?: string },
  slice: (after: string, limit: number) => Promise<WorkSlice>,
): Promise<readonly Work[]> {
  const found: Work[] = []
  let after = options.after ?? ''
  for (;;) {
    const { work, to } = await slice(after, options.limit - found.length)
    found.push(...work)
    if (to === null || found.length >= options.limit) return found
    after = to
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
