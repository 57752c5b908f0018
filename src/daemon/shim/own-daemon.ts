// Limits a shim to its own instance. It does not use a daemon that runs another file than its own. It starts a daemon
// only for a file on which this user ran `init` or `up`, because a file can run programs and may come from a stranger.
import type { OpenLink } from '../../attach/frame-link.ts'
import { readDaemonNote } from '../../config/instance/daemon-note.ts'
import type { DataFolder } from '../../config/instance/data-folder.ts'
import { isKnownFile } from '../../config/instance/known-instances.ts'
import { shellWord } from '../../config/instance/shell-word.ts'

/** Returns why the folder's daemon is not this shim's. Null if it is, or if nothing is known of it. */
export function otherDaemon(folder: DataFolder, givenFile: string | null): string | null {
  const runs = givenFile === null ? undefined : readDaemonNote(folder)?.config
  if (givenFile === null || runs === undefined || runs === givenFile) return null
  return (
    `The gateway of ${folder.path} runs ${runs ?? 'the embedded default'}, and this session is for ${givenFile}: ` +
    'nothing is handed over. Leave --data and SWITCHBOARD_DATA out of its command, ' +
    `or stop that gateway and run: switchboard up --config ${shellWord(givenFile)} --data ${shellWord(folder.path)}`
  )
}

/** Opens the link, unless the daemon belongs to another file. */
export function ownLink(open: OpenLink, foreign: () => string | null): OpenLink {
  return (events) => {
    const problem = foreign()
    if (problem === null) return open(events)
    queueMicrotask(() => {
      events.failed({ kind: 'refused', problem })
      events.closed()
    })
    return { send: () => undefined, end: () => undefined, destroy: () => undefined }
  }
}

/** Returns why no daemon is started for a file, or null if one may be. */
export function unknownFile(
  file: string | null,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  if (file === null || isKnownFile(file, env)) return null
  return (
    `Switchboard was never run on ${file} by this user, and a file can start programs: ` +
    `read it, then run once: switchboard up --config ${shellWord(file)}`
  )
}
