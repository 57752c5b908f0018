// Detects writes by others to the main file of an open SQLite database. In WAL mode the engine writes to the file only
// when it folds the log into it. That happens on our command, which is recorded, or by another SQLite tool, which the
// log's index shows. A new file time alone proves nothing (`touch`), so a quick sample of the content is compared.
import { createHash } from 'node:crypto'
import { fstatSync, readSync, type Stats } from 'node:fs'
import type { WalIndex, WalIndexFile } from './wal-index.ts'

export interface FileContent {
  /** True: the file contains something that the engine did not write. `log`: the index read just before. */
  isForeign(log: WalIndex | null): boolean
  /** Called after a commit of ours that followed `isForeign`. It records whether the log started again. */
  committed(): void
  /** Called after a fold of ours. The present content is ours. */
  folded(): void
}

const BLOCK_BYTES = 4_096
/** Half a MiB, read only after the file changed: the first blocks, the last ones, and some between. */
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

  /** The fold state is read first. A later fold that changes the sample is recognised by it. */
  const look = (log: WalIndex | null) => {
    const folds = foldsOf(log)
    const { size, mark } = seen(state())
    return { size, mark, folds }
  }

  const first = look(index.read())
  let known = { ...first, sample: sample(first.size) }
  /** The whole log was folded at the last check, so the next commit starts it again. */
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
      // Read last: the engine records a fold before its first page, so no page of an unrecorded fold was sampled.
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
