// Ends a daemon that holds its folder and is not ready: one that starts is told to end, and does so as soon as it has
// started; one that drains already, and a command that is at work there, are waited for.
import { folderHolder } from '../app/folder-held.ts'
import type { StartingNote } from '../config/daemon-note.ts'
import { SwitchboardError } from '../contract/index.ts'
import { ENDED_WITHIN_MS, pause, signal } from './background.ts'
import type { Context } from './context.ts'
import { demandSameFile } from './own-instance.ts'

export interface UnreadyDeps {
  readonly data: string
  readonly logFile: string
  /** Null: nobody holds the folder. `note`: the daemon that starts there; null: it drains, or is a command. */
  holder(): { readonly note: StartingNote | null } | null
  /** Throws when the daemon that starts is another than the one that was meant. */
  demandMeant(): void
  /** False: there is no such process. */
  signal(pid: number, name: NodeJS.Signals | 0): boolean
  now(): number
  pause(): Promise<void>
  /** To the person who waits. */
  tell(text: string): void
}

/** Its pid when it has ended; null: no daemon was there to end. Throws, after a while that was told, when it goes on. */
export async function endUnready(deps: UnreadyDeps): Promise<number | null> {
  const seconds = ENDED_WITHIN_MS / 1_000
  const until = deps.now() + ENDED_WITHIN_MS
  let told = false
  let asked: number | null = null
  let seen: number | null = null
  for (;;) {
    const holder = deps.holder()
    if (holder === null || (asked !== null && !deps.signal(asked, 0))) return asked
    // Looked at twice: in the instant in which a new owner takes the folder, the note may be that of one who was killed.
    if (holder.note !== null && asked === null && seen !== holder.note.pid) seen = holder.note.pid
    else if (holder.note !== null && asked === null) {
      deps.demandMeant()
      asked = holder.note.pid
      deps.signal(asked, 'SIGTERM')
      deps.tell(
        `the daemon (process ${asked}) is not ready yet: it is told to stop; waiting at most ${seconds} s`,
      )
    } else if (asked === null && !told) {
      told = true
      deps.tell(`${deps.data} is held by a daemon that stops, or by a command: waiting at most ${seconds} s`)
    }
    if (deps.now() >= until) throw stillHeld(deps, asked)
    await deps.pause()
  }
}

function stillHeld({ data, logFile }: UnreadyDeps, asked: number | null): SwitchboardError {
  if (asked === null)
    return new SwitchboardError('execution_failed', `${data} is still held, and by no daemon that answers`, {
      hint: `a restore or a daemon that drains may be at work: try again later; its log: ${logFile}`,
    })
  return new SwitchboardError(
    'execution_failed',
    `the daemon (process ${asked}) is still starting, and has not stopped`,
    {
      hint:
        `it was told to stop, and does when it is ready; its log: ${logFile}; ` +
        `to end it at once, which loses nothing: kill -9 ${asked}`,
    },
  )
}

export function unreadyOf({ folder, instance, note }: Context): UnreadyDeps {
  return {
    ...{ data: folder.path, logFile: folder.logFile, signal, pause, tell: note },
    holder: () => folderHolder(folder),
    demandMeant: () => demandSameFile(instance, folder),
    now: () => Date.now(),
  }
}
