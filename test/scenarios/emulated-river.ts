// The whole river against fakes of real platforms, in this process: on SQLite, on PostgreSQL or on three nodes, in real
// or faster time. The files `…-river.ts` have the differences between platforms.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import {
  type AccessPolicy,
  type AgentSettings,
  type Clock,
  DEFAULT_TUNABLES,
  type GroupPolicy,
  type IntegrationSettings,
  type PlatformAdapter,
  type PlatformDeps,
  type Settings,
  type Store,
  type Tunables,
} from '../../src/contract/index.ts'
import type { OutcomeTimes } from '../../src/core/outbound/open-outcomes.ts'
import { createToolActions } from '../../src/core/tool-actions/create-tool-actions.ts'
import { createTokens } from '../../src/gateway/access/tokens.ts'
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts'
import { createDoctor, type Doctor } from '../../src/health/doctor.ts'
import { createRealClock, createRealRandom } from '../../src/runtime/real-clock.ts'
import { openStore } from '../../src/store/open.ts'
import { sharedPostgres } from '../../src/testing/postgres/server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { scratchFolder } from '../../src/testing/scratch.ts'
import { createScriptedConnector } from '../../src/testing/scripted/scripted-connector.ts'
import { testAgent, testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { prepareStore } from './node.ts'

export const ARRANGEMENTS = ['sqlite', 'postgres', 'three nodes'] as const
export type Arrangement = (typeof ARRANGEMENTS)[number]

export interface RiverOptions {
  /** The store and the number of nodes. The default is SQLite. */
  readonly arrangement?: Arrangement
  /** The factor by which time is faster. If absent, time is real. */
  readonly faster?: number
  /** Scripted agents. The default is the demo agent. */
  readonly played?: readonly AgentSettings[]
  /** Puts something between the adapter and the fake's HTTP server. Returns the address to use instead. */
  readonly through?: (url: string) => Promise<string>
  /** The setting of the integration. */
  readonly textChunkLimit?: number
}

export interface EmulatedPlatform {
  readonly integration: IntegrationSettings
  readonly create: (deps: PlatformDeps) => PlatformAdapter
  /** The secrets by their references in the options. */
  readonly secrets: Readonly<Record<string, string>>
  /** Stops the fake, after the nodes. */
  readonly stop: () => Promise<void>
}

/** A clock on which minutes pass in fractions of a second, for all parts alike. */
function fasterClock(factor: number): Clock {
  const real = createRealClock()
  const start = real.now()
  return {
    now: () => Math.floor(start + (real.now() - start) * factor),
    after: (delayMs, run) => real.after(delayMs / factor, run),
  }
}

const { sendRetryBaseMs, sendRetryMaxMs } = DEFAULT_TUNABLES
const sendRetryDefaults = { sendRetryBaseMs, sendRetryMaxMs }

/** With faster time, all times are the defaults: seconds of this machine are minutes. */
export const timesOf = ({ faster }: Pick<RiverOptions, 'faster'>) =>
  faster === undefined ? {} : { outcomeTimes: {}, tunables: sendRetryDefaults }

export const clockOf = ({ faster }: Pick<RiverOptions, 'faster'>): Clock =>
  faster === undefined ? createRealClock() : fasterClock(faster)

/** Times for sends with an open outcome in real time: seconds instead of minutes. */
export const QUICK_OUTCOMES = {
  absentCountsAfterMs: 1_000,
  resendAfterMs: [100, 500, 2_000, 5_000],
  lookBaseMs: 100,
  lookMaxMs: 1_000,
}

/** The `doctor` of a river: the health table as a daemon reports it. */
export function doctorOf(about: {
  readonly store: Store
  readonly gateway: Gateway
  readonly clock: Clock
  readonly settings: () => Settings
  readonly folder: string
}): Doctor {
  const standing = () => ({
    ...{ ready: true, node: 'here', version: 'test', startedAt: 0, instance: 'default' },
    ...{ configFile: null, configProblem: null, storeProblem: null, dataDir: about.folder },
  })
  return createDoctor({ ...about, standing })
}

/** Access for one person, who may write and decide. */
export function accessOf(
  person: string,
  groups: Readonly<Record<string, Omit<GroupPolicy, 'origin'>>> = {},
): AccessPolicy {
  const own = [person]
  return {
    readable: true,
    dm: 'allowlist',
    allowFrom: own,
    approvers: own,
    groups: Object.fromEntries(Object.entries(groups).map(([id, group]) => [id, { ...group, origin: id }])),
    mentionPatterns: [],
  }
}

export function emulatedIntegration(
  id: string,
  over: Pick<IntegrationSettings, 'platform' | 'options' | 'access'> & Partial<IntegrationSettings>,
): IntegrationSettings {
  return testIntegration(id, { scope: 'all', ...over })
}

export async function openEmulatedRiver(
  platforms: readonly EmulatedPlatform[],
  {
    arrangement = 'sqlite',
    clock,
    played,
    demo = {},
    tunables = {},
    outcomeTimes = QUICK_OUTCOMES,
  }: Pick<RiverOptions, 'arrangement' | 'played'> & {
    readonly clock: Clock
    /** Settings of the demo agent beyond its binding to the first platform. */
    readonly demo?: Partial<AgentSettings>
    readonly tunables?: Partial<Tunables>
    readonly outcomeTimes?: Partial<OutcomeTimes>
  },
) {
  const folder = scratchFolder('sb-river-')
  const random = createRealRandom()
  const log = createRecordingLog()
  const lent = arrangement === 'sqlite' ? null : await (await sharedPostgres()).lend('river', prepareStore)
  const url = lent?.url ?? `sqlite:${join(folder, 'river.db')}`
  const scripted = createScriptedConnector()
  const integrations = platforms.map(({ integration }) => integration)
  const bound = integrations.slice(0, 1).map(({ id }) => id)
  const settings = testSettings({
    integrations,
    agents: played ?? [testAgent('demo', bound, { connector: { type: 'demo', options: {} }, ...demo })],
    tunables: { sendRetryBaseMs: 20, sendRetryMaxMs: 100, ...tunables },
  })
  const secrets = new Map(platforms.flatMap((one) => Object.entries(one.secrets)))
  const bringUp = async (node: string) => {
    const store = await openStore(url, { clock, random, node, ledgerKey: new Uint8Array(32).fill(7), log })
    const gateway = createGateway({
      async platform(name) {
        const one = platforms.find(({ integration }) => integration.platform === name)
        if (one === undefined) throw new Error(`there is no ${name} in this river`)
        return { create: one.create }
      },
      connector: async () => (played === undefined ? { create: createDemoAgent } : scripted),
      store,
      clock,
      random,
      log,
      tokens: createTokens(store, clock, random),
      settings: () => settings,
      secret: (reference) => secrets.get(reference) ?? '',
      filesDir: () => folder,
      watched: () => false,
      outcomeTimes,
    })
    await gateway.start()
    return { store, gateway }
  }
  const here = await bringUp('here')
  const others = arrangement === 'three nodes' ? [await bringUp('there'), await bringUp('elsewhere')] : []
  const nodes = [here, ...others]
  const { store, gateway } = here
  const { links, outlet, notifier, dispatcher, roster, askForPerson } = gateway
  return {
    ...{ store, gateway, nodes, log, clock },
    doctor: doctorOf({ store, gateway, clock, settings: () => settings, folder }),
    tools: createToolActions({
      ...{ store, settings: () => settings, links, outlet, notifier, dispatcher, roster, askForPerson },
    }),
    agent: (id: string) => scripted.agent(id),
    async close() {
      for (const node of nodes) await node.gateway.stop()
      for (const node of nodes) await node.store.close()
      for (const { stop } of platforms) await stop()
      await lent?.giveBack()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
