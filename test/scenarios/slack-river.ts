// The whole river with a Slack adapter against the fake Slack, in this process, on real time or on time that runs faster;
// where asked for with a Telegram beside it, and agents that the test plays.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import { createGateway } from '../../src/app/gateway.ts'
import { createRealClock, createRealRandom } from '../../src/app/real-clock.ts'
import { createTokens } from '../../src/app/tokens.ts'
import type { AccessPolicy, AgentSettings, Clock, GroupPolicy } from '../../src/contract/index.ts'
import { createToolDesk } from '../../src/core/tool-desk/create-tool-desk.ts'
import type { Timings } from '../../src/platforms/slack/config.ts'
import { createSlack } from '../../src/platforms/slack/index.ts'
import { createTelegram } from '../../src/platforms/telegram/index.ts'
import { openStore } from '../../src/store/open.ts'
import { createFakeSlack, createFakeTelegram, type FakeSlackOptions } from '../../src/testing/emulate.ts'
import { sharedPostgres } from '../../src/testing/postgres-server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { createScriptedConnector } from '../../src/testing/scripted-connector.ts'
import { testAgent, testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { prepareStore } from './node.ts'

export const SLACK_ARRANGEMENTS = ['sqlite', 'postgres', 'three nodes'] as const
export type SlackArrangement = (typeof SLACK_ARRANGEMENTS)[number]

export interface SlackRiverOptions extends FakeSlackOptions {
  /** On which stores, and on how many nodes; absent: SQLite. */
  readonly arrangement?: SlackArrangement
  /** How much faster time goes; absent: it is real. */
  readonly faster?: number
  readonly timings?: Partial<Timings>
  /** Agents that the test plays, of Slack (`sl`) and Telegram (`tg`), both of which then stand; absent: the demo agent. */
  readonly played?: readonly AgentSettings[]
  readonly groups?: Readonly<
    Record<string, { readonly requireMention: boolean; readonly allowFrom: readonly string[] }>
  >
}

/** Minutes pass in fractions of a second, for everybody alike. */
export function fasterClock(factor: number): Clock {
  const real = createRealClock()
  const start = real.now()
  return {
    now: () => Math.floor(start + (real.now() - start) * factor),
    after: (delayMs, run) => real.after(delayMs / factor, run),
  }
}

export async function openSlackRiver(options: SlackRiverOptions = {}) {
  const clock = options.faster === undefined ? createRealClock() : fasterClock(options.faster)
  const fake = await createFakeSlack({ now: () => clock.now(), ...options })
  const folder = mkdtempSync(join(tmpdir(), 'sb-slack-'))
  const random = createRealRandom()
  const log = createRecordingLog()
  const kate = fake.person()
  const arrangement = options.arrangement ?? 'sqlite'
  const lent = arrangement === 'sqlite' ? null : await (await sharedPostgres()).lend('river', prepareStore)
  const url = lent?.url ?? `sqlite:${join(folder, 'river.db')}`
  const groups = Object.fromEntries(
    Object.entries(options.groups ?? {}).map(([id, group]) => [id, { ...group, origin: id }]),
  )
  const telegram = options.played === undefined ? null : await createFakeTelegram()
  const kateThere = telegram?.person() ?? null
  const secrets: Readonly<Record<string, string>> = {
    'env:BOT': fake.botToken,
    'env:APP': fake.appToken,
    'env:TELEGRAM': telegram?.token ?? '',
  }
  const scripted = createScriptedConnector()
  const settings = testSettings({
    integrations: [
      testIntegration('sl', {
        platform: 'slack',
        scope: 'all',
        options: { bot_token: 'env:BOT', app_token: 'env:APP', api_url: fake.apiUrl },
        access: accessOf(kate.user.id, groups),
      }),
      ...(telegram === null || kateThere === null
        ? []
        : [
            testIntegration('tg', {
              platform: 'telegram',
              scope: 'all',
              options: { token: 'env:TELEGRAM', api_root: telegram.url },
              access: accessOf(String(kateThere.user.id)),
            }),
          ]),
    ],
    agents: options.played ?? [testAgent('demo', ['sl'], { connector: { type: 'demo', options: {} } })],
    tunables: { sendRetryBaseMs: 20, sendRetryMaxMs: 100 },
  })
  const bringUp = async (node: string) => {
    const ledgerKey = new Uint8Array(32).fill(7)
    const store = await openStore(url, { clock, random, node, ledgerKey, log })
    const gateway = createGateway({
      platform: async (name) =>
        name === 'telegram'
          ? {
              create: (deps) =>
                createTelegram(deps, { timings: { chatIntervalMs: 10, pollTimeoutMs: 1_000 } }),
            }
          : { create: (deps) => createSlack(deps, { timings: options.timings ?? {} }) },
      connector: async () => (options.played === undefined ? { create: createDemoAgent } : scripted),
      store,
      clock,
      random,
      log,
      tokens: createTokens(store, clock, random),
      settings: () => settings,
      secret: (reference) => secrets[reference] ?? '',
      filesDir: () => folder,
      watched: () => false,
    })
    await gateway.start()
    return { store, gateway }
  }
  const here = await bringUp('here')
  const others = arrangement === 'three nodes' ? [await bringUp('there'), await bringUp('elsewhere')] : []
  const { store, gateway } = here
  const { links, outlet, notifier, dispatcher, askForPerson } = gateway
  const tools = createToolDesk({
    ...{ store, settings: () => settings, links, outlet, notifier, dispatcher, askForPerson },
  })
  return {
    fake,
    kate,
    tools,
    agent: (id: string) => scripted.agent(id),
    /** Kate at Telegram; throws where there is none. */
    get kateThere() {
      if (kateThere === null) throw new Error('there is no Telegram in this river')
      return kateThere
    },
    store,
    log,
    gateway,
    clock,
    async close() {
      for (const node of [here, ...others]) await node.gateway.stop()
      for (const node of [here, ...others]) await node.store.close()
      await fake.stop()
      await telegram?.stop()
      await lent?.giveBack()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function accessOf(sender: string, groups: Readonly<Record<string, GroupPolicy>> = {}): AccessPolicy {
  const own = [sender]
  return { readable: true, dm: 'allowlist', allowFrom: own, approvers: own, groups, mentionPatterns: [] }
}
