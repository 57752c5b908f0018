// The assembled river on a driven clock: intake, inbox, dispatch, outlet and outbox with a real store, between a
// scripted platform and a scripted agent. Every scenario ends with the audit: chain intact, nothing lost in counting.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect } from 'vitest'
import { demoConnector } from '../../src/agents/demo/index.ts'
import { createDesk } from '../../src/app/desk.ts'
import { createGateway, type Gateway } from '../../src/app/gateway.ts'
import { createTokens } from '../../src/app/tokens.ts'
import type { Desk, Settings, Store, ToolDesk } from '../../src/contract/index.ts'
import { createToolDesk } from '../../src/core/tool-desk/create-tool-desk.ts'
import { splitText } from '../../src/kit/index.ts'
import { openStore } from '../../src/store/open.ts'
import { sharedPostgres } from '../../src/testing/postgres-server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import {
  createScriptedConnector,
  type ScriptedAgent,
  type ScriptedAgentOptions,
} from '../../src/testing/scripted-connector.ts'
import {
  createScriptedPlatform,
  type Person,
  type PersonOptions,
  type ScriptedPlatform,
  type ScriptedPlatformOptions,
} from '../../src/testing/scripted-platform.ts'
import { createTestClock, createTestRandom } from '../../src/testing/test-clock.ts'
import { type TestSettings, testSettings } from '../../src/testing/test-settings.ts'
import { createLife, type Life } from './guard.ts'

export interface RiverOptions extends TestSettings {
  readonly platform?: ScriptedPlatformOptions
  readonly agent?: ScriptedAgentOptions
  readonly perAgent?: Readonly<Record<string, ScriptedAgentOptions>>
  /** Somebody looks at the console. */
  readonly watched?: boolean
}

export interface River {
  readonly platform: ScriptedPlatform
  readonly agent: ScriptedAgent
  readonly logLines: readonly string[]
  agentNamed(id: string): ScriptedAgent
  person(conversation: string, sender?: string, options?: PersonOptions): Person
  /** The store of the present life. */
  store(): Store
  desk(): Desk
  /** What the tools of agents do. */
  tools(): ToolDesk
  gateway(): Gateway
  settings(): Settings
  now(): number
  /** Lets everything run that can run without time passing. */
  settle(): Promise<void>
  /** Time passes, timer by timer. */
  pass(ms: number): Promise<void>
  /** Time jumps, as for a machine that slept: what was due meanwhile happens once. */
  sleep(ms: number): Promise<void>
  /** A reload: the new configuration is applied to the running gateway. */
  configure(settings: TestSettings): Promise<void>
  /** The gateway dies when it comes to this point (the nth time). */
  crashAt(point: string, times?: number): void
  /** Dies now if it did not yet, and starts again on the same database. */
  restart(settings?: TestSettings): Promise<void>
  /** Drains and starts again. */
  restartCleanly(): Promise<void>
  storeAway(verb: keyof Store, times: number): void
  /** Errors in the log are expected; without this they fail the scenario. */
  expectErrors(): void
}

export type OpenRiver = (options?: RiverOptions) => Promise<River>

interface OpenedRiver extends River {
  audit(): Promise<void>
  close(): Promise<void>
}

/** Names under which the scripted platform can be configured. */
const PLAYED = ['test', 'slack', 'telegram', 'webhook', 'email']
const STORES = ['sqlite', 'postgres'] as const
const LEDGER_KEY = new Uint8Array(32).fill(7)
// More rounds than any scenario needs: something wakes itself for ever.
const RESTLESS = 2_000
// A process does not come back in the very millisecond in which it died.
const RESTART_MS = 50

/** The same scenarios on both stores; `memory` is for those that are about numbers, not about disks. */
export function describeRiver(
  name: string,
  scenarios: (open: OpenRiver) => void,
  stores: readonly ('sqlite' | 'postgres' | 'memory')[] = STORES,
): void {
  describe.each(stores)(`${name} on %s`, (kind) => {
    const opened: OpenedRiver[] = []
    afterEach(async ({ task }) => {
      const rivers = opened.splice(0)
      try {
        if (task.result?.state !== 'fail') for (const river of rivers) await river.audit()
      } finally {
        for (const river of rivers) await river.close()
      }
    })
    const folder = mkdtempSync(join(tmpdir(), 'sb-river-'))
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    let files = 0
    scenarios(async (options = {}) => {
      const file = kind === 'memory' ? ':memory:' : join(folder, `${files++}.db`)
      const url = kind === 'postgres' ? await (await sharedPostgres()).freshDatabase() : `sqlite:${file}`
      const river = await createRiver(url, options)
      opened.push(river)
      return river
    })
  })
}

interface Alive {
  readonly life: Life
  readonly store: Store
  readonly open: Store
  readonly gateway: Gateway
  readonly desk: Desk
  readonly tools: ToolDesk
}

async function createRiver(url: string, options: RiverOptions): Promise<OpenedRiver> {
  const clock = createTestClock()
  const timers = { due: new Set<number[]>() }
  const log = createRecordingLog()
  const platform = createScriptedPlatform(options.platform)
  const connector = createScriptedConnector(options.agent, options.perAgent)
  let settings = testSettings(options)
  let births = 0
  let errorsExpected = false
  let crash: { point: string; left: number } | null = null
  let alive: Alive

  const live = async (): Promise<Alive> => {
    const life = createLife(timers)
    const random = createTestRandom(`river ${births++}`)
    const time = life.clock(clock)
    const open = await openStore(url, { clock: time, random, node: 'here', ledgerKey: LEDGER_KEY, log })
    const store = life.store(open)
    const tokens = createTokens(store, time, random)
    const crashPoint = (name: string) => {
      if (crash?.point !== name || life.dead()) return
      crash.left -= 1
      if (crash.left > 0) return
      crash = null
      life.end()
    }
    const gateway = createGateway({
      platforms: Object.fromEntries(PLAYED.map((name) => [name, async () => life.platform(platform)])),
      connectors: {
        test: async () => life.connector(connector),
        demo: async () => life.connector(demoConnector),
      },
      store,
      clock: time,
      random,
      log,
      tokens,
      settings: () => settings,
      secret: (reference) => reference,
      filesDir: () => tmpdir(),
      watched: () => options.watched ?? false,
      crashPoint,
    })
    const desk = createDesk({
      store,
      gateway,
      clock: time,
      tokens,
      secrets: NO_SECRETS,
      settings: () => settings,
      standing: () => ({
        ready: true,
        node: 'here',
        version: 'test',
        startedAt: clock.now(),
        configFile: null,
        configProblem: null,
        storeProblem: null,
      }),
      reload: async () => ({ ok: true, problem: null, digest: settings.digest, warnings: [] }),
      chatLink: async () => ({ url: '', expires_at: '' }),
      watchers: new Set(),
      shelf: null,
      applied: async () => undefined,
    })
    const tools = createToolDesk({
      store,
      clock: time,
      random,
      settings: () => settings,
      links: gateway.links,
      outlet: gateway.outlet,
      notifier: gateway.notifier,
      sender: gateway.sender,
      dispatcher: gateway.dispatcher,
      split: splitText,
    })
    await gateway.start()
    return { life, store, open, gateway, desk, tools }
  }

  const loopTurns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  }

  /** Nothing is due, no store call is under way, and nothing has moved for a while. */
  const settle = async () => {
    let rounds = 0
    for (let calm = 0; calm < 3; ) {
      if (++rounds > RESTLESS) throw new Error('the river never comes to rest')
      const before = alive.life.moved()
      await clock.advance(0)
      while (alive.life.busy() > 0 && !alive.life.dead())
        await new Promise((resolve) => setTimeout(resolve, 1))
      await loopTurns(3)
      const due = [...timers.due].some(([at = 0]) => at <= clock.now())
      calm = alive.life.moved() === before && !due ? calm + 1 : 0
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

  const die = async () => {
    if (!alive.life.dead()) await settle()
    alive.life.end()
    await alive.open.close()
  }

  const audit = async () => {
    await settle()
    const report = await alive.open.verify()
    expect(report).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
    const sums = new Map<string, number>()
    for (const { integration, name, count } of await alive.open.counters()) {
      expect(count, `${integration} ${name}`).toBeGreaterThanOrEqual(0)
      if (name.startsWith('send:')) continue
      sums.set(integration, (sums.get(integration) ?? 0) + (name === 'received' ? count : -count))
    }
    for (const [integration, difference] of sums) expect(difference, `conservation of ${integration}`).toBe(0)
    const errors = log.lines.filter((line) => line.includes('"level":"error"'))
    if (!errorsExpected) expect(errors).toEqual([])
  }

  alive = await live()
  await settle()
  return {
    platform,
    agent: connector.agent('demo'),
    logLines: log.lines,
    agentNamed: (id) => connector.agent(id),
    person: (conversation, sender = conversation, about = {}) => platform.person(conversation, sender, about),
    store: () => alive.store,
    desk: () => alive.desk,
    tools: () => alive.tools,
    gateway: () => alive.gateway,
    settings: () => settings,
    now: () => clock.now(),
    settle,
    pass,
    async sleep(ms) {
      await settle()
      clock.jump(clock.now() + ms)
      await settle()
    },
    async configure(next) {
      settings = testSettings(next)
      await alive.gateway.apply()
      await settle()
    },
    crashAt(point, times = 1) {
      crash = { point, left: times }
    },
    async restart(next) {
      await die()
      if (next) settings = testSettings(next)
      clock.jump(clock.now() + RESTART_MS)
      alive = await live()
      await settle()
    },
    async restartCleanly() {
      await alive.gateway.stop()
      await die()
      alive = await live()
      await settle()
    },
    storeAway: (verb, times) => alive.life.storeAway(verb, times),
    expectErrors() {
      errorsExpected = true
    },
    audit,
    async close() {
      platform.release()
      if (!alive.life.dead()) await alive.gateway.stop()
      alive.life.end()
      await alive.open.close()
    },
  }
}

const NO_SECRETS: Parameters<typeof createDesk>[0]['secrets'] = {
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
