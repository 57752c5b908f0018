// One session: asleep (no process) ⇄ running. A turn wakes it, with `--resume` if it was begun before. Idleness, a stop
// or a crash puts it to sleep. Turns in work at that moment are offered again and continued. What the transcript
// contains is never asked for a second time.
import {
  type AgentOutlet,
  asSwitchboardError,
  type Cancel,
  type ConnectorDeps,
  createSerial,
  type Delivery,
  SwitchboardError,
} from '../../contract/index.ts'
import {
  type createVerdictWait,
  filesOf,
  maybeAgainWords,
  serverWords,
  tookTooLong,
  turnText,
} from '../../kit/index.ts'
import type { ProcessKeeper } from '../../kit/processes/index.ts'
import { createAnewTurns } from './anew.ts'
import { createAsks } from './asks.ts'
import type { ClaudeCodeConfig } from './config.ts'
import { createNotices } from './notices.ts'
import { createOpenTurns, type OpenTurn, uuidOf, uuidsOf } from './open-turns.ts'
import type { SessionNotes } from './session-notes.ts'
import { createSessionProcess, Forgotten } from './session-process.ts'
import { createStopping } from './stopping.ts'
import { createEventTaker } from './take-events.ts'
import { standingOf } from './transcript.ts'
import { createTurnTime } from './turn-time.ts'
import { userLine } from './wire.ts'

export interface ClaudeSession {
  deliver(delivery: Delivery): Promise<void>
  /** Returns whether the turn was in work here. */
  cancel(turn: string | null): boolean
  has(turn: string): boolean
  isRunning(): boolean
  isIdle(): boolean
  /** A person is being asked. */
  isAsking(): boolean
  /** It has no process, no work and no open question, so it can be dropped. */
  isAsleep(): boolean
  idleSince(): number
  /** Puts it to sleep. */
  end(reason: string): Promise<void>
  /** Its chat began a new session. It goes to sleep when it is idle. */
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
  /** Ends an idle process if the limit of processes is reached. */
  readonly makeRoom: () => Promise<void>
  readonly trouble: (words: string | null) => void
  /** The connector is stopping. The next run continues the work. */
  readonly isStopping: () => boolean
  readonly roomy: () => void
}

const CONTINUE =
  '[Switchboard] The work on the last message was interrupted: the program or the machine was stopped. Go on from where it stands, and end with the answer. What has a result above was done: do not do it again. A tool call without a result may or may not have run: look before you run it again, and say so where you cannot know. One that nobody allowed did not run: call it again if it is still needed.'

export function createClaudeSession(session: string, deps: SessionDeps): ClaudeSession {
  const { config, clock, log } = deps
  const turns = createOpenTurns()
  const notices = createNotices(session, deps.outlet)
  const inOrder = createSerial()
  let idleSince = clock.now()
  let isLeft = false
  let cancelIdle: Cancel = () => undefined
  const isIdle = () => turns.all().length === 0 && !asks.isWaiting()

  const overTime = () => endWork(tookTooLong(config.turn_timeout))
  const endWork = (words: string) => {
    for (const turn of turns.all().filter(({ started }) => started)) void taker.fail(turn, words)
    stopping.interrupt(turns.all().length === 0)
  }
  const time = createTurnTime(clock, config.turn_timeout, overTime)

  const changed = () => {
    if (!turns.all().some(({ started }) => started)) time.end()
    cancelIdle()
    if (!isIdle()) return
    idleSince = clock.now()
    cancelIdle = clock.after(isLeft ? 0 : config.idle_after, () => {
      if (isIdle()) void process.child()?.end(isLeft ? 'a new session was begun there' : 'it was idle')
    })
    deps.roomy()
  }

  const taker = createEventTaker({
    ...{ agent: deps.agent.id, session, clock, log, turns, changed },
    ...{ journal: config.journal, outlet: deps.outlet, node: deps.node, trouble: deps.trouble },
    began() {
      stopping.heard()
      time.begin()
    },
    known: (turn) => void inOrder(() => answerOrContinue(turn)),
    refused(words) {
      deps.trouble(words)
      endWork(words)
    },
    renamed: (id) => process.renamed(id),
  })
  const asks = createAsks({
    ...{ session, clock, log, outside: time.outside },
    ...{ outlet: deps.outlet, verdicts: deps.verdicts, alwaysAllow: config.always_allow },
    write: async (line) => process.child()?.write(line),
    current: turns.current,
    isStopped: () => stopping.isUnheard(),
  })
  const stopping = createStopping({
    clock,
    child: () => process.child(),
    results: taker.results,
    isEmpty: () => turns.all().length === 0,
  })

  const process = createSessionProcess(session, {
    ...{ ...deps, isIdle, lost: notices.lost },
    isBusy: () => turns.all().length > 0 && !asks.isWaiting(),
    onEvent(event) {
      if (event.kind === 'request') asks.take(event.id, event.request)
      else if (event.kind === 'withdrawn') asks.withdrawn(event.id)
      else taker.take(event)
    },
    starting() {
      taker.anew()
      stopping.heard()
    },
    async ended(words) {
      asks.stop()
      // The output before the end is processed first.
      await taker.settled()
      if (!deps.isStopping() && process.child() === null) await taker.giveBack(turns.all(), words)
      changed()
    },
  })

  /** `before` runs before the line is written. */
  const write = async (delivery: Delivery, uuid: string, line: string, before?: () => Promise<void>) => {
    const running = await process.wake(delivery)
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
      // If it took a part of the line, the uuid identifies it.
      throw new SwitchboardError('agent_absent', why, { retryAfterMs: 1_000 })
    }
  }

  const look = async (delivery: Delivery) => {
    const { id } = process.note()
    const env = { ...config.place.environment, ...config.env }
    return standingOf(uuidsOf(delivery), { id, env, cwd: await process.folder() })
  }
  const writeContinuation = (delivery: Delivery) => {
    const uuid = uuidOf(`${delivery.turn}:${delivery.attempt}`)
    return write(delivery, uuid, userLine(uuid, CONTINUE))
  }

  /** Claude Code knew the line and did not run it again. The answer is in the transcript, or the turn is continued. */
  const answerOrContinue = async (turn: OpenTurn) => {
    if (turns.get(turn.delivery.turn) !== turn) return
    try {
      const standing = await look(turn.delivery)
      if (standing.kind === 'answered') return await taker.answer(turn, standing.text)
      turns.remove(turn.delivery.turn)
      await writeContinuation(turn.delivery)
    } catch (thrown) {
      await taker.giveBack([turns.add(turn.delivery, turn.uuid)], asSwitchboardError(thrown).message)
    }
  }

  const anew = createAnewTurns({
    ...{ journal: config.journal, outlet: deps.outlet, verdicts: deps.verdicts },
    begin: (delivery, signal) => inOrder(() => writeMessage(delivery, signal)),
    fail: (delivery, words) => taker.fail(turns.add(delivery, uuidOf(delivery.turn)), words),
    giveBack: (delivery, words) => taker.giveBack([turns.add(delivery, uuidOf(delivery.turn))], words),
  })

  /** `wanted`: a person asked for a new beginning. It aborts if they cancel. */
  const writeMessage = async (delivery: Delivery, wanted?: AbortSignal) => {
    const { files, words } = await filesOf(delivery, { images: true, pdf: false }, deps)
    const uuid = uuidOf(delivery.turn)
    const more: Record<string, string> = delivery.repeat ? { redelivery: 'true' } : {}
    const own = turnText(delivery, words, more)
    const theirs = process.note().begun ? '' : serverWords(delivery)
    const text = theirs === '' ? own : `${theirs}\n${own}`
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
    // The turn was seen, but the transcript has no trace of it. Its outcome cannot be known.
    if (continuation && (kind === 'absent' || (kind === 'unknown' && !process.note().begun)))
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
    isRunning: () => process.child() !== null,
    isIdle,
    isAsking: () => asks.isWaiting(),
    isAsleep: () => process.child() === null && isIdle() && anew.isEmpty(),
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
        // What was allowed must not run while the turn is being stopped.
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
      time.end()
      // The process must not answer its own question. An open question stays open.
      const how = asks.isWaiting() ? 'unheard' : undefined
      asks.stop()
      await process.child()?.end(reason, how)
      await taker.settled()
    },
  }
}
