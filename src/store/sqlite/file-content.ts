// Whether somebody else wrote to the main file of an open SQLite database, in place. In this mode the engine writes to it
// only when it folds the log into it: when we tell it to, which is noted, or by somebody's own tool, which the index of the
// log tells. A new time alone is no proof (`touch`): then as much of the content as is quickly read is compared.
import { createHash } from 'node:crypto'
import { fstatSync, readSync, type Stats } from 'node:fs'
import type { WalIndex, WalIndexFile } from './wal-index.ts'

export interface FileContent {
  /** True: it holds something that the engine did not write there. `log`: what its index said just before. */
  isForeign(log: WalIndex | null): boolean
  /** After a commit of ours, which `isForeign` was asked before: where it may have begun the log anew, that is noted. */
  committed(): void
  /** After a fold of ours: what is there now is ours. */
  folded(): void
}

const BLOCK_BYTES = 4_096
/** Half a MiB, read only after the file was written to: the first blocks, the last ones, and some between. */
const BLOCKS = 128
const LAST_BLOCKS = 32

export function followContent(handle: number, index: WalIndexFile): FileContent {
  const block = Buffer.alloc(BLOCK_BYTES)

  const sample = (size: number): string => {
    const hash = createHash('sha256')
    for (const at of sampledBlocks(Math.ceil(size / BLOCK_BYTES))) {
      const read = readSync(handle, block, 0, BLOCK_BYTES, at * BLOCK_BYTES)
      hash.update(block.subarray(0, read))
    }
    return hash.digest('base64')
  }

  const state = (): Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs'> => fstatSync(handle)

  /** How far the log was folded is read first: a fold that changes the sample after that is told apart by it. */
  const look = (log: WalIndex | null) => {
    const folds = foldsOf(log)
    const { size, mark } = seen(state())
    return { size, mark, folds }
  }

  const first = look(index.read())
  let known = { ...first, sample: sample(first.size) }
  /** All of the log was folded when it was last looked at: the next commit begins it anew. */
  let beginsAnew = true

  const note = () => {
    const now = look(index.read())
    if (now.mark === known.mark) known.folds = now.folds
    else known = { ...now, sample: sample(now.size) }
  }

  return {
    isForeign(before) {
      beginsAnew = before === null || before.folded === before.frames
      const now = look(before)
      if (now.mark === known.mark) {
        known.folds = now.folds
        return false
      }
      const content = sample(now.size)
      // Read last: whoever folds the log says so before the first page, so that no page of a fold was sampled unsaid.
      const log = index.read()
      const folded = log === null || foldsOf(log) !== known.folds || log.folded !== log.foldingTo
      if (!folded && content !== known.sample) return true
      known = { ...now, sample: content }
      return false
    },
    committed() {
      if (beginsAnew) note()
    },
    folded: note,
  }
}

function seen({ size, mtimeMs, ctimeMs }: Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs'>) {
  return { size, mark: `${size} ${mtimeMs} ${ctimeMs}` }
}

/** Changes with every fold of the log into the file. */
function foldsOf(index: WalIndex | null): string {
  return index === null ? '' : `${index.salts} ${index.folded} ${index.foldingTo}`
}

function sampledBlocks(blocks: number): readonly number[] {
  if (blocks <= BLOCKS) return Array.from({ length: blocks }, (_, at) => at)
  const between = BLOCKS - LAST_BLOCKS
  const step = (blocks - LAST_BLOCKS) / between
  return [
    ...Array.from({ length: between }, (_, at) => Math.floor(at * step)),
    ...Array.from({ length: LAST_BLOCKS }, (_, at) => blocks - LAST_BLOCKS + at),
  ]
}
