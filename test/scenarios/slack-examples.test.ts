// The seeds' examples with the real adapters of Slack and Telegram between their emulators: one agent sends from one to the
// other and back, tells its person, and the person's answer finds the session that spoke, by reply and by button.
import { createRequire } from 'node:module'
import type MarkdownIt from 'markdown-it'
import { describe, expect, it, vi } from 'vitest'
import { createTelegram } from '../../src/platforms/telegram/index.ts'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { until } from '../faults/until.ts'
import { accessOf, type EmulatedPlatform, emulatedIntegration } from './emulated-river.ts'
import { openSlackRiver } from './slack-river.ts'
import { caller } from './tool-caller.ts'

const CHANNEL = 'C0GENERAL'
const TIMINGS = { chatIntervalMs: 10 }

async function telegramBeside() {
  const fake = await createFakeTelegram()
  const kate = fake.person()
  const platform: EmulatedPlatform = {
    integration: emulatedIntegration('tg', {
      platform: 'telegram',
      options: { token: 'env:TELEGRAM', api_root: fake.url },
      access: accessOf(String(kate.user.id)),
    }),
    create: (deps) => createTelegram(deps, { timings: { chatIntervalMs: 10, pollTimeoutMs: 1_000 } }),
    secrets: { 'env:TELEGRAM': fake.token },
    stop: () => fake.stop(),
  }
  return { kate, platform }
}

type Telegram = Awaited<ReturnType<typeof telegramBeside>>
type River = Awaited<ReturnType<typeof openSlackRiver>> & { readonly kateThere: Telegram['kate'] }

async function withRiver(run: (river: River) => Promise<void>) {
  const telegram = await telegramBeside()
  const river = await openSlackRiver({
    timings: TIMINGS,
    beside: [telegram.platform],
    played: [
      testAgent('front', ['sl'], { messagingAllow: ['telegram:*'] }),
      testAgent('ops', ['tg'], { messagingAllow: [`slack:${CHANNEL}`] }),
    ],
  })
  try {
    await until('the link', () => river.fake.socket.open() > 0)
    await run({ ...river, kateThere: telegram.kate })
    expect(await river.store.verify()).toMatchObject({ ok: true, conservation: { ok: true } })
  } finally {
    await river.close()
  }
}

describe('slack and telegram, as in the seeds', () => {
  it('[I15.seed-examples] a message at Telegram makes the agent write to a channel of Slack, and one at Slack to Telegram', async () => {
    await withRiver(async ({ fake, kate, kateThere, agent, tools }) => {
      agent('ops').script = async (delivery, ops) => {
        const order = { platform: 'slack', target: CHANNEL, body: '**deploy** is <!channel> done' }
        const { text } = await tools.sendMessage(caller({ agent: 'ops', session: delivery.session }), order)
        await ops.answer(delivery, text)
      }
      kateThere.says('tell the team')
      await until('the answer', () => kateThere.sees().includes(`Message sent to slack:${CHANNEL}`))
      const [posted] = fake.world.messages(CHANNEL)
      expect(posted).toMatchObject({ text: '*deploy* is &lt;!channel&gt; done', user: fake.world.bot.id })

      const target = String(kateThere.user.id)
      agent('front').script = async (delivery, front) => {
        const order = { platform: 'telegram', target, body: 'from Slack' }
        const { text } = await tools.sendMessage(caller({ agent: 'front', session: delivery.session }), order)
        const denied = await tools.sendMessage(caller({ agent: 'front' }), {
          ...order,
          platform: 'slack',
          target: CHANNEL,
        })
        await front.answer(delivery, `${text}; ${denied.structured.code}`)
      }
      kate.says('tell me on my phone')
      await until('the answer', () =>
        kate.sees().includes(`Message sent to telegram:${target}; input_invalid`),
      )
      expect(kateThere.sees()).toContain('from Slack')
      expect(fake.world.messages(CHANNEL)).toHaveLength(1)
    })
  })

  it('[I36.one-parse] an answer is parsed once: what the outlet read to cut it, the adapter renders', async () => {
    await withRiver(async ({ kate, agent }) => {
      const parser = createRequire(import.meta.url)('markdown-it') as typeof MarkdownIt
      const parse = vi.spyOn(parser.prototype, 'parse')
      const text = 'Parsed once: **bold**, and\n\n- a list\n- of two'
      agent('front').script = async (delivery, front) => void (await front.answer(delivery, text))
      kate.says('hello')
      await until('the answer', () => kate.sees().some((seen) => seen.includes('Parsed once: *bold*')))
      expect(parse.mock.calls.filter(([parsed]) => parsed === text)).toHaveLength(1)
      parse.mockRestore()
    })
  })

  it('[I15.seed-examples] [I15.claim-person] notify_user to slack finds the person by id; reply and button lead to the session that spoke', async () => {
    await withRiver(async ({ fake, kate, kateThere, agent, tools, store }) => {
      kateThere.says('start')
      const { session } = await until('the session', () => agent('ops').deliveries[0])
      const who = caller({ agent: 'ops', session })
      const nudge = async (message: string) => {
        const told = await tools.notifyUser(who, {
          message,
          channel: 'slack',
          urgency: 'high',
          claimThread: true,
          claimThreadLabel: 'deploy',
        })
        expect(told).toMatchObject({ text: 'Notification sent via slack', isError: false })
        const { ts } = fake.world.messages(kate.channel.id).at(-1) ?? { ts: '' }
        return ts
      }
      const taken = (text: string) => agent('ops').deliveries.find((one) => one.text.includes(text))
      const answered = (text: string) => until(text, () => kate.sees().includes(`re: ${text}`))

      // Kept off, the chat stays its own agent's.
      await nudge('first')
      kate.taps('💬 Keep my chat')
      await until('it is noted', () => kate.sees().some((text) => text.includes('✓ FYI noted.')))
      kate.says('hello')
      await answered('hello')
      expect(agent('front').texts()).toEqual(['hello'])

      // By reply: in the thread of that very message, and the answer stands there too.
      const asked = await nudge('shall I deploy?')
      kate.says('yes, do', { thread: asked })
      await answered('yes, do')
      expect(taken('yes, do')?.session).toBe(session)
      const answer = fake.world.messages(kate.channel.id).find(({ text }) => text === 're: yes, do')
      expect(answer?.thread_ts).toBe(asked)

      // By button: the chat leads there until /back.
      await nudge('third')
      kate.taps('📎 Reply here')
      await until('it is threaded', () => kate.sees().some((text) => text.includes('✓ Threaded')))
      kate.says('go')
      await answered('go')
      expect(taken('go')?.session).toBe(session)
      kate.says('!back')
      await until('back', () => kate.sees().some((text) => text.startsWith('Back in your own chat')))
      kate.says('mine again')
      await answered('mine again')
      expect(agent('front').texts()).toEqual(['hello', 'mine again'])
      const log = await store.notifications({ limit: 10 })
      expect(log.map(({ channel, status }) => `${channel} ${status}`)).toEqual(
        Array.from({ length: 3 }, () => 'slack sent'),
      )
    })
  })

  it('[I15.long-texts] [I15.metadata-part] 40,000 characters in are one turn, and 40,000 out are parts that each fit and say which they are', async () => {
    await withRiver(async ({ fake, kate, agent }) => {
      const words = Array.from({ length: 5_000 }, (_, at) => `word${at}`)
      agent('front').script = async (delivery, front) => {
        expect(delivery.text).toHaveLength(40_000)
        await front.answer(delivery, words.join(' '))
      }
      kate.says('x'.repeat(40_000))
      await until('the last part', () => kate.sees().some((text) => text.includes('word4999')))
      const parts = fake.world.messages(kate.channel.id).filter(({ user }) => user === fake.world.bot.id)
      expect(parts.length).toBeGreaterThan(9)
      for (const { text } of parts) expect(text.length).toBeLessThanOrEqual(4_000)
      expect(parts.flatMap(({ text }) => text.match(/word\d+/g) ?? [])).toEqual(words)
      expect(parts.map(({ metadata }) => metadata?.event_payload.part)).toEqual(parts.map((_, at) => at))
    })
  })
})
