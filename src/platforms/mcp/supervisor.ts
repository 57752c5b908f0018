// One channel server, kept connected: disabled | waiting (another node has it) | connecting → up → down → connecting …
// Every try reads the launch anew, for what it lacked may be there by now. Tries are spread by backoff; one that held for
// a while makes the next failure a first one again. A server that answers nothing any more is ended and begun anew.
import {
  asSwitchboardError,
  type Cancel,
  type ChannelServer,
  type Clock,
  type LinkLease,
  type Logger,
  type McpServerSettings,
  type Random,
  type ServerFacts,
  type ServerNews,
  SwitchboardError,
  withoutNulls,
} from '../../contract/index.ts'
import { backoffMs, createLeaseHold } from '../../kit/index.ts'
import type { GroupWatcher } from '../../kit/processes/index.ts'
import { createRedactor, createStderrLog } from '../../kit/processes/index.ts'
import { isEnabled, type LaunchDeps, readLaunch, type Timings, writtenStamp } from './config.ts'
import { type Connection, openConnection } from './connection.ts'
import { createNewsLine } from './news-line.ts'

export interface SupervisorDeps extends LaunchDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly timings: Timings
  readonly version: string
  readonly guard: GroupWatcher['guard']
  readonly lease?: LinkLease
}

export interface Supervisor {
  readonly server: ChannelServer
  /** Ends the connection and begins one with other settings; who listens goes on listening. */
  replace(settings: McpServerSettings): Promise<void>
  stop(): Promise<void>
}

type Changing = Pick<
  ServerFacts,
  | 'state'
  | 'detail'
  | 'transport'
  | 'connectedAt'
  | 'program'
  | 'instructions'
  | 'prefix'
  | 'permissionRelay'
  | 'oneWay'
  | 'stamp'
>

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const NOBODY = {
  connectedAt: null,
  program: null,
  instructions: null,
  prefix: null,
  permissionRelay: false,
} as const
const MISSED_PINGS = 2

export function createSupervisor(first: McpServerSettings, deps: SupervisorDeps): Supervisor {
  const { clock, timings } = deps
  const log = deps.log.child({ server: first.name })
  let settings = first
  let facts: Changing = { state: 'connecting', detail: null, ...written(first), ...NOBODY }
  let restarts = 0
  let noise = 0
  let live: Connection | null = null
  /** The present run of the loop, ended by `replace` or `stop`; and its present try, ended by a lost lease too. */
  let run = new AbortController()
  let attempt = new AbortController()
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  let wake: () => void = () => undefined
  const changed = new Set<() => void>()
  const news = createNewsLine({
    pressure: (full) => (full ? live?.pause() : live?.resume()),
    failed: (thrown) => log.error({ error: String(thrown) }, 'a message of a channel server was not taken'),
  })

  const become = (next: Partial<Changing>) => {
    facts = { ...facts, ...next }
    for (const tell of [...changed]) {
      try {
        tell()
      } catch (thrown) {
        log.error({ error: String(thrown) }, 'a change of a channel server was not taken')
      }
    }
  }
  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })

  const connect = async (signal: AbortSignal): Promise<Connection> => {
    const launch = readLaunch(settings, deps)
    const redact = createRedactor(launch.secrets)
    const stderr = createStderrLog({ clock, log, redact, who: 'the channel server' })
    // What it pushes before we know what it declares waits until we do.
    const release = news.hold()
    const from = { prefix: null, permissionRelay: false, stamp: launch.stamp } as Mutable<ServerNews['from']>
    try {
      const connection = await openConnection(launch, {
        clock,
        timings,
        version: deps.version,
        guard: deps.guard,
        redact,
        stderr: stderr.line,
        signal,
        // What it still says while it is ended is heard too: nobody says it again.
        news: (one) => news.push({ ...one, from }),
        noise: () => {
          noise++
        },
        crowded: news.full,
      })
      live = connection
      if (news.full()) connection.pause()
      const { declared, oneWay, program, instructions } = connection
      Object.assign(from, declared)
      become({
        ...declared,
        oneWay,
        state: 'up',
        detail: null,
        connectedAt: clock.now(),
        program,
        instructions,
        stamp: launch.stamp,
        transport: launch.transport,
      })
      log.info({ program: program?.name, prefix: declared.prefix }, 'the channel server is connected')
      connection.ended.then(() => stderr.stop())
      return connection
    } catch (thrown) {
      const last = stderr.last()
      const { message } = asSwitchboardError(thrown)
      stderr.stop()
      throw new SwitchboardError(
        'platform_unavailable',
        last === null ? message : `${message}; it said: ${last}`,
      )
    } finally {
      release()
    }
  }

  /** Two questions without an answer end it. One that is held back cannot answer, and is not asked. */
  const keepAsking = (connection: Connection): Cancel => {
    let missed = 0
    let cancel: Cancel = () => undefined
    const ask = async () => {
      if (!news.full()) {
        const alive = await connection.ping(timings.pingTimeoutMs).then(
          () => true,
          () => false,
        )
        missed = alive ? 0 : missed + 1
      }
      if (live !== connection) return
      if (missed < MISSED_PINGS) cancel = clock.after(timings.pingEveryMs, ask)
      else {
        log.warn({}, 'the channel server answers nothing any more and is started anew')
        await connection.close()
      }
    }
    cancel = clock.after(timings.pingEveryMs, ask)
    return () => cancel()
  }

  const loop = async (ended: AbortSignal) => {
    let failures = 0
    while (!ended.aborted) {
      attempt = new AbortController()
      if (!(await leased(ended))) continue
      become({ state: 'connecting' })
      let reason: string
      const began = clock.now()
      try {
        const connection = await connect(attempt.signal)
        const stopAsking = keepAsking(connection)
        reason = await connection.ended
        stopAsking()
        if (clock.now() - began >= timings.stableMs) failures = 0
      } catch (thrown) {
        reason = asSwitchboardError(thrown).message
      }
      live = null
      // Another node may try while this one waits.
      hold?.rest()
      if (ended.aborted) break
      if (attempt.signal.aborted) {
        become({ ...NOBODY, state: 'connecting', detail: 'its lease was lost' })
        continue
      }
      failures++
      const range = { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs }
      const pauseMs = backoffMs(failures, range, deps.random)
      const detail = `${reason}; the next try is in ${Math.ceil(pauseMs / 1000)} s`
      become({ ...NOBODY, state: 'down', detail })
      log.warn({ reason, failures, retryInMs: pauseMs }, 'the channel server is down')
      await wait(pauseMs)
      if (!ended.aborted) restarts++
    }
  }

  // One that is lost ends the connection, early enough for a child to be gone when another node begins one.
  const hold =
    deps.lease === undefined
      ? null
      : createLeaseHold(deps.lease, {
          clock,
          leaseMs: timings.leaseMs,
          renewMs: timings.leaseRenewMs,
          endingMs: timings.graceMs,
          onLost() {
            if (live !== null) log.warn({}, 'the lease of a channel server was lost')
            attempt.abort()
          },
        })
  const leased = async (ended: AbortSignal): Promise<boolean> => {
    if (hold === null) return true
    const answer = await hold.take()
    if (ended.aborted) return false
    if (hold.isHeld()) return true
    if (answer === 'elsewhere') become({ ...NOBODY, state: 'waiting', detail: 'another node holds it' })
    else become({ ...NOBODY, state: 'connecting', detail: 'the store does not say which node holds it' })
    await wait(timings.leaseRenewMs)
    return false
  }

  const begin = () => {
    run = new AbortController()
    if (!isEnabled(settings)) {
      become({ ...NOBODY, state: 'disabled', detail: `mcp_servers.${settings.name}.enabled is false` })
      return
    }
    running = loop(run.signal).catch((thrown) =>
      log.error({ error: String(thrown) }, 'a channel server is given up'),
    )
  }
  const end = async (detail: string) => {
    run.abort()
    attempt.abort()
    wake()
    await running
    await hold?.release().catch(() => undefined)
    become({ ...NOBODY, state: 'down', detail })
  }
  const connected = (): Connection => {
    if (live !== null) return live
    throw new SwitchboardError('platform_unavailable', `channel server ${settings.name} is ${facts.state}`, {
      ...withoutNulls({ hint: facts.detail }),
    })
  }

  begin()
  return {
    server: {
      facts: () => ({
        name: settings.name,
        restarts,
        noise,
        ...facts,
      }),
      onNews: news.listen,
      hold: news.hold,
      onChange(listen) {
        const own = () => listen()
        changed.add(own)
        return () => void changed.delete(own)
      },
      tools: async () => connected().tools(),
      call: async (tool, input, options) => connected().call(tool, input, options),
      notify: async (method, params) => connected().notify(method, params),
    },
    async replace(next) {
      await end('its settings changed')
      if (stopped) return
      settings = next
      become(written(next))
      begin()
    },
    stop() {
      stopped = true
      return end('it is no longer configured')
    },
  }
}

/** What the settings alone say, before anything is resolved. */
function written(settings: McpServerSettings): Pick<ServerFacts, 'transport' | 'stamp'> {
  const transport = settings.options.url === undefined ? 'stdio' : 'http'
  return { transport, stamp: writtenStamp(settings) }
}
