// The connector `acp`: any agent that speaks the Agent Client Protocol over stdio, one process per session. A turn is
// handed over when its prompt was written to the agent's pipe. Its first update proves that it was seen, and its stop
// reason ends it.
//
// An interrupted turn is never simply prompted again, because its tools would run twice. If the agent remembers the
// message, it is asked to continue. If the agent remembers only the conversation, or does not tell, the message is sent
// again, marked. If nothing can be known, a person decides.
import {
  type AgentConnector,
  type AgentOutlet,
  asSwitchboardError,
  type Cancel,
  type ConnectorDeps,
  createBoundedMap,
  type Delivery,
  defined,
  SwitchboardError,
} from '../../contract/index.ts'
import { createVerdictWait } from '../../kit/index.ts'
import { createSessionHome, createWaitingSessions, folderProblem } from '../../kit/processes/index.ts'
import { wordsIn } from '../../words/index.ts'
import { type AcpTurn, createTurn } from './acp-turn.ts'
import { problemOf } from './agent-link.ts'
import { createAway } from './away.ts'
import { beginOrGoOn } from './begin-or-go-on.ts'
import { readConfig } from './config.ts'
import { followTurn, soon } from './follow-turn.ts'
import { createLiveSessions, type LiveSession } from './live-sessions.ts'
import { createModeWords } from './mode-words.ts'
import { openSteps, type TurnSteps } from './turn-steps.ts'

const PLACES = 10_000
/** A cancelled agent must stop within this time; then its process is ended. */
const CANCEL_MS = 10_000
const STOP_MS = 5_000
const FOLDER_MS = 5_000

interface Run {
  readonly session: string
  readonly turn: AcpTurn
  /** Aborts the question whether the turn is begun again. */
  readonly anew: AbortController
  done: Promise<void>
  cancelled: boolean
}

/** Throws `config_invalid` for invalid options. */
export function createAcpConnector(deps: ConnectorDeps): AgentConnector {
  const config = readConfig(deps)
  const { clock, log } = deps
  /** Tracks modes that were not configured and that do not ask, or may not ask. */
  const modes = createModeWords(config.mode, tellPresence)
  const sessions = createLiveSessions(config, deps, modes)
  const waiting = createWaitingSessions(clock, tellPresence)
  /** Why the agent cannot be started; null: no reason is known. */
  let absent: string | null = null
  const absentIs = (why: string | null) => {
    absent = why
    tellPresence()
  }
  const { journal } = deps
  const home = journal ? createSessionHome({ ...deps, journal, notes: sessions }) : null
  /** The last session of each place. After /new the old session's process is ended. */
  const places = createBoundedMap<string, string>(PLACES)
  const runs = new Map<string, Run>()
  const verdicts = createVerdictWait()
  let outlet: AgentOutlet | null = null
  let cancelLook: Cancel = () => undefined

  const present = (): AgentOutlet => {
    if (outlet) return outlet
    throw new SwitchboardError('agent_absent', 'the agent is being stopped', { retryAfterMs: 1_000 })
  }

  const away = createAway({
    ...{ clock, outlet: () => outlet, absentIs },
    open: (session) => sessions.open(session, { interrupted: true }),
  })

  const opened = async (delivery: Delivery, interrupted: boolean): Promise<LiveSession> => {
    try {
      const live = await sessions.open(delivery.session, { interrupted })
      away.end(live)
      waiting.found(delivery.session)
      return live
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'agent_absent')
      const why = [error.message, error.hint].filter(Boolean).join(' ')
      if (error.busy) waiting.refused(delivery.session, error.message)
      // An error without a cause means that no start was tried (no free process, or too soon after a failure).
      if (error.cause !== undefined) away.begin(delivery.session, why)
      throw new SwitchboardError('agent_absent', why, {
        retryAfterMs: error.retryAfterMs ?? 1_000,
        ...defined({ busy: error.busy }),
      })
    }
  }

  /**
   * Resolves when the turn was handed over, or when a person was asked about it. Its end is followed in the background.
   */
  const run = (
    delivery: Delivery,
    live: LiveSession,
    steps: TurnSteps,
    interrupted: boolean,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      let heard: () => void = () => undefined
      const turn = createTurn(delivery, {
        ...{ outlet: present(), clock, log, steps, verdictOn: verdicts.on },
        allowAlways: config.always,
        secrets: config.secrets,
        onSign: () => heard(),
      })
      live.turn = turn
      const anew = new AbortController()
      let asked = false
      const work = async () => {
        try {
          const onAsked = () => {
            asked = true
            live.asksAnew = true
            resolve()
          }
          const blocks = await beginOrGoOn(delivery, live, {
            ...{ ...deps, outlet: present(), verdicts, steps, interrupted, onAsked, signal: anew.signal },
          }).finally(() => {
            live.asksAnew = false
          })
          if (typeof blocks === 'string') return await turn.failed('agent_failed', blocks)
          // It was cancelled after the yes.
          if (anew.signal.aborted) return turn.end()
          live.hasPrompts = true
          const { written, stopped } = live.link.prompt(live.opened.id, blocks)
          // Followed in any case, because the process may take the prompt and end.
          void Promise.race([written, stopped, live.ended]).then(
            () => {
              deps.crashPoint?.('acp.prompted')
              resolve()
            },
            () => resolve(),
          )
          const onHeard = (hear: () => void) => {
            heard = hear
          }
          await followTurn(
            { delivery, live, turn, stopped, onHeard },
            { clock, config, wasCancelled, giveBack },
          )
        } catch (thrown) {
          turn.end()
          reject(asSwitchboardError(thrown, 'agent_absent'))
          // The hand-over ended when the person was asked, so its caller no longer hears errors.
          if (asked && !anew.signal.aborted) await giveBack(delivery, problemOf(thrown))
        } finally {
          runs.delete(delivery.turn)
          live.rest()
          resolve()
          outlet?.roomy()
        }
      }
      const one: Run = { session: delivery.session, turn, anew, done: Promise.resolve(), cancelled: false }
      runs.set(delivery.turn, one)
      one.done = work()
    })

  const wasCancelled = (turn: string) => runs.get(turn)?.cancelled === true || outlet === null

  const giveBack = async ({ turn }: Delivery, detail: string) => {
    await outlet?.accept({ kind: 'returned', turns: [turn], counted: true, detail }).catch((problem) => {
      log.error({ turn, problem: String(problem) }, 'a turn could not be given back')
    })
  }

  return {
    redelivery: { handed: 'again', seen: 'resume', afterTimeout: false },
    // One prompt at a time: the protocol has no queue.
    window: 1,
    holdsDecisions: true,
    endsTurns: true,
    ...(deps.nodes === undefined
      ? {}
      : { room: (session: string) => (home?.isElsewhere(session) || sessions.find(session)?.turn ? 0 : 1) }),
    async start(given) {
      outlet = given
      lookForFolder()
    },
    async deliver(delivery) {
      present()
      if (runs.has(delivery.turn)) return
      await stayHome(delivery)
      leaveOld(delivery)
      const interrupted = delivery.repeat || delivery.continuation
      const steps = await openSteps(deps.journal, delivery.turn)
      const live = await opened(delivery, interrupted)
      if (live.turn !== null)
        throw new SwitchboardError('agent_absent', 'it is still at the message before', {
          retryAfterMs: 1_000,
        })
      if (live.opened.memory === 'lost' && !interrupted) tellLost(delivery)
      await run(delivery, live, steps, interrupted)
    },
    verdict: async (verdict) => (verdicts.take(verdict, verdict.turn !== null) ? 'relayed' : 'gone'),
    async cancel(session, turn) {
      const found = [...runs.entries()].filter(
        ([id, one]) => one.session === session && (turn === null || id === turn),
      )
      for (const [, one] of found) {
        one.cancelled = true
        // Open questions are answered first, because an agent may hang on them.
        one.turn.end()
        one.anew.abort()
        const live = sessions.find(session)
        await live?.link.cancel(live.opened.id).catch(() => undefined)
        const stop = clock.after(CANCEL_MS, () => void live?.end('it did not stop when told to', 'now'))
        void one.done.finally(stop)
      }
      return found.length > 0
    },
    processes: () => sessions.processes(),
    async stop() {
      outlet?.presence(false)
      outlet = null
      waiting.stop()
      cancelLook()
      away.stop()
      for (const { anew } of runs.values()) anew.abort()
      // A question that is open must stay open, so the agent hears of no end.
      for (const { session, turn } of runs.values())
        if (turn.isAsking()) void sessions.find(session)?.end('the agent is being stopped', 'unheard')
      await sessions.stop()
      await Promise.race([
        Promise.allSettled([...runs.values()].map(({ done }) => done)),
        soon(clock, STOP_MS),
      ])
    },
  }

  function tellPresence(): void {
    const words = [home?.trouble() ?? null, modes.words(), waiting.words()].filter((one) => one !== null)
    outlet?.presence(absent === null, absent ?? (words.join('; ') || undefined))
  }

  /** Without its folder the agent is absent, and the folder is looked for again. */
  function lookForFolder(): void {
    const problem = folderProblem(config.folder)
    absentIs(problem)
    if (problem === null) return
    cancelLook = clock.after(FOLDER_MS, lookForFolder)
  }

  /** The agent's memory is on one machine, so its sessions stay there. */
  async function stayHome(delivery: Delivery): Promise<void> {
    if (home === null) return
    if (!(await home.isHere(delivery))) tellPresence()
    await home.demandHere(delivery)
  }

  /** Ends the old session of a chat that began a new one. */
  function leaveOld({ chatId, thread, session }: Delivery): void {
    const place = `${chatId}\n${thread ?? ''}`
    const old = places.get(place)
    places.set(place, session)
    const left = old === undefined || old === session ? null : sessions.find(old)
    if (left?.turn === null) void left.end('a new session was begun there')
    else if (left) left.isLeft = true
  }

  /** Says in the chat that the agent lost the earlier conversation. */
  function tellLost({ session, turn }: Delivery): void {
    const text = wordsIn().work.memoryLost
    const key = `acp-lost:${turn}`
    void outlet?.accept({ kind: 'say', session, text, idempotencyKey: key }).catch((problem) => {
      log.warn({ turn, problem: String(problem) }, 'the notice that the agent lost its memory was not sent')
    })
  }
}
