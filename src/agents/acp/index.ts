// The connector `acp`: any agent that speaks the Agent Client Protocol over stdio, one process a session. A turn is handed
// over when its prompt was written to the agent's pipe; its first update is evidence that it was seen, its stop reason that it is done.
//
// What an interruption leaves is never simply said again, for its tools would run twice. Where the agent remembers the
// message it is told to go on; where it remembers the conversation without the message, or does not tell, the message comes
// marked; and where nothing is left to know it by, a person is asked.
import {
  type AgentConnector,
  type AgentOutlet,
  asSwitchboardError,
  type Cancel,
  type ConnectorDeps,
  createBoundedMap,
  type Delivery,
  SwitchboardError,
} from '../../contract/index.ts'
import { askWhetherAnew, createVerdictWait, tookTooLong } from '../../kit/index.ts'
import { createHangWatch, createSessionHome, makeFolder } from '../../kit/processes/index.ts'
import { type AcpTurn, createTurn } from './acp-turn.ts'
import { isAuthRequired, problemOf } from './agent-link.ts'
import { readConfig } from './config.ts'
import { createLiveSessions, type LiveSession } from './live-sessions.ts'
import { goOnBlocks, markOf, maybeAgain, messageBlocks } from './prompt-blocks.ts'
import { openSteps, type TurnSteps } from './turn-steps.ts'

const PROBE_MS = 30_000
const PLACES = 10_000
/** An agent that was told to stop has so long; then its process ends. */
const CANCEL_MS = 10_000
const STOP_MS = 5_000
/** From a broken pipe to the end of its process. */
const GONE_MS = 5_000
/** How soon an agent that could not be started is tried again, and how late. */
const AWAY_MS = [5_000, 30_000, 60_000, 300_000]

interface Run {
  readonly session: string
  readonly turn: AcpTurn
  /** Nobody needs to say any more whether it is begun anew. */
  readonly anew: AbortController
  done: Promise<void>
  cancelled: boolean
}

interface Followed {
  readonly delivery: Delivery
  readonly live: LiveSession
  readonly turn: AcpTurn
  /** The agent's stop reason. */
  readonly stopped: Promise<string>
  onHeard(hear: () => void): void
}

/** Throws `config_invalid` when the options do not hold. */
export function createAcpConnector(deps: ConnectorDeps): AgentConnector {
  const config = readConfig(deps)
  const { clock, log } = deps
  const sessions = createLiveSessions(config, deps)
  const { journal } = deps
  const home = journal ? createSessionHome({ ...deps, journal, notes: sessions }) : null
  /** Which session a place had last: /new leaves an old one behind, which is ended with its program. */
  const places = createBoundedMap<string, string>(PLACES)
  const probeMs = Math.min(PROBE_MS, config.silence)
  const runs = new Map<string, Run>()
  const verdicts = createVerdictWait()
  let outlet: AgentOutlet | null = null
  let away = 0
  let cancelAway: Cancel = () => undefined

  const present = (): AgentOutlet => {
    if (outlet) return outlet
    throw new SwitchboardError('agent_absent', 'the agent is being stopped', { retryAfterMs: 1_000 })
  }

  /** Nobody can be started: people are told that the agent is away, and it is tried again until it is there. */
  const isAway = (session: string, why: string) => {
    outlet?.presence(false, why)
    const pause = AWAY_MS[Math.min(away, AWAY_MS.length - 1)] ?? 5_000
    away += 1
    cancelAway()
    cancelAway = clock.after(pause, () => {
      if (!outlet) return
      sessions
        .open(session, { interrupted: true })
        .then(isThere, (thrown) => isAway(session, problemOf(thrown)))
    })
  }
  const isThere = (live: LiveSession) => {
    if (live.turn === null) live.rest()
    if (away === 0) return
    away = 0
    cancelAway()
    outlet?.presence(true)
    outlet?.roomy()
  }

  const opened = async (delivery: Delivery, interrupted: boolean): Promise<LiveSession> => {
    try {
      const live = await sessions.open(delivery.session, { interrupted })
      isThere(live)
      return live
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'agent_absent')
      const why = [error.message, error.hint].filter(Boolean).join(' ')
      // One that was not even tried (no room, too soon after a failure) is not away: its turn comes.
      if (error.cause !== undefined) isAway(delivery.session, why)
      throw new SwitchboardError('agent_absent', why, { retryAfterMs: error.retryAfterMs ?? 1_000 })
    }
  }

  /** The blocks with which the turn begins, or goes on. A text: a person said no. */
  const blocksFor = async (
    delivery: Delivery,
    live: LiveSession,
    steps: TurnSteps,
    { interrupted, onAsked, signal }: { interrupted: boolean; onAsked: () => void; signal: AbortSignal },
  ) => {
    const message = () => messageBlocks(delivery, live.link.facts.capabilities.promptCapabilities ?? {}, deps)
    // A process that was spoken to since it was opened knows more than it said then.
    const { memory, userTexts } = live.hasPrompts ? { memory: 'kept', userTexts: null } : live.opened
    if (!interrupted) return message()
    const { isOpen } = steps.anewBefore
    if (!isOpen && memory === 'kept' && userTexts?.includes(markOf(delivery)))
      return goOnBlocks(delivery, steps.before)
    if (!isOpen && memory === 'kept' && userTexts !== null) return message()
    if (!isOpen && memory === 'kept') return [maybeAgain(steps.before), ...(await message())]
    const tools = [...steps.before.done, ...steps.before.unknown]
    // It had no session yet, or none in which anything was begun: nothing of it ever ran.
    if (!isOpen && memory === 'new' && tools.length === 0 && !delivery.continuation) return message()
    const answer = await askWhetherAnew(delivery, {
      ...{ tools, verdicts, signal, onAsked, standing: steps.anewBefore, outlet: present() },
      keep: () => steps.anew('asked'),
    })
    if (!answer.begin) return answer.words
    const blocks = [maybeAgain(steps.before), ...(await message())]
    // From here on it may be done: interrupted again, it is asked again.
    await steps.anew('begun')
    return blocks
  }

  /** Resolves when the turn was handed over, or rests with a person who was asked; it is followed to its end behind that. */
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
            resolve()
          }
          const blocks = await blocksFor(delivery, live, steps, { interrupted, onAsked, signal: anew.signal })
          if (typeof blocks === 'string') return await turn.failed('agent_failed', blocks)
          // Stopped between the yes and here.
          if (anew.signal.aborted) return turn.end()
          live.hasPrompts = true
          const { written, stopped } = live.link.prompt(live.opened.id, blocks)
          // Whether it left or not, it is followed: the process may take it and end.
          void Promise.race([written, stopped, live.ended]).then(
            () => {
              deps.crashPoint?.('acp.prompted')
              resolve()
            },
            () => resolve(),
          )
          await follow({ delivery, live, turn, stopped, onHeard: (hear) => (heard = hear) })
        } catch (thrown) {
          turn.end()
          reject(asSwitchboardError(thrown, 'agent_absent'))
          // It was taken over when it was asked: whoever gave it to us hears no error any more.
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

  const follow = async ({ delivery, live, turn, stopped, onHeard }: Followed): Promise<void> => {
    let late: 'silent' | 'long' | null = null
    const lost = (why: 'silent' | 'long') => {
      late ??= why
      void live.end(why === 'silent' ? 'it hangs' : 'its turn took too long', 'now')
    }
    const watch = createHangWatch({
      ...{ clock, silentMs: config.silence, answerMs: probeMs },
      // While a person is being waited for, silence is right.
      probe: async () => {
        if (!turn.isAsking() && !(await live.link.isAlive(probeMs))) throw new Error('silent')
      },
      hung: () => lost('silent'),
    })
    onHeard(() => watch.heard())
    const cancelLong = clock.after(config.turn_timeout, () => lost('long'))
    const wasCancelled = () => runs.get(delivery.turn)?.cancelled === true || outlet === null
    try {
      const end = await Promise.race([stopped.then((reason) => ({ reason })), live.ended])
      if (wasCancelled()) return turn.end()
      if ('reason' in end) return await turn.stopped(end.reason)
      await gone(delivery, turn, late, end.words)
    } catch (thrown) {
      // The agent's own answer is an error, or its pipe broke and the process will be gone in a moment.
      const ended = live.link.isOpen() ? null : await Promise.race([live.ended, soon(clock, GONE_MS)])
      if (wasCancelled()) return turn.end()
      if (ended) return await gone(delivery, turn, late, ended.words)
      await turn.failed(
        'agent_failed',
        isAuthRequired(thrown) ? 'the agent is not signed in' : problemOf(thrown),
      )
      if (!live.link.isOpen()) await live.end('its pipe broke', 'now')
    } finally {
      watch.stop()
      cancelLong()
    }
  }

  /** The process is gone in the middle: its session is taken up again, as after a restart, unless we ended it for good. */
  const gone = async (delivery: Delivery, turn: AcpTurn, late: 'silent' | 'long' | null, words: string) => {
    if (late === 'long') return turn.failed('agent_silent', tookTooLong(config.turn_timeout))
    if (late === 'silent') return turn.failed('agent_silent', 'it hung: no sign, and no answer when asked')
    turn.end()
    await giveBack(delivery, `its process ended in the middle: ${words}`)
  }

  const giveBack = async ({ turn }: Delivery, detail: string) => {
    await outlet?.accept({ kind: 'returned', turns: [turn], counted: true, detail }).catch((problem) => {
      log.error({ turn, problem: String(problem) }, 'a turn could not be given back')
    })
  }

  return {
    redelivery: { handed: 'again', seen: 'resume', afterTimeout: false },
    // One prompt at a time: the protocol knows no queue.
    window: 1,
    holdsDecisions: true,
    endsTurns: true,
    ...(deps.nodes === undefined
      ? {}
      : { room: (session: string) => (home?.isElsewhere(session) || sessions.find(session)?.turn ? 0 : 1) }),
    async start(given) {
      outlet = given
      makeFolder(config.folder)
      given.presence(true)
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
        // Questions that are open are answered first: an agent may hang on them.
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
      cancelAway()
      for (const { anew } of runs.values()) anew.abort()
      await sessions.stop()
      await Promise.race([
        Promise.allSettled([...runs.values()].map(({ done }) => done)),
        soon(clock, STOP_MS),
      ])
    },
  }

  /** The agent's memory lies on one machine: there its sessions stay. */
  async function stayHome(delivery: Delivery): Promise<void> {
    if (home === null) return
    if (!(await home.isHere(delivery))) outlet?.presence(true, home.trouble() ?? undefined)
    await home.demandHere(delivery)
  }

  /** A chat that began a new session has done with the old one. */
  function leaveOld({ chatId, thread, session }: Delivery): void {
    const place = `${chatId}\n${thread ?? ''}`
    const old = places.get(place)
    places.set(place, session)
    const left = old === undefined || old === session ? null : sessions.find(old)
    if (left?.turn === null) void left.end('a new session was begun there')
    else if (left) left.isLeft = true
  }

  /** The earlier conversation is gone at the agent: whoever goes on with it should know. */
  function tellLost({ session, turn }: Delivery): void {
    const text = '(The agent no longer has what was said before: it begins anew.)'
    const key = `acp-lost:${turn}`
    void outlet?.accept({ kind: 'say', session, text, idempotencyKey: key }).catch((problem) => {
      log.warn({ turn, problem: String(problem) }, 'nobody was told that the agent begins anew')
    })
  }
}

function soon(clock: ConnectorDeps['clock'], ms: number): Promise<null> {
  return new Promise((resolve) => void clock.after(ms, () => resolve(null)))
}
