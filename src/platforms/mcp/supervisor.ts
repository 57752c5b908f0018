// Keeps one channel server connected: disabled | waiting (another node has it) | connecting → up → down → connecting …
// Every try reads the launch again, because missing parts may exist by then. A server that stops answering is ended and
// started again.
import {
  asSwitchboardError,
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
import { type Link, type LinkAttempt, type LinkState, startLink } from '../../kit/index.ts'
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
  /** Ends the connection and opens one with other settings. Listeners stay subscribed. */
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
/** Longer than a child takes to end. */
const END_MS = 10_000

export function createSupervisor(first: McpServerSettings, deps: SupervisorDeps): Supervisor {
  const { clock, timings } = deps
  const log = deps.log.child({ server: first.name })
  let settings = first
  let facts: Changing = { state: 'connecting', detail: null, ...written(first), ...NOBODY }
  let restarts = 0
  let noise = 0
  let live: Connection | null = null
  /** Whether the next try follows a failed one. */
  let isRetry = false
  let link: Link | null = null
  let stopped = false
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
  const launched = async (signal: AbortSignal): Promise<Connection> => {
    const launch = readLaunch(settings, deps)
    const redact = createRedactor(launch.secrets)
    const stderr = createStderrLog({ clock, log, redact, who: 'the channel server' })
    // News that arrive before the server's declaration is known wait for it.
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
        // News that arrive while it is being ended count too, because they are never repeated.
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

  const connect = async ({ signal, up }: LinkAttempt): Promise<never> => {
    if (isRetry) restarts++
    isRetry = false
    become({ state: 'connecting' })
    const connection = await launched(signal)
    const probe = async () => {
      // A paused server cannot answer, so it is not pinged.
      if (!news.full()) await connection.ping(timings.pingTimeoutMs)
      return true
    }
    if (!signal.aborted) up({ probe })
    const reason = await connection.ended
    live = null
    throw new SwitchboardError('platform_unavailable', reason)
  }

  const report = (
    { state, detail = null }: { readonly state: LinkState['state']; readonly detail?: string | null },
    retry?: { readonly failures: number; readonly waitMs: number; readonly why: string },
  ) => {
    // The last news of an ending connection are judged by its declaration, so the facts stay.
    if (live !== null) return
    if (retry === undefined) return become({ ...NOBODY, state, detail })
    const { failures, waitMs, why } = retry
    isRetry = true
    become({ ...NOBODY, state, detail: `${why}; the next try is in ${Math.ceil(waitMs / 1000)} s` })
    log.warn({ reason: why, failures, retryInMs: waitMs }, 'the channel server is down')
  }

  const begin = () => {
    if (!isEnabled(settings)) {
      become({ ...NOBODY, state: 'disabled', detail: `mcp_servers.${settings.name}.enabled is false` })
      return
    }
    isRetry = false
    link = startLink({
      ...{ clock, random: deps.random, log, lease: deps.lease, connect, report },
      retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
      steadyMs: timings.stableMs,
      downAfter: 1,
      probeEveryMs: timings.pingEveryMs,
      probeMs: timings.pingTimeoutMs,
      // The handshake has its own deadline.
      connectMs: null,
      endMs: END_MS + 4 * timings.graceMs,
      leaseRules: {
        leaseMs: timings.leaseMs,
        renewMs: timings.leaseRenewMs,
        // A child is gone before another node may begin one.
        endingMs: timings.graceMs,
        // Another node may have what is missing here.
        restWhileDown: true,
      },
      words: {
        failed: '',
        lost: 'its lease was lost',
        elsewhere: 'another node holds it',
        unknown: 'the store does not say which node holds it',
      },
    })
  }
  const end = async (detail: string) => {
    await link?.stop()
    link = null
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

/** The facts that the settings alone give, before anything is resolved. */
function written(settings: McpServerSettings): Pick<ServerFacts, 'transport' | 'stamp'> {
  const transport = settings.options.url === undefined ? 'stdio' : 'http'
  return { transport, stamp: writtenStamp(settings) }
}
