// Ends a daemon that holds its folder and does not answer: one that starts is told to end, and does so as soon as it has
// started; one that drains already, and a command that is at work there, are waited for.

import type { HolderNote, StartingNote } from '../config/instance/daemon-note.ts'
import { SwitchboardError } from '../contract/index.ts'
import { folderHolder } from '../daemon/data-folder-lock.ts'
import { wordsIn } from '../words/index.ts'
import { ENDED_WITHIN_MS, notEnded, pause, signal } from './background.ts'
import type { Context } from './context.ts'

export interface UnreadyDeps {
  readonly data: string
  readonly logFile: string
  /** Null: nobody holds the folder. */
  holder(): HolderNote | null
  /** Throws when that daemon is not to be ended: it is another than the one that was meant. */
  demandMeant(daemon: StartingNote): void
  /** False: there is no such process. */
  signal(pid: number, name: NodeJS.Signals | 0): boolean
  now(): number
  pause(): Promise<void>
  /** To the person who waits. */
  tell(text: string): void
}

/** What it said of itself, when it has ended; null: no daemon was there to end. Throws, after a while that was told, when it goes on. */
export async function endUnready(deps: UnreadyDeps): Promise<StartingNote | null> {
  const words = wordsIn().daemonCommands.stop
  const seconds = ENDED_WITHIN_MS / 1_000
  const until = deps.now() + ENDED_WITHIN_MS
  let told = false
  let asked: StartingNote | null = null
  let seen: number | null = null
  for (;;) {
    const holder = deps.holder()
    if (holder === null || (asked !== null && !deps.signal(asked.pid, 0))) return asked
    // Looked at twice: in the instant in which a new owner takes the folder, the note may be that of one who was killed.
    if (holder.note !== null && asked === null && seen !== holder.note.pid) seen = holder.note.pid
    else if (holder.note !== null && asked === null) {
      deps.demandMeant(holder.note)
      asked = holder.note
      deps.signal(asked.pid, 'SIGTERM')
      const say = holder.state === 'starting' ? words.toldUnready : words.told
      deps.tell(say({ pid: asked.pid, seconds }))
    } else if (asked === null && !told) {
      told = true
      deps.tell(words.held({ folder: deps.data, seconds }))
    }
    if (deps.now() >= until) throw stillHeld(deps, asked, holder)
    await deps.pause()
  }
}

function stillHeld(
  { data, logFile }: UnreadyDeps,
  asked: StartingNote | null,
  { state }: HolderNote,
): SwitchboardError {
  if (asked === null)
    return new SwitchboardError('execution_failed', `${data} is still held, and by no daemon that answers`, {
      hint: `a restore or a daemon that drains may be at work: try again later; its log: ${logFile}`,
    })
  const { pid } = asked
  if (state !== 'starting') return notEnded(pid)
  return new SwitchboardError(
    'execution_failed',
    `the daemon (process ${pid}) is still starting, and has not stopped`,
    {
      hint:
        `it was told to stop, and does when it is ready; its log: ${logFile}; ` +
        `to end it at once, which loses nothing: kill -9 ${pid}`,
    },
  )
}

export function unreadyOf({ folder, note }: Context, demandMeant: UnreadyDeps['demandMeant']): UnreadyDeps {
  return {
    ...{ data: folder.path, logFile: folder.logFile, signal, pause, tell: note },
    demandMeant,
    holder: () => folderHolder(folder),
    now: () => Date.now(),
  }
}
