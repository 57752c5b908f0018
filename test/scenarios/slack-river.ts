// The whole river with a Slack adapter against the fake Slack, in this process, on real time or on time that runs faster.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import { createGateway } from '../../src/app/gateway.ts'
import { createRealClock, createRealRandom } from '../../src/app/real-clock.ts'
import { createTokens } from '../../src/app/tokens.ts'
import type { Clock } from '../../src/contract/index.ts'
import type { Timings } from '../../src/platforms/slack/config.ts'
import { createSlack } from '../../src/platforms/slack/index.ts'
import { openStore } from '../../src/store/open.ts'
import { createFakeSlack, type FakeSlackOptions } from '../../src/testing/emulate.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { testAgent, testIntegration, testSettings } from '../../src/testing/test-settings.ts'

export interface SlackRiverOptions extends FakeSlackOptions {
  /** How much faster time goes; absent: it is real. */
  readonly faster?: number
  readonly timings?: Partial<Timings>
  readonly groups?: Readonly<
    Record<string, { readonly requireMention: boolean; readonly allowFrom: readonly string[] }>
  >
}

/** Minutes pass in fractions of a second, for everybody alike. */
function fasterClock(factor: number): Clock {
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
  const store = await openStore(`sqlite:${join(folder, 'river.db')}`, {
    clock,
    random,
    node: 'here',
    ledgerKey: new Uint8Array(32).fill(7),
    log,
  })
  const secrets: Readonly<Record<string, string>> = { 'env:BOT': fake.botToken, 'env:APP': fake.appToken }
  const settings = testSettings({
    integrations: [
      testIntegration('sl', {
        platform: 'slack',
        options: { bot_token: 'env:BOT', app_token: 'env:APP', api_url: fake.apiUrl },
        access: {
          readable: true,
          dm: 'allowlist',
          allowFrom: [kate.user.id],
          approvers: [kate.user.id],
          groups: Object.fromEntries(
            Object.entries(options.groups ?? {}).map(([id, group]) => [id, { ...group, origin: id }]),
          ),
          mentionPatterns: [],
        },
      }),
    ],
    agents: [testAgent('demo', ['sl'], { connector: { type: 'demo', options: {} } })],
    tunables: { sendRetryBaseMs: 20, sendRetryMaxMs: 100 },
  })
  const gateway = createGateway({
    platform: async () => ({ create: (deps) => createSlack(deps, { timings: options.timings ?? {} }) }),
    connector: async () => ({ create: createDemoAgent }),
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
  return {
    fake,
    kate,
    store,
    log,
    gateway,
    clock,
    async close() {
      await gateway.stop()
      await store.close()
      await fake.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
