// Starts a program briefly, to see whether it is installed and answers. It has a keeper of its own, so that nothing is
// left running.
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Clock, Logger } from '../../contract/index.ts'
import type { KeptProcess, ProcessLaunch } from './kept-process.ts'
import { createProcessKeeper } from './process-keeper.ts'

const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
}

/**
 * Throws what `use` throws, or why the program could not be started. `use` gets the folder that it runs in; null: the
 * present one.
 */
export async function tryProcess<T>(
  launch: ProcessLaunch,
  use: (process: KeptProcess, folder: string | null) => Promise<T>,
  { clock }: { readonly clock: Clock },
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'swb-try-'))
  const random = { uuid: () => randomUUID(), bytes: (size: number) => randomBytes(size) }
  const keeper = createProcessKeeper(
    { folder, limits: { processes: 1, memoryBytes: null } },
    { clock, random, log: SILENT },
  )
  try {
    const { cwd } = launch
    if (cwd === undefined) return await use(await keeper.start(launch.command, launch), null)
    const where = resolve(cwd)
    return await use(await keeper.start(launch.command, { ...launch, cwd: where }), where)
  } finally {
    await keeper.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
