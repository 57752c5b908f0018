// The files by which other processes find a daemon: the note of the running one, its address, and how it ended.
import { removeDaemonNote, writeDaemonNote } from '../config/instance/daemon-note.ts'
import { realPath } from '../config/instance/instance.ts'
import { type LastRun, writeLastRun } from '../config/instance/last-run.ts'
import { withoutNulls } from '../contract/index.ts'
import { VERSION } from '../runtime/version.ts'
import type { Instance } from './open-instance.ts'

export interface DaemonStatusFile {
  ended(cause: Exclude<LastRun['end'], 'running'>): void
}

/** Writes the note now. Unwinding the instance's undo stack removes it. */
export function writeDaemonStatus(
  instance: Instance,
  running: {
    readonly url: string
    readonly host: string
    readonly port: number
    /** Whether it ends by itself when it is idle. */
    readonly idleExit: boolean
    /** Null if no service manager started it. */
    readonly unit: string | null
  },
): DaemonStatusFile {
  const { folder, startedAt, configFile, store, undo } = instance
  const { url, host, port, idleExit, unit } = running
  writeDaemonNote(folder, {
    ...{ pid: process.pid, url, startedAt, version: VERSION },
    config: configFile,
    ...(idleExit ? { idleExit } : {}),
    ...withoutNulls({ service: unit }),
  })
  undo.push(() => removeDaemonNote(folder))
  const place = {
    ...{ host, port },
    ...(store.file ? { database: { file: realPath(store.file.path), tag: store.tag } } : {}),
  }
  writeLastRun(folder, { ...place, end: 'running' })
  return { ended: (cause) => writeLastRun(folder, { ...place, end: cause }) }
}
