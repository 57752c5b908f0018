// findWork: walks over all open work, slice by slice. Between two slices the process handles other work.
import type { Work } from '../contract/index.ts'
import type { WorkSlice } from './verbs/turns/lane-work.ts'

/** `slice` continues after a lane and returns at most `limit` results. */
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
