// One session: asleep (no process) ⇄ running. A turn wakes it, by `--resume` where it began before; idleness, a stop or a
// crash put it to sleep. Turns that were in work when the process went are offered again and go on as continuations: what
// stands in the transcript is never asked for a second time.
import {
  type AgentOutlet,
  asSwitchboardError,
  type Cancel,
  type ConnectorDeps,
  type Delivery,
  SwitchboardError,
} from '../../contract/index.ts'
import {
  createSerial,
  type createVerdictWait,
  createWorkTime,
  filesOf,
  maybeAgainWords,
  tookTooLong,
  turnText,
  type WorkTime,
} from '../../kit/index.ts'
import { openWorktree, type ProcessKeeper } from '../../kit/processes/index.ts'
import { createAnewTurns } from './anew.ts'
import { createAsks } from './asks.ts'
import { type Child, startChild } from './child.ts'
import type { ClaudeCodeConfig } from './config.ts'
import { INSTALL_HINT, launchArgs, launchEnv, writeMcpConfig } from './launch.ts'
import { createNotices } from './notices.ts'
import { createOpenTurns, type OpenTurn, uuidOf, uuidsOf } from './open-turns.ts'
import type { SessionNote, SessionNotes } from './session-notes.ts'
import { createStopping } from './stopping.ts'
import { createEventTaker } from './take-events.ts'
import { standingOf } from './transcript.ts'
import { userLine } from './wire.ts'

export interface ClaudeSession {
  deliver(delivery: Delivery): Promise<void>
  /** True: the turn was in work here. */
  cancel(turn: string | null): boolean
  has(turn: string): boolean
  isRunning(): boolean
  isIdle(): boolean
  /** Neither a process nor work, and nobody is asked: nothing is lost with it. */
  isAsleep(): boolean
  idleSince(): number
  /** Puts it to sleep. */
  end(reason: string): Promise<void>
  /** Its chat has begun another: it is put to sleep when it is idle. */
  leave(): void
}

export interface SessionDeps
  extends Pick<ConnectorDeps, 'agent' | 'clock' | 'random' | 'log' | 'tools' | 'crashPoint'> {
  readonly config: ClaudeCodeConfig
  readonly keeper: ProcessKeeper
  readonly notes: SessionNotes
  readonly outlet: () => AgentOutlet
  readonly verdicts: ReturnType<typeof createVerdictWait>
  readonly node: string | null
  /** Ends an idle one where there is no place for another. */
  readonly makeRoom: () => Promise<void>
  readonly trouble: (words: string | null) => void
  /** The connector is being stopped: what is in work is found by the next life. */
  readonly isStopping: () => boolean
  readonly roomy: () => void
}

/** The conversation is gone from the disk, and with it what became of the turn. */
class Forgotten extends Error {}
const TOKEN_MS = 7 * 86_400_000
/** Older than this it is begun anew when it is idle: its token has an end. */
const RENEW_MS = 86_400_000

const CONTINUE =
  '[Switchboard] The work on the last message was interrupted: the program or the machine was stopped. Go on from where it stands, and end with the answer. What has a result above was done: do not do it again. A tool call without a result may or may not have run: look before you run it again, and say so where you cannot know.'

export function createClaudeSession(session: string, deps: SessionDeps): ClaudeSession {
  const { config, clock, log } = deps
  const turns = createOpenTurns()
  const notices = createNotices(session, deps.outlet)
  const inOrder = createSerial()
  let child: Child | null = null
  let note: SessionNote | null = null
  /** A failed start of the one before puts off none of the next. */
  let again = ''
  let idleSince = clock.now()
  let isLeft = false
  let cancelIdle: Cancel = () => undefined
  let time: WorkTime | null = null
  let waits = 0
  let allAnswered: () => void = () => undefined
  const isIdle = () => turns.all().length === 0 && !asks.isWaiting()

  /** Waiting for people is no work, however many of them are asked at once. */
  const outside = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waits++ === 0)
      void time?.outside(
        () =>
          new Promise<void>((resolve) => {
            allAnswered = resolve
          }),
      )
    try {
      return await work()
    } finally {
      if (--waits === 0) allAnswered()
    }
  }

  const overTime = () => {
    const words = tookTooLong(config.turn_timeout)
    for (const turn of turns.all().filter(({ started }) => started)) void taker.fail(turn, words)
    stopping.interrupt(turns.all().length === 0)
  }

  const changed = () => {
    if (!turns.all().some(({ started }) => started)) {
      time?.stop()
      time = null
    }
    cancelIdle()
    if (!isIdle()) return
    idleSince = clock.now()
    cancelIdle = clock.after(isLeft ? 0 : config.idle_after, () => {
      if (isIdle()) void child?.end(isLeft ? 'a new session was begun there' : 'it was idle')
    })
    deps.roomy()
  }

  const taker = createEventTaker({
    ...{ agent: deps.agent.id, session, clock, log, turns, changed },
    ...{ journal: config.journal, outlet: deps.outlet, node: deps.node, trouble: deps.trouble },
    began() {
      stopping.heard()
      time ??= createWorkTime(clock, config.turn_timeout, overTime)
    },
    known: (turn) => void inOrder(() => answerOrContinue(turn)),
    renamed(id) {
      if (note?.id === id && note.begun) return
      note = { id, begun: true }
      try {
        deps.notes.put(session, note)
      } catch (thrown) {
        log.error({ session, problem: String(thrown) }, 'a session cannot be noted')
      }
    },
  })
  const asks = createAsks({
    ...{ session, clock, log, outside },
    ...{ outlet: deps.outlet, verdicts: deps.verdicts, alwaysAllow: config.always_allow },
    write: async (line) => child?.write(line),
    current: turns.current,
    isStopped: () => stopping.isUnheard(),
  })
  const stopping = createStopping({
    clock,
    child: () => child,
    results: taker.results,
    isEmpty: () => turns.all().length === 0,
  })

  /** The first of them that runs decides: a folder of its own, or the one of all. */
  const folder = async (): Promise<string> => {
    if (!config.worktree) return config.cwd
    const short = session.slice(0, 13)
    const wanted = {
      repository: config.cwd,
      folder: `${config.place.folder}/worktrees/${session}`,
      branch: `switchboard/${short}`,
    }
    return openWorktree(wanted, config.place.environment)
  }

  const knownNote = () => {
    note ??= deps.notes.get(session) ?? { id: session, begun: false }
    return note
  }

  const start = async (known: SessionNote): Promise<Child> => {
    const { publicBase, tokens, secrets, place, command } = config
    const scope = { agent: deps.agent.id, session }
    const [cwd, mcpConfig, { token }] = await Promise.all([
      folder(),
      writeMcpConfig(place.folder, publicBase()),
      tokens.mint({ kind: 'agent', scope, ttlMs: TOKEN_MS }),
    ])
    // Noted before it begins: what it writes is found again by this id.
    deps.notes.put(session, known)
    taker.anew()
    stopping.heard()
    let noise = 0
    const started = await startChild(
      `${deps.agent.id} ${session.slice(0, 8)}${again}`,
      {
        ...{ command, cwd, hint: INSTALL_HINT, secrets: [...secrets, token] },
        args: launchArgs(config, known, mcpConfig, deps.agent.channels !== null),
        env: launchEnv(config, token),
      },
      {
        ...{ keeper: deps.keeper, clock, random: deps.random },
        onEvent(event) {
          if (event.kind === 'request') asks.take(event.id, event.request)
          else if (event.kind === 'withdrawn') asks.withdrawn(event.id)
          else taker.take(event)
        },
        onNoise() {
          noise += 1
          // One that writes nothing else costs no more than a few lines of the log.
          if (Number.isInteger(Math.log10(noise)))
            log.warn({ session, lines: noise }, 'Claude Code wrote lines that are no messages')
        },
        silentMs: config.silence,
        isBusy: () => turns.all().length > 0 && !asks.isWaiting(),
      },
    )
    void started.ended.then(async ({ words }) => {
      if (child === started) child = null
      asks.stop()
      // What it said before it went is taken first.
      await taker.settled()
      if (!deps.isStopping() && child === null) await taker.giveBack(turns.all(), words)
      changed()
    })
    return started
  }

  /** The process of this session. Tells whoever waits when the conversation had to begin anew. */
  const wake = async (delivery: Delivery): Promise<Child> => {
    if (child?.isAlive() && isIdle() && clock.now() - child.startedAt > RENEW_MS)
      await child.end('it is renewed')
    if (child?.isAlive()) return child
    await child?.ended
    await deps.makeRoom()
    const known = knownNote()
    try {
      child = await start(known)
    } catch (thrown) {
      const error = asSwitchboardError(thrown)
      const isLost = known.begun && /No conversation found/i.test(error.message)
      const isUsed = !known.begun && /already in use/i.test(error.message)
      if (!isLost && !isUsed) throw error
      // Begun before we could note it, or gone from the disk.
      note = isUsed ? { ...known, begun: true } : { id: deps.random.uuid(), begun: false }
      again = ' anew'
      // Whether it was begun in what is gone nobody can say any more.
      const isForgotten = isLost && (delivery.repeat || delivery.continuation)
      if (isForgotten) deps.notes.put(session, note)
      else child = await start(note)
      if (isLost) await notices.lost(delivery)
      if (isForgotten || !child) throw new Forgotten()
    }
    return child
  }

  /** `before`: what has to be kept when it leaves. */
  const write = async (delivery: Delivery, uuid: string, line: string, before?: () => Promise<void>) => {
    const running = await wake(delivery)
    await before?.()
    const turn = turns.add(delivery, uuid)
    cancelIdle()
    deps.crashPoint?.('claude-code.before-write')
    try {
      await running.write(line)
    } catch (thrown) {
      turns.remove(turn.delivery.turn)
      changed()
      const why = asSwitchboardError(thrown).message
      // Whatever it took of it is known by the uuid.
      throw new SwitchboardError('agent_absent', why, { retryAfterMs: 1_000 })
    }
  }

  const look = async (delivery: Delivery) => {
    const { id } = knownNote()
    const env = { ...config.place.environment, ...config.env }
    return standingOf(uuidsOf(delivery), { id, env, cwd: await folder() })
  }
  const writeContinuation = (delivery: Delivery) => {
    const uuid = uuidOf(`${delivery.turn}:${delivery.attempt}`)
    return write(delivery, uuid, userLine(uuid, CONTINUE))
  }

  /** The program knew the message from before and did not run it: its answer stands in the transcript, or it goes on. */
  const answerOrContinue = async (turn: OpenTurn) => {
    if (turns.get(turn.delivery.turn) !== turn) return
    const standing = await look(turn.delivery)
    if (standing.kind === 'answered') return taker.answer(turn, standing.text)
    turns.remove(turn.delivery.turn)
    await writeContinuation(turn.delivery).catch((thrown) =>
      taker.giveBack([turns.add(turn.delivery, turn.uuid)], asSwitchboardError(thrown).message),
    )
  }

  const anew = createAnewTurns({
    ...{ journal: config.journal, outlet: deps.outlet, verdicts: deps.verdicts },
    begin: (delivery, signal) => inOrder(() => writeMessage(delivery, signal)),
    fail: (delivery, words) => taker.fail(turns.add(delivery, uuidOf(delivery.turn)), words),
    giveBack: (delivery, words) => taker.giveBack([turns.add(delivery, uuidOf(delivery.turn))], words),
  })

  /** `wanted`: a person wanted it begun anew, until it is aborted. */
  const writeMessage = async (delivery: Delivery, wanted?: AbortSignal) => {
    const { files, words } = await filesOf(delivery, { images: true, pdf: false }, deps)
    const uuid = uuidOf(delivery.turn)
    const more: Record<string, string> = delivery.repeat ? { redelivery: 'true' } : {}
    const text = turnText(delivery, words, more)
    if (wanted === undefined) return write(delivery, uuid, userLine(uuid, text, files))
    const line = userLine(uuid, `${maybeAgainWords([])}\n${text}`, files)
    await write(delivery, uuid, line, async () => {
      wanted.throwIfAborted()
      await anew.begun(delivery.turn)
      wanted.throwIfAborted()
    })
  }

  const handOver = async (delivery: Delivery): Promise<void> => {
    const { repeat, continuation } = delivery
    if (!repeat && !continuation) return writeMessage(delivery)
    if (await anew.isOpen(delivery.turn)) return anew.ask(delivery)
    const { kind, text } = { text: '', ...(await look(delivery)) }
    if (kind === 'answered') return taker.answer(turns.add(delivery, uuidOf(delivery.turn)), text)
    // Seen, and nothing of it is here: what became of it cannot be known.
    if (continuation && (kind === 'absent' || (kind === 'unknown' && !knownNote().begun)))
      return anew.ask(delivery)
    try {
      await (kind === 'begun' || continuation ? writeContinuation(delivery) : writeMessage(delivery))
    } catch (thrown) {
      if (!(thrown instanceof Forgotten)) throw thrown
      await anew.ask(delivery)
    }
  }

  return {
    has: (turn) => turns.get(turn) !== undefined || anew.has(turn),
    isRunning: () => child !== null,
    isIdle,
    isAsleep: () => child === null && isIdle() && anew.isEmpty(),
    idleSince: () => idleSince,
    deliver: (delivery) => {
      if (asks.answers(delivery)) return notices.taken(delivery)
      if (delivery.meta.picked !== undefined) return notices.pickedTooLate(delivery)
      return inOrder(async () => {
        if (turns.get(delivery.turn) || anew.has(delivery.turn)) return
        await handOver(delivery)
      })
    },
    cancel(turn) {
      const found = turns.all().filter(({ delivery }) => turn === null || delivery.turn === turn)
      for (const one of found) turns.remove(one.delivery.turn)
      if (found.length > 0) {
        // It must not run what was allowed while it is being stopped.
        if (stopping.stop(found)) asks.stop()
        changed()
      }
      return anew.cancel(turn) || found.length > 0
    },
    leave() {
      isLeft = true
      changed()
    },
    async end(reason) {
      if (deps.isStopping()) anew.cancel(null)
      cancelIdle()
      time?.stop()
      asks.stop()
      await child?.end(reason)
      await taker.settled()
    },
  }
}
