// The whole river with a Discord adapter against the fake Discord, in this process, on real time or on time that runs faster.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import { createGateway } from '../../src/app/gateway.ts'
import { createRealClock, createRealRandom } from '../../src/app/real-clock.ts'
import { createTokens } from '../../src/app/tokens.ts'
import type { AgentSettings, GroupPolicy } from '../../src/contract/index.ts'
import { createToolDesk } from '../../src/core/tool-desk/create-tool-desk.ts'
import type { Timings } from '../../src/platforms/discord/config.ts'
import { createDiscord } from '../../src/platforms/discord/index.ts'
import { openStore } from '../../src/store/open.ts'
import { createFakeDiscord, type FakeDiscordOptions } from '../../src/testing/emulate.ts'
import { sharedPostgres } from '../../src/testing/postgres-server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { createScriptedConnector } from '../../src/testing/scripted-connector.ts'
import { testAgent, testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { prepareStore } from './node.ts'
import { fasterClock, type SlackArrangement } from './slack-river.ts'

export interface DiscordRiverOptions extends FakeDiscordOptions {
  /** On which stores, and on how many nodes; absent: SQLite. */
  readonly arrangement?: SlackArrangement
  /** How much faster time goes; absent: it is real. */
  readonly faster?: number
  readonly timings?: Partial<Timings>
  /** Agents that the test plays; absent: the demo agent. */
  readonly played?: readonly AgentSettings[]
  readonly groups?: Readonly<Record<string, GroupPolicy>>
}

export async function openDiscordRiver(options: DiscordRiverOptions = {}) {
  const clock = options.faster === undefined ? createRealClock() : fasterClock(options.faster)
  const fake = await createFakeDiscord({ now: () => clock.now(), ...options })
  const folder = mkdtempSync(join(tmpdir(), 'sb-discord-'))
  const random = createRealRandom()
  const log = createRecordingLog()
  const kate = fake.person()
  const arrangement = options.arrangement ?? 'sqlite'
  const lent = arrangement === 'sqlite' ? null : await (await sharedPostgres()).lend('river', prepareStore)
  const url = lent?.url ?? `sqlite:${join(folder, 'river.db')}`
  const own = [kate.user.id]
  const groups = options.groups ?? {}
  const scripted = createScriptedConnector()
  const settings = testSettings({
    integrations: [
      testIntegration('dc', {
        platform: 'discord',
        scope: 'all',
        options: { token: 'env:TOKEN', api_url: fake.apiUrl },
        access: {
          readable: true,
          dm: 'allowlist',
          allowFrom: own,
          approvers: own,
          groups,
          mentionPatterns: [],
        },
      }),
    ],
    agents: options.played ?? [testAgent('demo', ['dc'], { connector: { type: 'demo', options: {} } })],
    tunables: { sendRetryBaseMs: 20, sendRetryMaxMs: 100 },
  })
  const bringUp = async (node: string) => {
    const store = await openStore(url, { clock, random, node, ledgerKey: new Uint8Array(32).fill(7), log })
    const gateway = createGateway({
      platform: async () => ({ create: (deps) => createDiscord(deps, { timings: options.timings ?? {} }) }),
      connector: async () => (options.played === undefined ? { create: createDemoAgent } : scripted),
      store,
      clock,
      random,
      log,
      tokens: createTokens(store, clock, random),
      settings: () => settings,
      secret: () => fake.token,
      filesDir: () => folder,
      watched: () => false,
    })
    await gateway.start()
    return { store, gateway }
  }
  const here = await bringUp('here')
  const others = arrangement === 'three nodes' ? [await bringUp('there'), await bringUp('elsewhere')] : []
  const { store, gateway } = here
  const { links, outlet, notifier, dispatcher } = gateway
  return {
    fake,
    kate,
    tools: createToolDesk({ store, settings: () => settings, links, outlet, notifier, dispatcher }),
    agent: (id: string) => scripted.agent(id),
    store,
    log,
    clock,
    gateway,
    async close() {
      for (const node of [here, ...others]) await node.gateway.stop()
      for (const node of [here, ...others]) await node.store.close()
      await fake.stop()
      await lent?.giveBack()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
