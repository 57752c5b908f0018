// Whose data folder it is: the name of the node that owns it, and the refusal when another daemon does.
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { DataFolder } from '../config/data-folder.ts'
import { SwitchboardError } from '../contract/index.ts'

export function folderHeld(
  folder: DataFolder,
  holder: { pid: number; url: string; startedAt: number } | null,
): SwitchboardError {
  const who = holder
    ? `process ${holder.pid} at ${holder.url}, since ${new Date(holder.startedAt).toISOString()}`
    : 'another daemon'
  return new SwitchboardError('data_folder_held', `the data folder ${folder.path} is held by ${who}`, {
    hint: 'stop that one first, or choose another folder with --data',
  })
}

/** The same after a restart, different for two folders of one machine. */
export function nodeName(folder: DataFolder): string {
  return `${hostname()}-${createHash('sha256').update(folder.path).digest('hex').slice(0, 6)}`
}
