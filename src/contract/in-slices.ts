// Long work in slices, so that the process can handle other work between two of them.
import type { Clock } from './clock.ts'

const SLICE = 20

/**
 * Runs `work` for each item. Awaited results may be available at once (an embedded database, a cache), so only a pause
 * lets other work run. Ends early when `stopped` returns true. Rethrows the first error.
 */
export async function inSlices<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  clock: Clock,
  work: (item: Item) => unknown,
  {
    slice = SLICE,
    stopped = () => false,
  }: { readonly slice?: number; readonly stopped?: () => boolean } = {},
): Promise<void> {
  let done = 0
  for await (const item of items) {
    if (stopped()) return
    await work(item)
    done += 1
    if (done % slice === 0) await new Promise<void>((resolve) => clock.after(0, resolve))
  }
}
