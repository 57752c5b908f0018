// The assembled river on a driven clock: intake, inbox, dispatch, outlet and outbox with a real store, between a
// scripted platform and a scripted agent. Every scenario ends with the audit: the chain is intact and all counts agree.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, TestRunner } from 'vitest'
import { withChannelServers } from '../../src/config/channel-integrations.ts'
import type { Settings, Store, ToolActions } from '../../src/contract/index.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { sharedPostgres } from '../../src/testing/postgres/server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { scratchFolder } from '../../src/testing/scratch.ts'
import {
  createScriptedConnector,
  type ScriptedAgent,
  type ScriptedAgentOptions,
} from '../../src/testing/scripted/scripted-connector.ts'
import type { Person, PersonOptions } from '../../src/testing/scripted/scripted-person.ts'
import {
  createScriptedPlatform,
  type ScriptedPlatform,
  type ScriptedPlatformOptions,
} from '../../src/testing/scripted/scripted-platform.ts'
import { createScriptedServers, type ScriptedServer } from '../../src/testing/scripted/scripted-servers.ts'
import { createTestClock } from '../../src/testing/test-clock.ts'
import { type TestSettings, testSettings } from '../../src/testing/test-settings.ts'
import { isDealt, SCOPE } from './deal.ts'
import type { Life } from './guard.ts'
import { createHintFence, type HintFence } from './hint-fence.ts'
import { type Alive, bringToLife, type Connectors, type LlmWorld, type Part, prepareStore } from './node.ts'
import type { Operator } from './operator.ts'

export interface RiverOptions extends TestSettings {
  readonly platform?: ScriptedPlatformOptions
  readonly agent?: ScriptedAgentOptions
  readonly perAgent?: Readonly<Record<string, ScriptedAgentOptions>>
  /** The API for agents with the connector llm. */
  readonly llm?: LlmWorld
  /** Connectors by name, made by the test. */
  readonly connectors?: Connectors
  /** True when a person has the console open. */
  readonly watched?: boolean
}

export interface River {
  readonly platform: ScriptedPlatform
  readonly agent: ScriptedAgent
  readonly logLines: readonly string[]
  agentNamed(id: string): ScriptedAgent
  /** A channel server that the configuration names. */
  server(name: string): ScriptedServer
  person(conversation: string, sender?: string, options?: PersonOptions): Person
  /** The store of the present life. */
  store(): Store
  operator(): Operator
  /** What the tools of agents do. */
  tools(): ToolActions
  gateway(): Gateway
  settings(): Settings
  now(): number
  /** Runs everything that can run without time passing. */
  settle(): Promise<void>
  /** Lets time pass, timer by timer. */
  pass(ms: number): Promise<void>
  /** Makes time jump, as on a machine that slept. Each overdue timer runs once. */
  sleep(ms: number): Promise<void>
  /** Sets the wall clock back. Timers do not notice. */
  setBack(ms: number): void
  /** Reloads: applies the new configuration to the running gateway. */
  configure(settings: TestSettings): Promise<void>
  /** Kills the gateway when it reaches this point the nth time: all nodes, or only the node that reached it. */
  crashAt(point: string, times?: number, who?: 'all' | 'itself'): void
  /** Whether the gateway died at the point and has not been started again. */
  dead(): boolean
  /** Kills the gateway if it is still alive, and starts it again on the same database. */
  restart(settings?: TestSettings): Promise<void>
  /** Drains and starts again. */
  restartCleanly(): Promise<void>
  storeAway(verb: keyof Store, times: number): void
  /** Runs the next calls on the agents' node (for `receive`: on the people's node) but loses their answers. */
  loseAnswer(verb: keyof Store, times: number): void
  /** Delays the next answer of a method there until the returned function is called. */
  delayAnswer(verb: keyof Store): () => void
  /** Whether hints arrive at the agents' node. */
  hear(hints: boolean): void
  /** Expects errors in the log. Without this they fail the scenario. */
  expectErrors(): void
}

export type OpenRiver = (options?: RiverOptions) => Promise<River>

interface OpenedRiver extends River {
  audit(): Promise<void>
  close(): Promise<void>
}

type Arrangement = 'sqlite' | 'postgres' | 'three nodes' | 'memory'
const ARRANGEMENTS = ['sqlite', 'postgres', 'three nodes'] as const satisfies readonly Arrangement[]
const ALONE: readonly Part[] = [{ name: 'here', receives: true, delivers: true }]
const THREE: readonly Part[] = [
  { name: 'door', receives: true, delivers: false },
  { name: 'bench', receives: false, delivers: true },
  { name: 'desk', receives: false, delivers: false },
]
// More rounds than any scenario needs. Beyond them something wakes itself for ever.
const RESTLESS = 2_000
const FENCES = 2
const UNFENCED = { at: -1, times: 0 }
// A process does not restart in the very millisecond of its death.
const RESTART_MS = 50

/**
 * Runs scenarios on the arrangements that deal.ts selects: both stores, and three nodes that share one. `memory` is for
 * scenarios about numbers, not about disks.
 */
export function describeRiver(
  name: string,
  scenarios: (open: OpenRiver) => void,
  arrangements: readonly Arrangement[] = ARRANGEMENTS,
  /** `each` runs on every arrangement in every run, for behaviour that differs between them. */
  on: 'dealt' | 'each' = 'dealt',
): void {
  const scope = on === 'each' && SCOPE !== 'first' ? 'all' : SCOPE
  describe.each(scope === 'first' ? arrangements.slice(0, 1) : arrangements)(`${name} on %s`, (kind) => {
    const opened: OpenedRiver[] = []
    afterEach(async ({ task }) => {
      const rivers = opened.splice(0)
      try {
        if (task.result?.state !== 'fail') for (const river of rivers) await river.audit()
      } finally {
        for (const river of rivers) await river.close()
      }
    })
    const folder = scratchFolder('sb-river-')
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    let files = 0
    scenarios(async (options = {}) => {
      const file = kind === 'memory' ? ':memory:' : join(folder, `${files++}.db`)
      const shared = kind === 'postgres' || kind === 'three nodes'
      // The database is lent, because creating and migrating one takes longer than most scenarios.
      const lent = shared ? await (await sharedPostgres()).lend('river', prepareStore) : null
      const url = lent?.url ?? `sqlite:${file}`
      const river = await createRiver(url, options, kind === 'three nodes' ? THREE : ALONE)
      opened.push({
        ...river,
        async close() {
          await river.close()
          await lent?.giveBack()
        },
      })
      return river
    })
    const { tasks } = TestRunner.getCurrentSuite()
    const dealt = tasks.filter((task) => isDealt(`${name} ${task.name}`, kind, arrangements, scope))
    // An empty group would be an error, so it keeps its first scenario.
    tasks.splice(0, tasks.length, ...(dealt.length > 0 ? dealt : tasks.slice(0, 1)))
  })
}

async function createRiver(url: string, options: RiverOptions, parts: readonly Part[]): Promise<OpenedRiver> {
  const clock = createTestClock()
  /** The offset of the wall clock. Timers are not affected. */
  let setBackMs = 0
  const wall = { now: () => clock.now() - setBackMs, after: clock.after }
  const timers = { due: new Set<number[]>(), now: () => clock.now() }
  const log = createRecordingLog()
  const platform = createScriptedPlatform(options.platform)
  const connector = createScriptedConnector(options.agent, options.perAgent)
  const servers = createScriptedServers()
  const configured = (given: TestSettings) => withChannelServers(testSettings(given))
  let settings = configured(options)
  let births = 0
  let errorsExpected = false
  let crash: { point: string; left: number; alone: boolean } | null = null
  let nodes: readonly Alive[] = []
  let fence: HintFence | null = null
  let fenced = UNFENCED

  // At a crash point all nodes die, as in a power cut. With `alone` only the node that reached it dies.
  const crashPoint = (name: string, its: Life) => {
    if (crash?.point !== name) return
    crash.left -= 1
    if (crash.left > 0) return
    const { alone } = crash
    crash = null
    if (alone) its.end()
    else for (const { life } of nodes) life.end()
  }

  const live = async () => {
    const born: Alive[] = []
    nodes = born
    fenced = { ...UNFENCED }
    for (const part of parts) {
      const watched = () => options.watched ?? false
      const around = {
        url,
        clock: wall,
        timers,
        log,
        platform,
        connector,
        servers,
        watched,
        crashPoint,
        llm: options.llm,
        connectors: options.connectors,
      }
      born.push(await bringToLife(part, { ...around, settings: () => settings, seed: `river ${births++}` }))
    }
    if (parts.length > 1) fence = createHintFence(nodes.map(({ open }) => open))
  }
  const node = (at: number): Alive => {
    const found = nodes[Math.min(at, nodes.length - 1)]
    if (!found) throw new Error('nothing lives here')
    return found
  }
  const platformNode = () => node(0)
  const agentNode = () => node(1)
  const operatorNode = () => node(2)
  const dead = () => nodes.every(({ life }) => life.dead())
  const sum = (of: (alive: Alive) => number) => nodes.reduce((total, one) => total + of(one), 0)
  const moved = () => sum(({ life }) => life.moved())
  const busy = () => sum(({ life }) => life.busy())

  const loopTurns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  }

  /** Waits for the hints of all changes, twice, because some hints are sent after the store's answer. */
  const passFence = async () => {
    const at = moved()
    const before = fenced
    if (before.at === at && before.times === FENCES) return
    await fence?.pass()
    // Of concurrent passes only one counts. The second must begin after the first.
    if (fenced === before) fenced = { at, times: before.at === at ? before.times + 1 : 1 }
  }

  /** Runs until nothing is due, no store call is in progress, and nothing has moved for a while. */
  const settle = async () => {
    let rounds = 0
    for (let calm = 0; calm < 3; ) {
      if (++rounds > RESTLESS) throw new Error('the river never comes to rest')
      const before = moved()
      await clock.advance(0)
      while (busy() > 0 && !dead()) await new Promise((resolve) => setTimeout(resolve, 1))
      if (!dead()) await passFence()
      await loopTurns(3)
      const due = [...timers.due].some(([at = 0]) => at <= clock.now())
      calm = moved() === before && !due ? calm + 1 : 0
    }
  }

  const pass = async (ms: number) => {
    const until = clock.now() + ms
    await settle()
    for (;;) {
      const next = Math.min(...[...timers.due].map(([at = 0]) => at))
      if (next > until) break
      await clock.advance(Math.max(0, next - clock.now()))
      await settle()
    }
    await clock.advance(until - clock.now())
    await settle()
  }

  /** Stops all nodes. A stop waits for work in progress, with a limit. Time passes only if it must. */
  const stopAll = async () => {
    for (const { gateway, life } of nodes) {
      if (life.dead()) continue
      let done = false
      const stopping = gateway.stop().finally(() => {
        done = true
      })
      await settle()
      for (let seconds = 0; !done && seconds < 60; seconds++) await pass(1_000)
      await stopping
    }
  }

  const die = async () => {
    if (!dead()) await settle()
    await end()
  }
  const end = async () => {
    for (const { life } of nodes) life.end()
    fence = null
    for (const { open } of nodes) await open.close()
  }

  const audit = async () => {
    await settle()
    for (const { open } of nodes) {
      const report = await open.verify()
      expect(report).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
    }
    const sums = new Map<string, number>()
    for (const { integration, name, count } of await platformNode().open.counters()) {
      expect(count, `${integration} ${name}`).toBeGreaterThanOrEqual(0)
      if (name.includes(':')) continue
      sums.set(integration, (sums.get(integration) ?? 0) + (name === 'received' ? count : -count))
    }
    for (const [integration, difference] of sums) expect(difference, `conservation of ${integration}`).toBe(0)
    const errors = log.lines.filter((line) => line.includes('"level":"error"'))
    if (!errorsExpected) expect(errors).toEqual([])
  }

  await live()
  await settle()
  return {
    platform,
    agent: connector.agent('demo'),
    logLines: log.lines,
    agentNamed: (id) => connector.agent(id),
    server: (name) => servers.named(name),
    person: (conversation, sender = conversation, about = {}) => platform.person(conversation, sender, about),
    store: () => platformNode().store,
    operator: () => operatorNode().operator,
    tools: () => agentNode().tools,
    gateway: () => platformNode().gateway,
    settings: () => settings,
    now: () => clock.now(),
    dead,
    settle,
    pass,
    async sleep(ms) {
      await settle()
      clock.jump(clock.now() + ms)
      await settle()
    },
    setBack(ms) {
      setBackMs += ms
    },
    async configure(next) {
      settings = configured(next)
      for (const { gateway } of nodes) await gateway.apply()
      await settle()
    },
    crashAt(point, times = 1, who = 'all') {
      crash = { point, left: times, alone: who === 'itself' }
    },
    async restart(next) {
      await die()
      if (next) settings = configured(next)
      clock.jump(clock.now() + RESTART_MS)
      await live()
      await settle()
    },
    async restartCleanly() {
      await stopAll()
      await die()
      await live()
      await settle()
    },
    storeAway(verb, times) {
      for (const { life } of nodes) life.storeAway(verb, times)
    },
    loseAnswer: (verb, times) =>
      (verb === 'receive' ? platformNode() : agentNode()).life.loseAnswer(verb, times),
    delayAnswer: (verb) => agentNode().life.delayAnswer(verb),
    hear: (hints) => agentNode().life.hear(hints),
    expectErrors() {
      errorsExpected = true
    },
    audit,
    async close() {
      platform.release()
      await stopAll()
      await end()
    },
  }
}
