// One node of a river: a store, a gateway, desks, and a life that can end. In a cluster each node has its part: people
// write to the first, agents are attached to the second, operators use the third. Any node sends.
import { tmpdir } from 'node:os'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import { createLlmConnector } from '../../src/agents/llm/index.ts'
import type {
  AgentConnector,
  ChannelServer,
  ChannelServers,
  Clock,
  ConnectorDeps,
  ConnectorModule,
  Logger,
  ServiceToolSource,
  Settings,
  Store,
  ToolActions,
} from '../../src/contract/index.ts'
import { createToolActions } from '../../src/core/tool-actions/create-tool-actions.ts'
import { createTokens } from '../../src/gateway/access/tokens.ts'
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts'
import { createDoctor } from '../../src/health/doctor.ts'
import type { StreamingFetch } from '../../src/kit/index.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { createMcp } from '../../src/platforms/mcp/index.ts'
import { openStore } from '../../src/store/open.ts'
import { createTestClock, createTestRandom } from '../../src/testing/test-clock.ts'
import { type ConnectorMaker, createLife, type Life, type PlatformMaker } from './guard.ts'
import { createOperator, type Operator } from './operator.ts'

export interface Part {
  readonly name: string
  /** Whether the connections of the platforms end here. */
  readonly receives: boolean
  /** Whether agents are attached here. */
  readonly delivers: boolean
}

export interface LlmWorld {
  readonly fetch: StreamingFetch
  readonly lent?: ServiceToolSource
}

/** Connectors of the product by name, with real sockets. For rivers of one node. */
export type Connectors = Readonly<
  Record<string, (deps: ConnectorDeps) => AgentConnector | Promise<AgentConnector>>
>

export interface Surroundings {
  readonly url: string
  readonly clock: Clock
  readonly timers: { due: Set<number[]>; now: () => number }
  readonly log: Logger
  readonly platform: PlatformMaker
  readonly connector: ConnectorMaker
  readonly servers: ChannelServers
  readonly settings: () => Settings
  readonly watched: () => boolean
  readonly crashPoint: (name: string, life: Life) => void
  /** The API for the connector llm, and its lent tools. If absent, there is none. */
  readonly llm?: LlmWorld | undefined
  /** Connectors by name, made by the test. */
  readonly connectors?: Connectors | undefined
  /** The seed for the randomness of this life. */
  readonly seed: string
}

export interface Alive {
  readonly life: Life
  readonly store: Store
  /** The store itself. It works also after the end of the life. */
  readonly open: Store
  readonly gateway: Gateway
  readonly operator: Operator
  readonly tools: ToolActions
}

/** Names under which the scripted platform can be configured. */
const PLAYED = ['test', 'slack', 'telegram', 'webhook', 'email']
const LEDGER_KEY = new Uint8Array(32).fill(7)

/** Migrates an empty database. */
export async function prepareStore(url: string): Promise<void> {
  const random = createTestRandom('prepared')
  const open = await openStore(url, {
    clock: createTestClock(),
    random,
    node: 'prepared',
    ledgerKey: LEDGER_KEY,
  })
  await open.close()
}

export async function bringToLife(part: Part, around: Surroundings): Promise<Alive> {
  const { log, settings } = around
  const life = createLife(around.timers)
  const random = createTestRandom(around.seed)
  const time = life.clock(around.clock)
  const open = await openStore(around.url, {
    clock: time,
    random,
    node: part.name,
    ledgerKey: LEDGER_KEY,
    log,
    // Two, because opening a connection costs more than most scenarios read over it.
    readers: 2,
  })
  const store = life.store(open)
  const tokens = createTokens(store, time, random)
  const platform = part.receives ? around.platform : deaf(around.platform)
  const connector = part.delivers ? around.connector : unattended(around.connector)
  const gateway = createGateway({
    platform: async (name) => {
      if (name === 'mcp') return life.platform({ create: createMcp })
      return PLAYED.includes(name) ? life.platform(platform) : null
    },
    servers: async () => (part.receives ? around.servers : elsewhere(around.servers)),
    connector: async (name) => {
      if (name === 'demo') return life.connector({ create: createDemoAgent })
      if (name === 'llm' && around.llm) return llmConnector(around.llm, life)
      const given = around.connectors?.[name]
      if (given)
        return {
          async create(deps) {
            const made = await given(deps)
            return life.connector({ create: () => made }).create(deps)
          },
        }
      return name === 'test' ? life.connector(connector) : null
    },
    store,
    clock: time,
    random,
    log,
    tokens,
    settings,
    secret: (reference) => reference,
    filesDir: () => tmpdir(),
    watched: around.watched,
    tools: () => tools,
    ...(around.llm?.lent ? { lent: mortal(around.llm.lent, life) } : {}),
    crashPoint: (name) => {
      if (!life.dead()) around.crashPoint(name, life)
    },
  })
  const source = {
    store,
    settings,
    clock: time,
    standing: () => ({
      ready: true,
      node: part.name,
      version: 'test',
      startedAt: around.clock.now(),
      configFile: null,
      instance: 'default',
      dataDir: '/data',
      configProblem: null,
      storeProblem: null,
    }),
  }
  const operator = createOperator({
    ...source,
    live: {
      gateway,
      random,
      tokens,
      secrets: NO_SECRETS,
      added: null,
      adapters: MODULES,
      doctor: createDoctor({ ...source, gateway, adapters: MODULES }),
      reload: async () => ({ ok: true, problem: null, digest: settings().digest, warnings: [] }),
      chatLink: async () => ({ url: '', expires_at: '', phone: { url: '', warning: null } }),
      consoleLink: async () => ({ url: '', user: '', roles: [], expires_at: '' }),
      configViews: {
        inForce: async () => ({ file: null, digest: '', warnings: [], lines: [] }),
        check: async () => ({ ok: true, problems: [], warnings: [] }),
      },
    },
  })
  const tools = createToolActions({
    store,
    settings,
    links: gateway.links,
    outlet: gateway.outlet,
    notifier: gateway.notifier,
    dispatcher: gateway.dispatcher,
    roster: gateway.roster,
    askForPerson: gateway.askForPerson,
  })
  await gateway.start()
  return { life, store, open, gateway, operator, tools }
}

const NEVER = new Promise<never>(() => undefined)

/** The agent loop. Its calls of the API end with its life. */
function llmConnector({ fetch }: LlmWorld, life: Life) {
  return {
    async create(deps: ConnectorDeps): Promise<AgentConnector> {
      const made = await createLlmConnector(deps, (input, init) => (life.dead() ? NEVER : fetch(input, init)))
      return life.connector({ create: () => made }).create(deps)
    },
  }
}

function mortal({ list, call }: ServiceToolSource, life: Life): ServiceToolSource {
  return { list, call: (session, name, input) => (life.dead() ? NEVER : call(session, name, input)) }
}

/** A platform that can send but receives nothing here. */
function deaf(module: PlatformMaker): PlatformMaker {
  const quiet = async () => undefined
  return { ...module, create: (deps) => ({ ...module.create(deps), start: quiet, stop: quiet }) }
}

/** Servers that another node holds. Here they report nothing and cannot be called. */
function elsewhere(servers: ChannelServers): ChannelServers {
  const held = (server: ChannelServer): ChannelServer => ({
    ...server,
    facts: () => ({ ...server.facts(), state: 'waiting', prefix: null, permissionRelay: false }),
    onNews: () => () => undefined,
  })
  const of = (name: string) => {
    const server = servers.get(name)
    return server === undefined ? undefined : held(server)
  }
  return { ...servers, get: of, all: () => servers.all().map(held) }
}

/**
 * A connector without an attached agent, configured as on the other nodes. A delivery here is a mistake. Only a host
 * that may have moved is asked on every node.
 */
function unattended(module: ConnectorMaker): ConnectorMaker {
  const astray = async (): Promise<never> => {
    throw new Error('the agent is attached to another node')
  }
  const quiet = async () => undefined
  return {
    ...module,
    create: (deps) => {
      const connector = module.create(deps)
      const verdict = connector.holdsDecisions ? astray : async () => 'gone' as const
      return { ...connector, start: quiet, stop: quiet, deliver: astray, verdict }
    },
  }
}

/** Agents ask people about tool calls if their options say so. */
const MODULES: Parameters<typeof createDoctor>[0]['adapters'] = {
  loadedPlatform: () => undefined,
  loadedConnector: () => ({ asks: ({ asks }) => asks === true }) as ConnectorModule,
  changed: () => new Set(),
}

const NO_SECRETS: NonNullable<OperationContext['live']>['secrets'] = {
  names: () => [],
  read: () => null,
  set: async () => undefined,
  remove: async () => false,
  rotate: async () => 0,
  reserved: () => [],
  keepReserved: async () => undefined,
  keep: async () => undefined,
  forget: async () => undefined,
  refresh: async () => undefined,
}
