// The connector `claude-code`. It starts one Claude Code process per session and speaks stream-json with it, so a
// message at night is answered although no terminal is open.
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
import { createProcessKeeper, createSessionHome, createWaitingSessions } from '../../kit/processes/index.ts'
import { readConfig } from './config.ts'
import { findClaude } from './find-claude.ts'
import { type ClaudeSession, createClaudeSession } from './session.ts'
import { createSessionNotes } from './session-notes.ts'

/** Messages of one session that the program may have at once. It merges or queues them itself. */
const WINDOW = 8
/** How often a missing program is looked for. */
const LOOK_MS = 30_000
const SESSIONS = 10_000

/** Throws `config_invalid` for invalid options. */
export async function createClaudeCodeConnector(deps: ConnectorDeps): Promise<AgentConnector> {
  const config = readConfig(deps)
  const { clock, random, log } = deps
  const { mkdir, stat } = await import('node:fs/promises')
  const keeper = createProcessKeeper(
    {
      folder: config.place.records,
      limits: {
        processes: config.max_processes,
        waiting: () => [...sessions.values()].filter((one) => one.isRunning() && one.isAsking()).length,
        memoryBytes: config.max_memory_mb === undefined ? null : config.max_memory_mb * 1_048_576,
      },
      ...defined({ path: config.place.environment.PATH }),
    },
    { clock, random, log },
  )
  const notes = createSessionNotes(`${config.place.folder}/sessions`)
  const home = createSessionHome({ ...deps, journal: config.journal, notes })
  const verdicts = createVerdictWait()
  const sessions = new Map<string, ClaudeSession>()
  /** The last session of each place. After /new the old session's process is ended. */
  const places = createBoundedMap<string, string>(SESSIONS)
  let outlet: AgentOutlet | null = null
  let stopping = false
  let cancelLook: Cancel = () => undefined
  let trouble: string | null = null
  let isAway = false

  const present = (): AgentOutlet => {
    if (outlet) return outlet
    throw new SwitchboardError('draining', 'the agent is being stopped', { retryAfterMs: 2_000 })
  }
  const waiting = createWaitingSessions(clock, () => {
    if (!isAway) tellPresence()
  })
  const tellPresence = () => {
    const words = [trouble, waiting.words(), home.trouble()].filter((one) => one !== null).join('; ')
    outlet?.presence(true, words === '' ? undefined : words)
  }
  const demandFolder = async () => {
    const found = await stat(config.cwd).catch(() => null)
    if (!found?.isDirectory())
      throw new SwitchboardError('agent_absent', `the folder it works in is not there: ${config.cwd}`, {
        hint: 'make it, or name another by connector.cwd',
      })
  }
  /** The program or its folder is missing. No turn can be taken, and it is looked for again. */
  const lookForIt = async (): Promise<void> => {
    cancelLook()
    try {
      await demandFolder()
      await findClaude(config.command, { ...config.place.environment, ...config.env })
      if (isAway) trouble = null
      isAway = false
      tellPresence()
    } catch (thrown) {
      const { message, hint } = asSwitchboardError(thrown)
      isAway = true
      outlet?.presence(false, hint === undefined ? message : `${message}; ${hint}`)
      if (!stopping) cancelLook = clock.after(LOOK_MS, () => void lookForIt())
    }
  }

  const makeRoom = async () => {
    if (keeper.hasRoom()) return
    const [longest] = [...sessions.values()]
      .filter((one) => one.isRunning() && one.isIdle())
      .sort((a, b) => a.idleSince() - b.idleSince())
    await longest?.end('another session needs its place')
  }

  const sessionOf = (id: string): ClaudeSession => {
    const known = sessions.get(id)
    if (known) return known
    for (const [other, one] of sessions)
      if (sessions.size >= SESSIONS && one.isAsleep()) sessions.delete(other)
    const made = createClaudeSession(id, {
      ...deps,
      ...{ config, keeper, notes, verdicts, makeRoom },
      outlet: present,
      node: deps.nodes?.self ?? null,
      trouble(words) {
        if (words === trouble) return
        trouble = words
        tellPresence()
        outlet?.reached(words)
      },
      isStopping: () => stopping,
      roomy: () => outlet?.roomy(),
    })
    sessions.set(id, made)
    return made
  }

  /** Ends the old session of a chat that began a new one. */
  const leaveOld = ({ chatId, thread, session }: Delivery) => {
    const place = `${chatId}\n${thread ?? ''}`
    const old = places.get(place)
    places.set(place, session)
    if (old !== undefined && old !== session) sessions.get(old)?.leave()
  }

  const deliver = async (delivery: Delivery): Promise<void> => {
    present()
    if (!(await home.isHere(delivery))) tellPresence()
    await home.demandHere(delivery)
    leaveOld(delivery)
    try {
      await sessionOf(delivery.session).deliver(delivery)
      waiting.found(delivery.session)
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'agent_failed')
      if (error.busy) waiting.refused(delivery.session, error.message)
      // Without a cause, the keeper or the connector refused the start for now. With one, the program started and
      // ended.
      if (error.code !== 'agent_absent' || error.cause === undefined) throw error
      trouble = error.message
      if (error.hint !== undefined) {
        void lookForIt()
        throw error
      }
      tellPresence()
      const { retryAfterMs } = error
      throw new SwitchboardError('platform_unavailable', error.message, defined({ retryAfterMs }))
    }
  }

  return {
    redelivery: { handed: 'again', seen: 'resume', afterTimeout: false },
    window: WINDOW,
    holdsDecisions: true,
    endsTurns: true,
    ...(deps.nodes === undefined
      ? {}
      : { room: (session: string) => (home.isElsewhere(session) ? 0 : WINDOW) }),
    processes: () => keeper.view(),
    async start(given) {
      outlet = given
      if (config.isOwnFolder) await mkdir(config.cwd, { recursive: true }).catch(() => undefined)
      await lookForIt()
    },
    deliver,
    async verdict(verdict) {
      const maybe = verdict.turn === null || [...sessions.values()].some((one) => one.has(verdict.turn ?? ''))
      return verdicts.take(verdict, maybe) ? 'relayed' : 'gone'
    },
    cancel: async (session, turn) => sessions.get(session)?.cancel(turn) ?? false,
    async stop() {
      stopping = true
      waiting.stop()
      cancelLook()
      outlet?.presence(false)
      await Promise.allSettled([...sessions.values()].map((one) => one.end('the agent is being stopped')))
      await keeper.stop()
      outlet = null
    },
  }
}
