// The whole river with an iMessage adapter against the double of Messages, in this process in real time. It can stop
// and start again on the same store, like a daemon that was down.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import { createTokens } from '../../src/gateway/access/tokens.ts'
import { createGateway } from '../../src/gateway/gateway.ts'
import type { Timings } from '../../src/platforms/imessage/config.ts'
import { createIMessage } from '../../src/platforms/imessage/index.ts'
import { createRealClock, createRealRandom } from '../../src/runtime/real-clock.ts'
import { openStore } from '../../src/store/open.ts'
import { createMessagesDouble } from '../../src/testing/imessage/messages-double.ts'
import { sharedPostgres } from '../../src/testing/postgres/server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { testAgent, testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { until } from '../faults/until.ts'
import { prepareStore } from './node.ts'

/** One Mac has the database, so several nodes make no sense. */
export const IMESSAGE_ARRANGEMENTS = ['sqlite', 'postgres'] as const

export const KATE = '+4915112345678'
export const OWN = 'me@icloud.example'

export interface IMessageRiverOptions {
  readonly arrangement?: (typeof IMESSAGE_ARRANGEMENTS)[number]
  readonly timings?: Partial<Timings>
}

export async function openIMessageRiver(options: IMessageRiverOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sb-imessage-'))
  const [clock, random, log] = [createRealClock(), createRealRandom(), createRecordingLog()]
  const double = createMessagesDouble(folder)
  const lent =
    options.arrangement === 'postgres' ? await (await sharedPostgres()).lend('river', prepareStore) : null
  const url = lent?.url ?? `sqlite:${join(folder, 'river.db')}`
  const people = [KATE, OWN]
  const settings = testSettings({
    integrations: [
      testIntegration('im', {
        platform: 'imessage',
        scope: 'all',
        default: true,
        options: { db_path: double.dbPath, addresses: [OWN] },
        access: {
          readable: true,
          dm: 'allowlist',
          allowFrom: people,
          approvers: people,
          groups: {},
          mentionPatterns: [],
        },
      }),
    ],
    agents: [testAgent('demo', ['im'], { connector: { type: 'demo', options: {} } })],
    tunables: { sendRetryBaseMs: 20, sendRetryMaxMs: 100 },
  })
  const timings = { pollMs: 20, retryMs: 50, lookMs: 20, ...options.timings }

  const bringUp = async () => {
    const ledgerKey = new Uint8Array(32).fill(7)
    const store = await openStore(url, { clock, random, node: 'here', ledgerKey, log })
    const gateway = createGateway({
      platform: async () => ({
        create: (deps) => createIMessage(deps, { timings, system: 'darwin', osascript: double.osascript }),
      }),
      connector: async () => ({ create: createDemoAgent }),
      ...{ store, clock, random, log },
      tokens: createTokens(store, clock, random),
      settings: () => settings,
      secret: () => '',
      filesDir: () => folder,
      watched: () => false,
    })
    await gateway.start()
    await until('chat.db is read', () => gateway.links.get('im')?.adapter.link?.state().state === 'up')
    return {
      store,
      link: () => gateway.links.get('im')?.adapter.link?.state() ?? { state: 'connecting' as const },
      async down() {
        await gateway.stop()
        await store.close()
      },
    }
  }
  let node = await bringUp()
  return {
    double,
    log,
    store: () => node.store,
    link: () => node.link(),
    down: () => node.down(),
    async up() {
      node = await bringUp()
    },
    async close() {
      await node.down()
      await double.close()
      await lent?.giveBack()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type IMessageRiver = Awaited<ReturnType<typeof openIMessageRiver>>
