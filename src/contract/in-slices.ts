// Long work that gives way: a slice at a time, and between two of them the process takes what came meanwhile.
import type { Clock } from './clock.ts'

const SLICE = 20

/**
 * Does `work` for each item. What it awaits may be answered at once (an embedded database, a cache), and then only a
 * pause lets anything else run. Ends early when `stopped` says so. An error ends it.
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
