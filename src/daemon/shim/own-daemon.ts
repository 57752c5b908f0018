// A shim talks to its own instance only: to no daemon that runs another file than the one it was given, and it starts one
// only for a file on which this user ran `init` or `up`. A file is a program: it may have been brought by anybody.
import type { OpenLink } from '../../attach/frame-link.ts'
import { readDaemonNote } from '../../config/instance/daemon-note.ts'
import type { DataFolder } from '../../config/instance/data-folder.ts'
import { isKnownFile } from '../../config/instance/known-instances.ts'
import { shellWord } from '../../config/instance/shell-word.ts'

/** Why the daemon of the folder is not this shim's; null: it is, or nothing is known of it. */
export function otherDaemon(folder: DataFolder, givenFile: string | null): string | null {
  const runs = givenFile === null ? undefined : readDaemonNote(folder)?.config
  if (givenFile === null || runs === undefined || runs === givenFile) return null
  return (
    `The gateway of ${folder.path} runs ${runs ?? 'the embedded default'}, and this session is for ${givenFile}: ` +
    'nothing is handed over. Leave --data and SWITCHBOARD_DATA out of its command, ' +
    `or stop that gateway and run: switchboard up --config ${shellWord(givenFile)} --data ${shellWord(folder.path)}`
  )
}

/** Opens the link unless the daemon there is another's. */
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

/** Why no daemon is started for a file; null: one may be. */
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
