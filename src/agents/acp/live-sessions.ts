// The processes of an ACP agent's sessions, one each. A message starts the process, which resumes its session if the
// agent can. A long idle process is ended. If the limit is reached, the longest idle one is ended first.
//
// A session is absent → opening → open → (idle for long, the process ended, or asked to end) → absent.
import { join } from 'node:path'
import { RequestError, type SessionUpdate } from '@agentclientprotocol/sdk'
import {
  asSwitchboardError,
  type Cancel,
  type ConnectorDeps,
  defined,
  MAX_MESSAGE_BYTES,
  SwitchboardError,
} from '../../contract/index.ts'
import {
  createProcessKeeper,
  createSessionRecords,
  type EndHow,
  type KeptProcess,
  openWorktree,
  type ProcessEnd,
} from '../../kit/processes/index.ts'
import type { AcpTurn } from './acp-turn.ts'
import { type AgentLink, type ClientMethods, openLink, problemOf } from './agent-link.ts'
import { clientFiles } from './client-files.ts'
import { type ClientTerminals, clientTerminals } from './client-terminals.ts'
import type { AcpConfig } from './config.ts'
import { lineStream } from './line-stream.ts'
import type { ModeWords } from './mode-words.ts'
import { NO_MODES } from './modes.ts'
import { type OpenedSession, openSession } from './open-session.ts'
import { OUR_SERVER } from './own-tool.ts'
import { NOBODY_CHOSE } from './permission.ts'

export interface LiveSession {
  readonly session: string
  readonly link: AgentLink
  readonly opened: OpenedSession
  readonly ended: Promise<ProcessEnd>
  /** The turn that it works on. Updates and questions belong to it. */
  turn: AcpTurn | null
  /** A person is asked whether that turn is begun again. The agent does not have it meanwhile. */
  asksAnew: boolean
  /** It was prompted since it was opened. */
  hasPrompts: boolean
  /** Its chat began another session. It ends with its turn. */
  isLeft: boolean
  /** The turn is over, and the session is idle. */
  rest(): void
  end(reason: string, how?: EndHow): Promise<unknown>
}

export interface LiveSessions {
  /** Throws `agent_absent` if there is no process and none can be started. */
  open(session: string, how: { readonly interrupted: boolean }): Promise<LiveSession>
  find(session: string): LiveSession | null
  /** What this machine keeps of a session; null: nothing. */
  get(session: string): unknown
  processes(): ReturnType<ReturnType<typeof createProcessKeeper>['view']>
  stop(): Promise<void>
}

interface Note {
  /** The agent's own id. */
  readonly id: string
  readonly cwd: string
}

const READY_MS = 60_000
const TERMINALS = 64
const RETRY_MS = 5_000
/** A process uses one token this long. Then an idle process is replaced. */
const TOKEN_MS = 7 * 86_400_000

export function createLiveSessions(
  config: AcpConfig,
  deps: ConnectorDeps,
  modeWords: ModeWords,
): LiveSessions {
  const { clock, log, random, agent } = deps
  const { place } = config
  const records = createSessionRecords<Note>(join(place.folder, 'acp-sessions'), isNote)
  const keeperOf = (processes: number, waiting?: () => number) =>
    createProcessKeeper(
      {
        folder: place.records,
        limits: {
          processes,
          ...defined({ waiting }),
          memoryBytes: config.memory_mb === undefined ? null : config.memory_mb * 1_048_576,
        },
        timings: { readyMs: READY_MS },
        ...defined({ path: place.environment.PATH }),
      },
      { clock, random, log },
    )
  const keeper = keeperOf(
    config.max_processes,
    () => [...live.values()].filter(({ turn, asksAnew }) => asksAnew || turn?.isAsking()).length,
  )
  const commands = config.terminal ? keeperOf(TERMINALS) : null
  const live = new Map<string, LiveSession & { idleSince: number | null }>()
  const opening = new Map<string, Promise<LiveSession>>()

  /** Ends the longest idle process if there is no room for another. */
  const makeRoom = async () => {
    if (keeper.hasRoom()) return
    const [longest] = [...live.values()]
      .filter(({ turn, idleSince }) => turn === null && idleSince !== null)
      .sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0))
    await longest?.end('another session needs its place')
  }

  const folderOf = async (session: string): Promise<string> => {
    if (!config.worktree) return config.folder
    const folder = join(place.folder, 'worktrees', session)
    const branch = `switchboard/${agent.id}/${session.slice(0, 8)}`
    return openWorktree({ repository: config.folder, folder, branch }, place.environment)
  }

  const launch = (cwd: string) => ({
    command: config.command,
    args: config.args,
    env: config.environment,
    cwd,
    secrets: config.secrets,
    hint: `Install it, or write its whole path into connector.command of agent ${agent.id}.`,
  })

  /** Returns our tool server for one session of the agent. */
  const toolServers = async (session: string, link: AgentLink) => {
    if (!deps.tokens || !deps.publicBase) return []
    if (link.facts.capabilities.mcpCapabilities?.http !== true) {
      log.warn({ agent: agent.id }, 'this agent takes no tools over HTTP: it has none of Switchboard’s')
      return []
    }
    const { token } = await deps.tokens.mint({
      kind: 'agent',
      scope: { agent: agent.id, session },
      ttlMs: TOKEN_MS,
    })
    const headers = [{ name: 'Authorization', value: `Bearer ${token}` }]
    return [{ type: 'http' as const, name: OUR_SERVER, url: `${deps.publicBase()}/mcp`, headers }]
  }

  const begin = async (session: string, interrupted: boolean): Promise<LiveSession> => {
    await makeRoom()
    const cwd = await folderOf(session)
    const name = `acp ${agent.id} ${session.slice(0, 8)}`
    const caller = { agent: agent.id, session, turn: null, user: null, idempotencyKey: null }
    let current: (LiveSession & { idleSince: number | null }) | null = null
    let hear: ((update: SessionUpdate) => void) | null = null
    let terminals: ClientTerminals | null = null
    let link: AgentLink | null = null
    let modes = NO_MODES
    const own = Symbol(name)
    const connect = async (process: KeptProcess) => {
      terminals = commands
        ? clientTerminals(
            { folder: cwd, environment: config.environment },
            { keeper: commands, random, name },
          )
        : null
      const stream = lineStream(
        { stdin: process.input, stdout: process.output },
        { maxLineBytes: MAX_MESSAGE_BYTES, onNoise: (line) => log.debug({ name, line }, 'not a message') },
      )
      link = await openLink(
        stream,
        {
          onUpdate(_id, update) {
            if (update.sessionUpdate === 'current_mode_update')
              modeWords.changed(own, update.currentModeId, modes)
            if (hear) hear(update)
            else current?.turn?.onUpdate(update)
          },
          onPermission: async (request) => current?.turn?.onPermission(request) ?? NOBODY_CHOSE,
          capabilities: {
            fs: { readTextFile: config.files !== 'none', writeTextFile: config.files === 'write' },
            terminal: config.terminal,
          },
          methods: guarded(
            { ...(config.files === 'none' ? {} : clientFiles(cwd, config.files)), ...terminals?.methods },
            async (tool) => (await deps.tools?.().refusalOf?.(caller, { tool, own: true })) ?? null,
          ),
        },
        { clock, withinMs: READY_MS, version: '0.1.0' },
      )
    }
    const process = await keeper.start(name, launch(cwd), connect)
    try {
      const ready = link as AgentLink | null
      if (!ready) throw new SwitchboardError('agent_absent', `${name} is not there`)
      const note = records.get(session)
      const opened = await openSession(
        ready,
        {
          cwd,
          mcpServers: await toolServers(session, ready),
          known: note !== null && note.cwd === cwd ? note.id : null,
          interrupted,
          auth: config.auth ?? null,
          mode: config.mode ?? null,
        },
        (listener) => {
          hear = listener
          return () => {
            hear = null
          }
        },
      )
      modes = opened.modes
      if (modes.current !== null) modeWords.began(own, modes.current, modes)
      // Written before the first prompt. After a crash either the session is found again, or nothing was said in it.
      records.put(session, { id: opened.id, cwd })
      let cancelIdle: Cancel = () => undefined
      const startedAt = clock.now()
      current = {
        ...{
          session,
          link: ready,
          opened,
          ended: process.ended,
          turn: null,
          asksAnew: false,
          hasPrompts: false,
          isLeft: false,
          idleSince: null,
        },
        rest() {
          const one = live.get(session)
          if (!one) return
          one.turn = null
          one.idleSince = clock.now()
          cancelIdle()
          const old = clock.now() - startedAt > TOKEN_MS / 2
          cancelIdle = clock.after(old || one.isLeft ? 0 : config.idle_after, () => {
            if (live.get(session) === one && one.turn === null) void one.end('it was idle')
          })
        },
        end(reason, how) {
          if (live.get(session) === current) live.delete(session)
          return process.end(reason, how)
        },
      }
      live.set(session, current)
      void process.ended.then(async () => {
        cancelIdle()
        if (live.get(session) === current) live.delete(session)
        modeWords.ended(own)
        ready.close()
        await terminals?.stop()
      })
      return current
    } catch (thrown) {
      modeWords.ended(own)
      await process.end('its session could not be opened', 'now')
      const known = thrown instanceof SwitchboardError ? thrown : null
      throw new SwitchboardError(
        'agent_absent',
        known?.message ?? `no session at ${name}: ${problemOf(thrown)}`,
        {
          ...{ cause: thrown, retryAfterMs: known?.retryAfterMs ?? RETRY_MS },
          ...defined({ hint: known?.hint }),
        },
      )
    }
  }

  return {
    open(session, { interrupted }) {
      const there = live.get(session)
      if (there) {
        there.idleSince = null
        return Promise.resolve(there)
      }
      const underWay = opening.get(session)
      if (underWay) return underWay
      const work = begin(session, interrupted)
        .catch((thrown) => {
          throw asSwitchboardError(thrown, 'agent_absent')
        })
        .finally(() => opening.delete(session))
      opening.set(session, work)
      return work
    },
    find: (session) => live.get(session) ?? null,
    get: (session) => records.get(session),
    processes: () => keeper.view(),
    async stop() {
      await keeper.stop()
      await commands?.stop()
    },
  }
}

function isNote(value: unknown): value is Note {
  const { id, cwd } = (value ?? {}) as Partial<Note>
  return typeof id === 'string' && typeof cwd === 'string'
}

/** Methods by which the agent lets us act for it. */
const JUDGED = ['fs/read_text_file', 'fs/write_text_file', 'terminal/create']

/** Checks these methods like tools, by their names. `refusal` returns why one must not run. */
function guarded(methods: ClientMethods, refusal: (method: string) => Promise<string | null>): ClientMethods {
  const judged = JUDGED.flatMap((method) => {
    const run = methods[method]
    if (!run) return []
    const judging: ClientMethods[string] = async (params) => {
      const refused = await refusal(method)
      if (refused !== null) throw RequestError.invalidParams(undefined, refused)
      return run(params)
    }
    return [[method, judging] as const]
  })
  return { ...methods, ...Object.fromEntries(judged) }
}
