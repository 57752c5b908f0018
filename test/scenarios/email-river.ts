// The whole river with an email adapter, against the fake mail provider or the test's own servers. It runs in this
// process in real time. It can stop and start again on the same store, like a daemon that was down.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import type { AgentSettings, Clock } from '../../src/contract/index.ts'
import { createToolActions } from '../../src/core/tool-actions/create-tool-actions.ts'
import { createTokens } from '../../src/gateway/access/tokens.ts'
import { createGateway } from '../../src/gateway/gateway.ts'
import type { Timings } from '../../src/platforms/email/config.ts'
import { createEmail } from '../../src/platforms/email/index.ts'
import { createRealClock, createRealRandom } from '../../src/runtime/real-clock.ts'
import { openStore } from '../../src/store/open.ts'
import { createFakeMail, FAKE_KATE_ADDRESS, type FakeMailOptions } from '../../src/testing/emulate.ts'
import { sharedPostgres } from '../../src/testing/postgres/server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { createScriptedConnector } from '../../src/testing/scripted/scripted-connector.ts'
import { testAgent, testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { until } from '../faults/until.ts'
import { clockOf, doctorOf, QUICK_OUTCOMES } from './emulated-river.ts'
import { prepareStore } from './node.ts'

/** The mailbox, and the people who may write to it. */
export interface MailPlace {
  readonly bot: string
  readonly kate: string
  readonly imapPort: number
  readonly smtpPort: number
  readonly password: string
  readonly authservId: string
}

interface RiverOptions {
  readonly arrangement?: 'sqlite' | 'postgres'
  readonly timings?: Partial<Timings>
  readonly mailbox?: Readonly<Record<string, unknown>>
  /** A scripted agent. The default is the demo agent. */
  readonly played?: AgentSettings
  /** Puts something between the adapter and the SMTP server. Returns the port to use instead. */
  readonly smtpThrough?: (port: number) => Promise<number>
  /** Does the same for IMAP. */
  readonly imapThrough?: (port: number) => Promise<number>
  /** The factor by which time is faster. If absent, time is real. */
  readonly faster?: number
}
export type EmailRiverOptions = RiverOptions & FakeMailOptions

export async function openEmailRiver(options: EmailRiverOptions = {}) {
  const clock = clockOf(options)
  const fake = await createFakeMail({ now: () => clock.now(), ...options })
  const imapPort = (await options.imapThrough?.(fake.imapPort)) ?? fake.imapPort
  const smtpPort = (await options.smtpThrough?.(fake.smtpPort)) ?? fake.smtpPort
  const river = await openMailRiver({ ...fake, imapPort, smtpPort, kate: FAKE_KATE_ADDRESS }, options, clock)
  return {
    ...river,
    fake,
    async close() {
      await river.close()
      await fake.stop()
    },
  }
}

export async function openMailRiver(
  place: MailPlace,
  options: RiverOptions = {},
  clock: Clock = createRealClock(),
) {
  const folder = mkdtempSync(join(tmpdir(), 'sb-email-'))
  const [random, log] = [createRealRandom(), createRecordingLog()]
  const own = [place.kate]
  const lent =
    options.arrangement === 'postgres' ? await (await sharedPostgres()).lend('river', prepareStore) : null
  const server = (port: number) => ({ host: '127.0.0.1', port, password: 'env:MAIL', tls: false })
  const scripted = createScriptedConnector()
  const settings = testSettings({
    integrations: [
      testIntegration('mail', {
        platform: 'email',
        scope: 'all',
        options: {
          address: place.bot,
          imap: server(place.imapPort),
          smtp: server(place.smtpPort),
          authserv_id: place.authservId,
          results_below_received: true,
          poll_interval: '500ms',
          ...options.mailbox,
        },
        access: {
          readable: true,
          dm: 'allowlist',
          allowFrom: own,
          approvers: own,
          groups: {},
          mentionPatterns: [],
        },
      }),
    ],
    agents: [options.played ?? testAgent('demo', ['mail'], { connector: { type: 'demo', options: {} } })],
    tunables: {
      ...(options.faster === undefined ? { sendRetryBaseMs: 20, sendRetryMaxMs: 100 } : {}),
      // These are the defaults.
      senderLimit: { rps: 20, burst: 500 },
      floodLimit: { rps: 200, burst: 2_000 },
      strangerLimit: { rps: 1, burst: 30 },
    },
  })
  const timings = {
    connectMs: 3_000,
    commandMs: 2_000,
    sendMs: 2_000,
    busyMs: 100,
    retryBaseMs: 20,
    retryMaxMs: 100,
    settleMs: 30,
  }

  const bringUp = async () => {
    const ledgerKey = new Uint8Array(32).fill(7)
    const url = lent?.url ?? `sqlite:${join(folder, 'river.db')}`
    const store = await openStore(url, { clock, random, node: 'here', ledgerKey, log })
    const gateway = createGateway({
      platform: async () => ({
        create: (deps) => createEmail(deps, { timings: { ...timings, ...options.timings } }),
      }),
      connector: async () => (options.played === undefined ? { create: createDemoAgent } : scripted),
      ...{ store, clock, random, log },
      tokens: createTokens(store, clock, random),
      settings: () => settings,
      secret: () => place.password,
      filesDir: () => folder,
      watched: () => false,
      ...(options.faster === undefined ? { outcomeTimes: QUICK_OUTCOMES } : {}),
    })
    await gateway.start()
    await until('the mailbox is read', () => gateway.links.get('mail')?.adapter.link?.state().state === 'up')
    const { links, outlet, notifier, dispatcher, roster } = gateway
    const tools = createToolActions({
      store,
      settings: () => settings,
      links,
      outlet,
      notifier,
      dispatcher,
      roster,
    })
    return {
      ...{ store, tools, gateway },
      doctor: doctorOf({ store, gateway, clock, settings: () => settings, folder }),
      async down() {
        await gateway.stop()
        await store.close()
      },
    }
  }
  let node = await bringUp()
  return {
    log,
    agent: (id: string) => scripted.agent(id),
    clock,
    doctor: () => node.doctor(),
    gateway: () => node.gateway,
    store: () => node.store,
    tools: () => node.tools,
    down: () => node.down(),
    async up() {
      node = await bringUp()
    },
    async close() {
      await node.down()
      await lent?.giveBack()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
