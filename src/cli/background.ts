// Daemons that run without a terminal: starts one and waits until it is ready, stops one and waits until it has drained.

import { type DaemonNote, readDaemonNote } from '../config/instance/daemon-note.ts'
import { folderWasNamed } from '../config/instance/instance.ts'
import { ERROR_TABLE, type ErrorCode, type IntegrationView, SwitchboardError } from '../contract/index.ts'
import { lastWords, spawnDaemon } from '../daemon/shim/spawn-daemon.ts'
import type { Context } from './context.ts'
import { daemonAnswers } from './daemon-client.ts'
import { ownProgram } from './own-program.ts'

const STEP_MS = 50
/** A daemon with many integrations starts slowly. After this time it counts as hanging. */
const READY_WITHIN_MS = 90_000
/** Longer than a daemon takes to drain. */
export const ENDED_WITHIN_MS = 45_000

export const pause = () => new Promise<void>((resolve) => setTimeout(resolve, STEP_MS))

/** The daemon that answers for the folder. Null: none does. */
export async function daemonNow(context: Context): Promise<DaemonNote | null> {
  return (await daemonAnswers(context.folder.socket)) ? readDaemonNote(context.folder) : null
}

/** Resolves when it is ready. Throws the reason when it ended. `up` holds more options of `up`. */
export async function startInBackground(
  context: Context,
  wish: {
    readonly configFile: string | null
    readonly up: readonly string[]
    /** Also beside data of an earlier version. */
    readonly fresh?: boolean | undefined
  },
): Promise<DaemonNote> {
  const { folder, terminal } = context
  const place = { folder, configFile: wish.configFile, env: terminal.env, program: ownProgram() }
  let ended: number | null | undefined
  // A person who named the folder, or gave --fresh, starts empty on purpose. The child does not get the folder when it follows
  // from the file.
  const fresh = wish.fresh === true || folderWasNamed(context.instance)
  const child = spawnDaemon(place, ['--detached', ...(fresh ? ['--fresh'] : []), ...wish.up])
  child.once('exit', (code) => {
    ended = code
  })
  child.once('error', () => {
    ended = null
  })
  for (const until = Date.now() + READY_WITHIN_MS; Date.now() < until; await pause()) {
    const note = readDaemonNote(folder)
    if (note !== null && note.pid === child.pid && (await daemonAnswers(folder.socket))) return note
    if (ended === 0) throw stoppedMeanwhile(child.pid)
    if (ended !== undefined) throw whyNot(folder.logFile)
  }
  throw new SwitchboardError('execution_failed', `it is not ready after ${READY_WITHIN_MS / 1_000} s`, {
    hint: `it goes on trying; see: ${folder.logFile}`,
  })
}

/** Its log ends like that of every stopped daemon, which does not explain why it is gone. */
function stoppedMeanwhile(pid: number | undefined): SwitchboardError {
  return new SwitchboardError(
    'execution_failed',
    `the daemon (process ${pid}) was stopped while it was starting`,
    {
      hint: 'somebody told it to: switchboard stop, or a signal',
    },
  )
}

function whyNot(logFile: string): SwitchboardError {
  const words = lastWords(logFile)
  const known = words?.code !== null && words !== undefined && Object.hasOwn(ERROR_TABLE, words?.code ?? '')
  const code = known ? (words?.code as ErrorCode) : 'execution_failed'
  return new SwitchboardError(code, words?.text ?? 'the daemon ended at once', {
    hint: words?.hint ?? `its log: ${logFile}`,
  })
}

/** Tells it to drain, and waits until it has ended. Throws when it does not. */
export async function endDaemon(note: DaemonNote): Promise<void> {
  signal(note.pid, 'SIGTERM')
  for (const until = Date.now() + ENDED_WITHIN_MS; Date.now() < until; await pause())
    if (!signal(note.pid, 0)) return
  throw notEnded(note.pid)
}

/** From outside, a long drain and a hanging process look the same. */
export function notEnded(pid: number): SwitchboardError {
  const seconds = ENDED_WITHIN_MS / 1_000
  const text = `the daemon (process ${pid}) was told to stop, and has not ended within ${seconds} s`
  return new SwitchboardError('execution_failed', text, {
    hint: `wait (it reads open answers of http agents to their end), or end it at once, which loses nothing: kill -9 ${pid}; then see: switchboard doctor`,
  })
}

/** False: there is no such process. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw new SwitchboardError('execution_failed', `process ${pid} cannot be told to end`, {
      hint: 'the daemon belongs to another user',
      cause: thrown,
    })
  }
}

/** What the banner of a background daemon shows besides its note. */
export async function reachOf(context: Context): Promise<{
  readonly chatLink: string | null
  readonly integrations: readonly IntegrationView[]
}> {
  const daemon = await context.daemon()
  const link = await daemon.ask('POST /api/chat-link').catch(() => null)
  const { items } = await daemon.ask('GET /api/integrations')
  return { chatLink: link?.url ?? null, integrations: items }
}
