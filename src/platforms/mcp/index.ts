// The platform `mcp`: a channel server as seen by one agent. The server pushes messages and verdicts, and we call its
// outbound tool. Agents share the connection (channel-servers.ts). Gates, limit, registration and queue are per agent.
import {
  type Abilities,
  type Address,
  asSwitchboardError,
  type Cancel,
  type ChannelPlatformDeps,
  type ChannelRegistration,
  type ChannelServer,
  type ChannelView,
  createBoundedMap,
  createTokenBuckets,
  defined,
  NO_TEXT_LIMIT,
  type PlatformAdapter,
  RELAY_PLACE,
  type SendCause,
  type SendRequest,
  type ServerFacts,
  type ServerNews,
  type ServerTool,
  type ServerToolResult,
  type Skip,
  SwitchboardError,
} from '../../contract/index.ts'
import { truncate } from '../../kit/index.ts'
import { type Arrivals, createArrivals } from './arrivals.ts'
import { inboundLimit, readOptions } from './channel-options.ts'
import { destinationsIn } from './destinations.ts'
import { gateViews } from './gate-views.ts'
import { evaluateGates } from './gates.ts'
import { outboundArguments, type Unnamed } from './outbound-arguments.ts'
import { messageIds, permissionRequest, toolInput } from './render.ts'
import { CONVERSATION_KEYS, TARGET_KEY, TARGET_THREAD_KEY, WHOLE_SERVER } from './thread.ts'
import { barredEvent, type EventPlace, toEvent } from './to-event.ts'
import { boundedResult } from './tool-result.ts'
import { verifyNews } from './verify.ts'

const ABILITIES: Abilities = {
  textLimit: NO_TEXT_LIMIT,
  sendFrom: 'link-holder',
  threads: true,
  // The protocol has no idempotency key.
  idempotentSend: false,
}
const ONE_WAY: Abilities = { ...ABILITIES, oneWay: true }
/** Causes that answer in a chat that wrote. Other sends need a target that the tool can name. */
const SAID_IN_ITS_CHAT: ReadonlySet<SendCause> = new Set(['reply', 'notice', 'prompt', 'pairing', 'takeover'])
const CALL_TIMEOUT_MS = 30_000
const ANSWERS_KEPT = 500
/** The length of a server's text in an error. */
const SHOWN_CHARS = 500

/** Throws `config_invalid` if the options were not made by the config room. */
export function createMcp(deps: ChannelPlatformDeps): PlatformAdapter {
  const { clock, log } = deps
  const { server: name, agent } = readOptions(deps.integration)
  const bucket = createTokenBuckets(1, clock)
  const answers = createBoundedMap<string, ServerToolResult>(ANSWERS_KEPT)
  let registered: ChannelRegistration | null = null
  let attached: ChannelServer | null = null
  let detach: Cancel = () => undefined
  let release: Cancel = () => undefined
  let arrivals: Arrivals | null = null
  /** The closed gate that was logged last. Each is logged once per connection. */
  let skipped: string | null = null
  let tools: { readonly connectedAt: number | null; readonly list: readonly ServerTool[] } | null = null

  /** Reads the configuration in force, which may be newer than the one at the start. */
  const place = (): EventPlace => {
    const integration = deps.current?.() ?? deps.integration
    return { integration, options: readOptions(integration), now: clock.now() }
  }

  const factsNow = (): ServerFacts => deps.servers?.get(name)?.facts() ?? absent(name)

  /** Evaluates the five gates now. */
  const gated = (facts = factsNow()) => {
    // Another node has the connection and the declaration, so that node evaluates the prefix again.
    const known = facts.state === 'waiting' ? { ...facts, prefix: facts.prefix ?? ('nexo' as const) } : facts
    return evaluateGates(known, place().options)
  }

  const registration = (): ChannelRegistration | null => {
    const facts = factsNow()
    const connected = facts.state === 'up' || facts.state === 'waiting'
    const now = gated(facts)
    if (connected && now.pass) {
      skipped = null
      if (!registered)
        log.info({ server: name, binding: now.registration.binding }, 'channel server registered')
      registered = { ...now.registration, registeredAt: registered?.registeredAt ?? clock.now() }
      return registered
    }
    if (!connected) skipped = null
    else if (!now.pass && skipped !== `${facts.connectedAt} ${now.skip.reason}`) {
      skipped = `${facts.connectedAt} ${now.skip.reason}`
      log.warn({ server: name, ...now.skip }, 'Skip')
    }
    if (registered) {
      // A lost server declares nothing, so its capabilities are not the reason.
      const why = now.pass || !connected ? { state: facts.state, detail: facts.detail } : now.skip
      log.info({ server: name, ...why }, 'channel server unregistered')
      registered = null
    }
    return null
  }

  const take = (news: ServerNews) => {
    const here = place()
    // The declaration comes from the connection that brought the news, which may be gone. The rest is the current
    // configuration.
    const { from } = news
    const now = evaluateGates({ name, ...from }, here.options)
    const barred = verifyNews(news, {
      skip: now.pass ? null : now.skip,
      prefix: from.prefix,
      permissionRelay: from.permissionRelay,
      limit: inboundLimit(here.options),
      bucket,
    })
    arrivals?.push(barred ? barredEvent(here, barred) : toEvent(news, here))
  }

  /** Subscribes to the pool's present server, which may be a new one of the same name. */
  const attach = () => {
    const server = deps.servers?.get(name) ?? null
    if (server !== attached) {
      detach()
      attached = server
      const ends = server ? [server.onNews(take), server.onChange(() => void registration())] : []
      detach = () => {
        for (const end of ends) end()
      }
    }
    registration()
  }

  /** Pauses the server while too much waits here. */
  const pressure = (full: boolean) => {
    // Releasing delivers the queued news at once, which may cause the next pause before this returns.
    const last = release
    release = full && attached ? attached.hold() : () => undefined
    last()
  }

  /** Returns the live server if it passes now. Throws the reason, and whether another try may help. */
  const open = (): { readonly server: ChannelServer; readonly registration: ChannelRegistration } => {
    const server = deps.servers?.get(name)
    const facts = factsNow()
    if (!server || facts.state !== 'up')
      throw new SwitchboardError(
        'platform_unavailable',
        `server ${name} is ${facts.state}: ${facts.detail ?? ''}`,
      )
    const now = registration()
    if (now) return { server, registration: now }
    const { reason } = skipOf(gated(facts))
    throw new SwitchboardError('platform_rejected', reason)
  }

  /** Throws `platform_rejected` listing the tools if the server has none of that name. */
  const toolNamed = async (server: ChannelServer, tool: string): Promise<ServerTool> => {
    const { connectedAt } = server.facts()
    const find = () => tools?.list.find((one) => one.name === tool)
    if (tools?.connectedAt !== connectedAt || !find()) tools = { connectedAt, list: await server.tools() }
    const found = find()
    if (found) return found
    throw new SwitchboardError(
      'platform_rejected',
      `server ${name} has no tool "${tool}" (outbound_tool_name); it offers: ${namesOf(tools.list)}`,
      { hint: `set outbound_tool_name of server ${name} in ${place().options.origin}.channels.approved` },
    )
  }

  /** Whether the server has shown only this conversation, or the configuration says that it has only one. */
  const isOnlyConversation = async ({ conversation, thread }: Address): Promise<boolean> => {
    if (approved()?.singleConversation !== undefined) return approved()?.singleConversation === true
    const [first, ...more] = (await deps.shownPlaces?.(name)) ?? []
    return more.length === 0 && first?.conversation === conversation && first.thread === thread
  }

  const outboundMap = () => approved()?.outboundArguments ?? null

  /** Throws `platform_rejected` for a place that the tool cannot name, unless a reply can reach only that place. */
  const naming = async <T>(to: Address, cause: SendCause, inputOf: (unnamed: Unnamed) => T): Promise<T> => {
    try {
      return inputOf('refuse')
    } catch (thrown) {
      if (!SAID_IN_ITS_CHAT.has(cause)) throw thrown
      if (await isOnlyConversation(to)) return inputOf('omit')
      const { message, hint } = asSwitchboardError(thrown)
      const why = `${message}, and server ${name} has more than one conversation`
      throw new SwitchboardError('platform_rejected', why, defined({ hint }))
    }
  }

  const check: ChannelView['check'] = async (to, cause) => {
    if (factsNow().state !== 'up') return
    const now = registration()
    const server = now && deps.servers?.get(name)
    if (!server) return
    let tool: ServerTool
    try {
      tool = await toolNamed(server, now.outboundToolName)
    } catch (thrown) {
      if (asSwitchboardError(thrown).code === 'platform_rejected') throw thrown
      return
    }
    await naming(to, cause, (unnamed) =>
      outboundArguments({ text: '', place: to }, tool, outboundMap(), unnamed),
    )
  }

  const call = async (request: SendRequest) => {
    const { server, registration: now } = open()
    const tool = toolOf(request.op) ?? now.outboundToolName
    const offered = await toolNamed(server, tool)
    const input = await naming(request.to, request.cause ?? 'notice', (unnamed) =>
      toolInput(request, offered, outboundMap(), unnamed),
    )
    // While the tools were read, a gate may have closed, or the server may have been replaced.
    if (open().server !== server)
      throw new SwitchboardError('platform_unavailable', `server ${name} was replaced`)
    const result = await server.call(tool, input, { timeoutMs: CALL_TIMEOUT_MS })
    if (request.op.kind === 'call') answers.set(request.key, boundedResult(result))
    if (result.isError) {
      const said = truncate(result.text, SHOWN_CHARS)
      throw new SwitchboardError('platform_rejected', said || `the tool "${tool}" reported an error`)
    }
    return { platformIds: messageIds(result) }
  }

  const approved = () => place().options.channels?.approved.find(({ server }) => server === name)

  const ask = async ({ op, key }: SendRequest) => {
    const { server, registration: now } = open()
    if (op.kind !== 'prompt' || !now.permissionRelay)
      throw new SwitchboardError('platform_rejected', `server ${name} does not relay permissions`)
    const { method, params } = permissionRequest(now.prefix, op)
    await server.notify(method, params)
    return { platformIds: [key] }
  }

  const channel: ChannelView = {
    server: name,
    agent,
    registration,
    instructions: () => (registration() === null ? null : factsNow().instructions),
    outboundTool: () => approved()?.outboundToolName ?? null,
    check,
    answered: (key) => answers.get(key) ?? null,
    destinations: destinationsIn,
    wholeServer: WHOLE_SERVER,
    placesOf: (target) => [...CONVERSATION_KEYS, TARGET_KEY].map((key) => `${key}=${target}`),
    threadOf: (thread) => `${TARGET_THREAD_KEY}=${thread}`,
    relaysApprovals() {
      const now = registration()
      return now !== null && (now.permissionRelay || factsNow().state === 'waiting')
    },
    admitsNow() {
      const facts = factsNow()
      const now = evaluateGates({ ...facts, prefix: facts.prefix ?? 'nexo' }, place().options)
      // The source of a marketplace server is known only while it runs.
      return now.pass || (now.skip.kind === 'marketplace' && facts.state !== 'up')
    },
  }

  return {
    get abilities() {
      return factsNow().oneWay ? ONE_WAY : ABILITIES
    },
    channel,
    async start(intake) {
      const lost = () => barredEvent(place(), { reason: 'store_away', key: '' })
      arrivals = createArrivals({ intake, clock, log, random: deps.random, dropped: lost, pressure })
      attach()
    },
    send: (request) => (request.to.conversation === RELAY_PLACE ? ask(request) : call(request)),
    configChanged: attach,
    checks: { gates: () => gateViews(factsNow(), place().options) },
    link: {
      state() {
        const facts = factsNow()
        const waiting = arrivals?.waiting() ?? 0
        const lost = arrivals?.lost() ?? 0
        const closed = registration() === null && facts.state === 'up' ? skipOf(gated(facts)).reason : null
        const words = [
          closed ?? facts.detail,
          waiting > 0 ? `${waiting} messages wait for the store` : null,
          lost > 0 ? `${lost} had to be dropped` : null,
        ].filter((one) => one !== null)
        return words.length === 0 ? { state: facts.state } : { state: facts.state, detail: words.join('; ') }
      },
    },
    async stop() {
      detach()
      detach = () => undefined
      pressure(false)
      attached = null
      await arrivals?.stop()
      arrivals = null
    },
  }
}

/** Returns the tool of the row, which was in force when the message was accepted. */
function toolOf(op: SendRequest['op']): string | undefined {
  return op.kind === 'call' || op.kind === 'text' ? op.tool : undefined
}

function namesOf(tools: readonly ServerTool[]): string {
  const names = tools.slice(0, 50).map(({ name }) => name)
  return truncate(names.join(', '), SHOWN_CHARS) || 'none'
}

function skipOf(gated: ReturnType<typeof evaluateGates>): Pick<Skip, 'reason'> {
  return gated.pass ? { reason: 'it is not registered' } : gated.skip
}

function absent(name: string): ServerFacts {
  return {
    name,
    transport: 'stdio',
    state: 'down',
    detail: 'it is not configured',
    connectedAt: null,
    restarts: 0,
    noise: 0,
    program: null,
    instructions: null,
    prefix: null,
    permissionRelay: false,
    stamp: { source: null, verified: false },
  }
}
