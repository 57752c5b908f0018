// Slack's own clients against the fake under the fault plans. Their errors are enough to post each text once, and they
// receive every event. Plans that end the connection are left out, because the client then pauses five seconds each
// time. test/scenarios/slack-faults.test.ts runs those plans with the adapter's own client.
import { LogLevel, SocketModeClient } from '@slack/socket-mode'
import { WebClient } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { faultPlansFor, type NamedPlan } from '../faults/fault-matrix.ts'
import { createFakeSlack, type FakeSlack } from './fake-slack.ts'
import { GENERAL_ID } from './world.ts'

const PLANS = faultPlansFor({ send: 'chat.postMessage', edit: 'chat.update', receive: 'envelope' })
const KEPT_LINK = ['none', 'duplicate in', 'reorder in', 'deaf in', 'malformed in']
const SILENT = ['half-open on send', 'deaf on send']
const SAID = ['a', 'b', 'c', 'd', 'e']

async function withFake(plan: NamedPlan, run: (fake: FakeSlack) => Promise<void>) {
  const fake = await createFakeSlack({ faults: plan.faults, seed: 11, ackMs: 100, retryMs: [20, 40] })
  try {
    await run(fake)
  } finally {
    await fake.stop()
  }
}

/** Posts a text once. After an unclear answer it reads the history before it posts again. */
async function sayOnce(web: WebClient, text: string): Promise<void> {
  const metadata = { event_type: 'switchboard_outbox', event_payload: { id: text, part: 0 } }
  for (let tried = 0; tried < 20; tried++) {
    const said = await web.chat.postMessage({ channel: GENERAL_ID, text, metadata }).then(
      () => true,
      () => false,
    )
    if (said) return
    const { messages = [] } = await web.conversations.history({
      channel: GENERAL_ID,
      include_all_metadata: true,
    })
    const isThere = messages.some(
      (one) => (one.metadata?.event_payload as { readonly id?: string } | undefined)?.id === text,
    )
    if (isThere) return
  }
  throw new Error(`"${text}" could not be said`)
}

describe('[I15.fake-clients] @slack/web-api under the plans', () => {
  it.each(PLANS)('$name: each text stands there once', async (plan) => {
    await withFake(plan, async (fake) => {
      const web = new WebClient(fake.botToken, {
        slackApiUrl: fake.apiUrl,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        // The timeout is short only for plans without an answer.
        timeout: SILENT.includes(plan.name) ? 800 : 10_000,
        logLevel: LogLevel.ERROR,
      })
      for (const text of SAID) await sayOnce(web, text)
      expect(fake.world.messages(GENERAL_ID).map(({ text }) => text)).toEqual(SAID)
    })
  })
})

describe('[I15.fake-clients] @slack/socket-mode under the plans', () => {
  it.each(PLANS.filter(({ name }) => KEPT_LINK.includes(name)))(
    '$name: each message is heard, and acknowledged',
    async (plan) => {
      await withFake(plan, async (fake) => {
        const client = new SocketModeClient({
          appToken: fake.appToken,
          logLevel: LogLevel.ERROR,
          logger: {
            debug() {},
            info() {},
            warn() {},
            error() {},
            setLevel() {},
            getLevel: () => LogLevel.ERROR,
            setName() {},
          },
          clientOptions: { slackApiUrl: fake.apiUrl },
        })
        const heard = new Set<string>()
        client.on(
          'slack_event',
          async ({ ack, body }: { ack(): Promise<void>; body: { event?: { text?: string } } }) => {
            heard.add(String(body.event?.text))
            await ack()
          },
        )
        await client.start()
        const kate = fake.person()
        for (const text of SAID) kate.says(text)
        await expect.poll(() => [...heard].toSorted(), { timeout: 10_000 }).toEqual(SAID)
        await client.disconnect()
        if (plan.faults.length > 0) expect(fake.fired.length).toBeGreaterThan(0)
      })
    },
  )
})
