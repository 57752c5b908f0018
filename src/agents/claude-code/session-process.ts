// The process behind one session. A sleeping session has none. A turn starts it, with `--resume` if the conversation
// was begun before. The conversation's id is noted before the process starts.
import { asSwitchboardError, type Delivery } from '../../contract/index.ts'
import { openWorktree } from '../../kit/processes/index.ts'
import { type Child, type ChildDeps, startChild } from './child.ts'
import { INSTALL_HINT, launchArgs, launchEnv, writeMcpConfig } from './launch.ts'
import type { SessionDeps } from './session.ts'
import type { SessionNote } from './session-notes.ts'

const TOKEN_MS = 7 * 86_400_000
/** An idle process older than this is restarted, because its token expires. */
const RENEW_MS = 86_400_000

/** The conversation is no longer on the disk, so the state of the turn is lost. */
export class Forgotten extends Error {}

export interface SessionProcess {
  /** The process that runs now or is ending. */
  child(): Child | null
  /** Starts the process if there is none. Throws `Forgotten` if the turn was begun in a conversation that is gone. */
  wake(delivery: Delivery): Promise<Child>
  /** The id of the conversation, and whether it was begun. */
  note(): SessionNote
  /** The process reported the conversation's id, so it was begun. */
  renamed(id: string): void
  /** The session's working folder: its own, or the shared one. */
  folder(): Promise<string>
}

interface ProcessDeps extends SessionDeps {
  readonly isIdle: () => boolean
  readonly isBusy: () => boolean
  readonly onEvent: ChildDeps['onEvent']
  /** Called just before the process starts. */
  readonly starting: () => void
  readonly ended: (words: string) => Promise<void>
  /** Called when the conversation was gone from the disk and a new one was begun. */
  readonly lost: (delivery: Delivery) => Promise<void>
}

export function createSessionProcess(session: string, deps: ProcessDeps): SessionProcess {
  const { config, clock, log } = deps
  let child: Child | null = null
  let noted: SessionNote | null = null
  /** A failed start does not delay the next one. */
  let again = ''

  const note = () => {
    noted ??= deps.notes.get(session) ?? { id: session, begun: false }
    return noted
  }

  const folder = async (): Promise<string> => {
    if (!config.worktree) return config.cwd
    const wanted = {
      repository: config.cwd,
      folder: `${config.place.folder}/worktrees/${session}`,
      branch: `switchboard/${session.slice(0, 13)}`,
    }
    return openWorktree(wanted, config.place.environment)
  }

  /** Logs the first few lines that are not messages. */
  const countNoise = () => {
    let lines = 0
    return () => {
      lines += 1
      if (Number.isInteger(Math.log10(lines)))
        log.warn({ session, lines }, 'Claude Code wrote lines that are no messages')
    }
  }

  const start = async (known: SessionNote): Promise<Child> => {
    const { publicBase, tokens, secrets, place, command } = config
    const scope = { agent: deps.agent.id, session }
    const [cwd, mcpConfig, { token }] = await Promise.all([
      folder(),
      writeMcpConfig(place.folder, publicBase()),
      tokens.mint({ kind: 'agent', scope, ttlMs: TOKEN_MS }),
    ])
    // Noted before the start, so that its output can be found by this id afterwards.
    deps.notes.put(session, known)
    deps.starting()
    const started = await startChild(
      `${deps.agent.id} ${session.slice(0, 8)}${again}`,
      {
        ...{ command, cwd, hint: INSTALL_HINT, secrets: [...secrets, token] },
        args: launchArgs(config, known, mcpConfig, deps.agent.channels !== null),
        env: launchEnv(config, token),
      },
      {
        ...{ keeper: deps.keeper, clock, random: deps.random },
        ...{ onEvent: deps.onEvent, onNoise: countNoise() },
        ...{ silentMs: config.silence, isBusy: deps.isBusy },
      },
    )
    void started.ended.then(({ words }) => {
      if (child === started) child = null
      return deps.ended(words)
    })
    return started
  }

  return {
    child: () => child,
    note,
    folder,
    renamed(id) {
      if (noted?.id === id && noted.begun) return
      noted = { id, begun: true }
      try {
        deps.notes.put(session, noted)
      } catch (thrown) {
        log.error({ session, problem: String(thrown) }, 'a session cannot be noted')
      }
    },
    async wake(delivery) {
      if (child?.isAlive() && deps.isIdle() && clock.now() - child.startedAt > RENEW_MS)
        await child.end('it is renewed')
      if (child?.isAlive()) return child
      await child?.ended
      await deps.makeRoom()
      const known = note()
      try {
        child = await start(known)
      } catch (thrown) {
        const error = asSwitchboardError(thrown)
        const isLost = known.begun && /No conversation found/i.test(error.message)
        const isUsed = !known.begun && /already in use/i.test(error.message)
        if (!isLost && !isUsed) throw error
        // It was begun before a note was written, or it is gone from the disk.
        noted = isUsed ? { ...known, begun: true } : { id: deps.random.uuid(), begun: false }
        again = ' anew'
        // It is unknown whether the turn was begun in the lost conversation.
        const isForgotten = isLost && (delivery.repeat || delivery.continuation)
        if (isForgotten) deps.notes.put(session, noted)
        else child = await start(noted)
        if (isLost) await deps.lost(delivery)
        if (isForgotten || !child) throw new Forgotten()
      }
      return child
    },
  }
}
