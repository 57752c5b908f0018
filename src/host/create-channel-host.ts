// `createChannelHost`: MCP channel servers for another agent runtime. Gates, limits, parsing, cutting, wrapping and
// session ids are those of the gateway. There is no store, so everything is in memory.
import { randomBytes, randomUUID } from 'node:crypto'
import { readHosting } from '../config/hosting-settings.ts'
import { readInstalledPlugin } from '../config/installed-plugin.ts'
import { childEnvironment } from '../config/instance/child-environment.ts'
import { readEnvironment } from '../config/instance/environment.ts'
import { resolveSecret } from '../config/secrets/secret-reference.ts'
import {
  address,
  type ChannelServer,
  type ChannelServers,
  type Clock,
  createTokenBuckets,
  type Logger,
  type Random,
  type ServerNews,
  sessionId,
  sessionKey,
  type TokenBuckets,
} from '../contract/index.ts'
import { truncate, wrapChannel } from '../kit/index.ts'
import { inboundLimit } from '../platforms/mcp/channel-options.ts'
import { createChannelServers } from '../platforms/mcp/channel-servers.ts'
import { parseMessage, parseVerdict, senderOf } from '../platforms/mcp/parse.ts'
import { placeOf } from '../platforms/mcp/thread.ts'
import { verifyNews } from '../platforms/mcp/verify.ts'
import { createAsks, readQuestion } from './asks.ts'
import { createRegistrations, type HostedAgent } from './registrations.ts'
import { createSpoken, replyThrough, sendThrough } from './send.ts'
import { createSessionLines } from './session-lines.ts'
import { statusOf } from './status.ts'
import type { ChannelHost, ChannelHostOptions, HostLog, HostMessage, HostRefusal } from './types.ts'

const DEFAULT_ASK_MS = 600_000
const FIRST_GENERATION = 1

/** Parts that tests replace. */
export interface HostParts {
  readonly pool?: ChannelServers
  readonly clock?: Clock
  readonly random?: Random
}

/** Throws `config_invalid` for invalid options. Nothing is started before `start`. */
export function createChannelHost(options: ChannelHostOptions, parts: HostParts = {}): ChannelHost {
  const { onMessage, onVerdict, onRefused, secret, ...written } = options
  const { log: given, ...hosting } = written
  const log = given === undefined ? SILENT : withChild(given)
  let settings = readHosting(hosting)
  const clock = parts.clock ?? TIMERS
  const random = parts.random ?? { uuid: () => randomUUID(), bytes: (count: number) => randomBytes(count) }
  const pool = parts.pool ?? openPool({ clock, random, log, secret })
  const registrations = createRegistrations({ pool, clock, settings: () => settings })
  const buckets = new Map<string, TokenBuckets>()
  const bucketOf = (server: string, agent: HostedAgent): TokenBuckets => {
    const key = JSON.stringify([server, agent.id])
    const bucket = buckets.get(key) ?? createTokenBuckets(1, clock)
    buckets.set(key, bucket)
    return bucket
  }
  const dropped = new Map<string, number>()
  const spoken = createSpoken()
  const asks = createAsks({ clock, random })
  const lines = createSessionLines({
    hold: () => pool.hold(),
    failed: (thrown) => log.error({ error: String(thrown) }, 'onMessage failed'),
  })
  const listening = new Map<ChannelServer, () => void>()

  const refuse = (
    agent: HostedAgent,
    server: string,
    why: DistributiveOmit<HostRefusal, 'agent' | 'server'>,
  ) => {
    if (why.kind === 'rate_limited') dropped.set(server, (dropped.get(server) ?? 0) + 1)
    onRefused?.({ agent: agent.id, server, ...why } as HostRefusal)
  }

  const take = (server: string, agent: HostedAgent, news: ServerNews) => {
    const now = registrations.admits(server, agent, news.from)
    const binding = now.pass ? now.registration.binding : ''
    const skip = now.pass ? null : now.skip
    const limit = inboundLimit({ ...agent, agent: agent.id, server })
    const barred = verifyNews(news, {
      skip,
      prefix: news.from.prefix,
      permissionRelay: news.from.permissionRelay,
      limit,
      bucket: bucketOf(server, agent),
    })
    if (barred?.reason === 'rate_limited')
      return refuse(agent, server, { kind: 'rate_limited', key: barred.key })
    if (barred !== null) {
      const reason = `server ${server} did not declare ${news.prefix}/channel capability`
      const undeclared = { kind: 'capability', reason, key: barred.key } as const
      return refuse(agent, server, { kind: 'skip', skip: skip ?? undeclared })
    }
    const parsed = parseMessage(server, news)
    if (!parsed.ok) return refuse(agent, server, { kind: 'unparsable', problem: parsed.error.text })
    const { content, meta } = parsed.value
    const place = placeOf(meta)
    const cut = truncate(content, agent.channels?.maxContentChars ?? 0)
    const at = address(
      `channel:${server}@${agent.id}`,
      wellFormed(place.conversation),
      place.thread && wellFormed(place.thread),
    )
    spoken.note(agent.id, server, meta)
    const message: HostMessage = {
      agent: agent.id,
      server,
      binding,
      session: sessionId(sessionKey(agent.id, at), FIRST_GENERATION),
      ...place,
      sender: senderOf(server, meta),
      content: cut,
      meta,
      dropped: parsed.value.dropped,
      wrapped: wrapChannel(server, meta, cut).text,
      at: clock.now(),
      reply: (text) =>
        replyThrough({ agent: agent.id, server, place, text }, { pool, registrations, spoken }),
    }
    lines.push(message.session, () => onMessage(message))
  }

  const takeVerdict = (server: string, news: ServerNews) => {
    const parsed = parseVerdict(news)
    if (!parsed.ok) {
      for (const agent of registrations.agentsOf(server))
        refuse(agent, server, { kind: 'unparsable', problem: parsed.error.text })
      return
    }
    const { approval, behavior } = parsed.value
    const asker = asks.agentOf(approval)
    // It counts only while the server passes for the asking agent, in the dialect of the question.
    const agent = asker === null ? null : (settings.agents.find(({ id }) => id === asker) ?? null)
    const passes = agent !== null && registrations.admits(server, agent, news.from).pass
    const may = passes && news.from.permissionRelay && news.from.prefix === news.prefix
    const counted = may && asks.verdict(server, approval, behavior)
    onVerdict?.({ server, id: approval, behavior, counted })
  }

  const listen = () => {
    const present = new Set(pool.all())
    for (const [server, stop] of [...listening]) {
      if (present.has(server)) continue
      stop()
      listening.delete(server)
    }
    for (const server of present) {
      if (listening.has(server)) continue
      const { name } = server.facts()
      const stop = server.onNews((news) => {
        if (news.kind === 'verdict') takeVerdict(name, news)
        else for (const agent of registrations.agentsOf(name)) take(name, agent, news)
      })
      listening.set(server, stop)
    }
  }

  const apply = async () => {
    const release = pool.hold('newcomers')
    try {
      await pool.apply(settings.servers)
      listen()
    } finally {
      release()
    }
  }

  return {
    start: apply,
    list(id) {
      const agent = registrations.agent(id)
      const servers = registrations.of(agent).map(({ server, stamp, permissionRelay }) => ({
        server_name: server,
        plugin_source: stamp.source,
        permission_relay: permissionRelay,
      }))
      return { binding_id: registrations.bindingOf(agent), count: servers.length, servers }
    },
    send: (order) => sendThrough(order, { pool, registrations, spoken }),
    status: (server, id) =>
      statusOf(server, registrations.agent(id), { registrations, dropped: (name) => dropped.get(name) ?? 0 }),
    ask({ timeoutMs = DEFAULT_ASK_MS, local = false, agent: id, ...order }) {
      const question = readQuestion(order)
      const agent = registrations.agent(id)
      const servers = registrations
        .of(agent)
        .filter(({ permissionRelay }) => permissionRelay)
        .flatMap(({ server, prefix }) => {
          const live = pool.get(server)
          return live === undefined ? [] : [{ server, prefix, notify: live.notify }]
        })
      return asks.open({ ...question, agent: agent.id, timeoutMs, local }, servers)
    },
    async update(config) {
      settings = readHosting(config)
      await apply()
    },
    async stop() {
      // Messages during the end are still received.
      await pool.stop()
      for (const stop of listening.values()) stop()
      listening.clear()
      asks.stop()
      await lines.idle()
    },
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

function openPool(deps: {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly secret: ChannelHostOptions['secret']
}): ChannelServers {
  const { variables } = readEnvironment()
  const sources = { folder: '.', env: variables, stored: () => null }
  return createChannelServers({
    ...deps,
    version: 'host',
    secret: deps.secret ?? ((reference) => resolveSecret(reference, sources)),
    environment: childEnvironment(variables),
    plugin: (plugin, server) => readInstalledPlugin(plugin, server, { variables }),
  })
}

function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD')
}

const TIMERS: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** For a log without `child`: adds the fields to each line. */
function withChild(log: HostLog, carried: Readonly<Record<string, unknown>> = {}): Logger {
  if (log.child !== undefined) return log as Logger
  return {
    debug: (fields, message) => log.debug({ ...carried, ...fields }, message),
    info: (fields, message) => log.info({ ...carried, ...fields }, message),
    warn: (fields, message) => log.warn({ ...carried, ...fields }, message),
    error: (fields, message) => log.error({ ...carried, ...fields }, message),
    child: (fields) => withChild(log, { ...carried, ...fields }),
  }
}

const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
}
