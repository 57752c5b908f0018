// Discord that says it is connected and hears nothing, or not everything, and a session that is refused after downtime: the
// history has what the link did not bring, and each message is answered once. Time runs faster here.
import { describe, expect, it } from 'vitest'
import { historyPlansFor } from '../../src/testing/emulate.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { until } from '../faults/until.ts'
import { type DiscordRiverOptions, openDiscordRiver } from './discord-river.ts'
import { LATE_MS, plansOnSharedStores, TALK_LIMIT_MS } from './fault-plan-talk.ts'
import { caller } from './tool-caller.ts'

const FASTER = 300
/** On a clock that runs so fast, what waits for this machine must wait for long. */
const TIMINGS = {
  requestTimeoutMs: 3_000_000,
  helloMs: 900_000,
  readyMs: 900_000,
  leastBeatMs: 900_000,
  probeMs: 900_000,
  identifyMs: 10_000,
}
const CHANNEL = '920000000000000001'
const GROUPS = { [CHANNEL]: { requireMention: true, allowFrom: [] } }

type River = Awaited<ReturnType<typeof openDiscordRiver>>

async function withRiver(options: DiscordRiverOptions, run: (river: River) => Promise<void>) {
  const river = await openDiscordRiver(options)
  try {
    await until('the link', () => river.fake.gateway.open() > 0)
    await run(river)
    expect(await river.store.verify()).toMatchObject({ ok: true, conservation: { ok: true } })
  } finally {
    await river.close()
  }
}

/** 50 in a direct chat, a channel and a thread. */
function sayFifty({ fake, kate }: River): {
  readonly words: readonly string[]
  readonly copies: (word: string) => number
} {
  const inChannel = fake.person({ channel: CHANNEL })
  const thread = inChannel.opens('talk', 'a thread that nobody is asked in')
  const words: string[] = []
  const said = (word: string) => {
    words.push(word)
    return word
  }
  for (let at = 0; at < 30; at++) kate.says(said(`direct${at}.`))
  for (let at = 0; at < 10; at++) inChannel.says(`@switchboard ${said(`channel${at}.`)}`)
  for (let at = 0; at < 10; at++) thread.says(`@switchboard ${said(`thread${at}.`)}`)
  const answers = () => [...kate.sees(), ...inChannel.sees(), ...thread.sees()]
  return { words, copies: (word) => answers().filter((text) => text.includes(`You said: ${word}`)).length }
}

async function answeredOnce({ store }: River, { words, copies }: ReturnType<typeof sayFifty>) {
  expect(words).toHaveLength(50)
  await until('all answers', () => words.every((word) => copies(word) > 0), LATE_MS)
  await until(
    'the outbox is empty',
    async () => (await store.sends({ states: ['queued', 'sending'], limit: 10 })).length === 0,
  )
  expect(words.filter((word) => copies(word) !== 1)).toEqual([])
  const turns = (await store.turns({ limit: 200 })).filter((turn) => turn.state === 'answered')
  expect(turns).toHaveLength(50)
  return turns
}

async function answersFifty(options: DiscordRiverOptions): Promise<void> {
  await withRiver({ ...options, groups: GROUPS }, async (river) => {
    const turns = await answeredOnce(river, sayFifty(river))
    expect(turns.filter((turn) => turn.lateAt !== null).length).toBeGreaterThan(0)
    expect(river.fake.fired.length).toBeGreaterThan(0)
  })
}

describe('discord, deaf', () => {
  it.each(historyPlansFor('dispatch'))(
    '[I20.deaf] [I20.history] $name: 50 messages in a chat, a channel and a thread are each answered once',
    ({ faults }) => answersFifty({ faster: FASTER, timings: TIMINGS, faults, heartbeatMs: 900_000 }),
    TALK_LIMIT_MS,
  )

  it.concurrent.for(plansOnSharedStores(historyPlansFor('dispatch')))(
    '[I20.deaf] [I20.history] $name on $arrangement: 50 messages are each answered once',
    { timeout: TALK_LIMIT_MS },
    ({ faults, arrangement }, { expect }) =>
      expect(answersFifty({ arrangement, faults, timings: { chatIntervalMs: 10 } })).resolves.toBeUndefined(),
  )

  it('[I20.refused-resume] a resume that is refused after downtime with 50 messages in between misses none and repeats none', async () => {
    await withRiver(
      { faster: FASTER, timings: TIMINGS, groups: GROUPS, heartbeatMs: 900_000 },
      async (river) => {
        const { fake, kate } = river
        // The comparison begins at the first connect: one message before the downtime shows that it stands.
        kate.says('before the downtime')
        await until('it is answered', () => kate.sees().some((text) => text.includes('before the downtime')))
        fake.plan([{ on: 'upgrade', do: 'error' }])
        fake.gateway.forgetSessions()
        fake.cut()
        await until('it is down', () => fake.gateway.open() === 0)
        const fifty = sayFifty(river)
        fake.plan([])
        await until('a new session', () => fake.gateway.counts().identified === 2)
        await until('all answers', () => fifty.words.every((word) => fifty.copies(word) > 0))
        expect(fifty.words.filter((word) => fifty.copies(word) !== 1)).toEqual([])
        expect(fake.gateway.counts().resumed).toBe(0)
      },
    )
  })
})

describe('discord, with an agent that speaks first', () => {
  it('[I20.river] [S11.claim-buttons-others] notify_user finds the person by id; the button and the reply lead to the session that spoke', async () => {
    const played = [testAgent('ops', ['dc'], { messagingAllow: ['discord:*'] })]
    await withRiver(
      { played, groups: GROUPS, timings: { chatIntervalMs: 10 } },
      async ({ fake, kate, agent, tools }) => {
        fake.person({ channel: CHANNEL }).says('@switchboard start')
        const { session } = await until('the session', () => agent('ops').deliveries[0])
        const who = caller({ agent: 'ops', session })
        const sessionOf = async (text: string) =>
          (await until(text, () => agent('ops').deliveries.find((one) => one.text.includes(text)))).session
        const nudge = async (message: string) => {
          const order = {
            message,
            channel: 'discord',
            urgency: 'high',
            claimThread: true,
            claimThreadLabel: 'deploy',
          } as const
          expect(await tools.notifyUser(who, order)).toMatchObject({
            text: 'Notification sent via discord',
            isError: false,
          })
          return until(message, () =>
            fake.world.messages(kate.channel.id).find(({ content }) => content.includes(message)),
          )
        }
        // Her own chat is another session than the channel, which speaks.
        kate.says('hello')
        expect(await sessionOf('hello')).not.toBe(session)
        const asked = await nudge('shall I deploy?')
        kate.says('yes, do', { replyTo: asked.id })
        expect(await sessionOf('yes, do')).toBe(session)
        await nudge('the disk is full')
        kate.taps('📎 Reply here')
        await until('it is threaded', () => kate.sees().some((text) => text.includes('✓ Threaded')))
        kate.says('go')
        expect(await sessionOf('go')).toBe(session)
        const sent = await tools.sendMessage(who, {
          platform: 'discord',
          target: CHANNEL,
          body: '**done** @everyone',
        })
        expect(sent.text).toContain(`discord:${CHANNEL}`)
        await until('it stands there', () =>
          fake.world.messages(CHANNEL).some(({ content }) => content.startsWith('**done**')),
        )
        expect(fake.world.pinged).toEqual([])
      },
    )
  })

  it('[I20.river] only approvers’ taps count', async () => {
    await withRiver(
      { groups: { [CHANNEL]: { requireMention: false, allowFrom: ['*'] } }, timings: { chatIntervalMs: 10 } },
      async ({ fake, kate }) => {
        const eve = fake.person({ id: '930000000000000042', name: 'eve', channel: CHANNEL })
        eve.says('deploy')
        const inChannel = fake.person({ channel: CHANNEL })
        const asked = () =>
          [...kate.sees(), ...inChannel.sees()].filter((text) => text.includes('demo wants to run Deploy'))
        await until('the question', () => asked().length > 0)
        const at = kate.sees().some((text) => text.includes('demo wants')) ? kate : inChannel
        if (at === inChannel) {
          eve.taps('Allow')
          await until('she is told', () => fake.world.ephemerals.some(({ user }) => user === eve.user.id))
          expect(inChannel.sees().some((text) => text.includes('Deployed'))).toBe(false)
        } else {
          // Asked in the approver's own chat: a forged tap of somebody else names its button.
          const [message] = fake.world
            .messages(kate.channel.id)
            .filter(({ components }) => components.length > 0)
          const [row] = (message?.components ?? []) as { components: { custom_id: string }[] }[]
          eve.chooses(eve.says('x').id, 'menu', row?.components[0]?.custom_id ?? '')
          await until('she is told', () => fake.world.ephemerals.some(({ user }) => user === eve.user.id))
          expect(inChannel.sees().some((text) => text.includes('Deployed'))).toBe(false)
        }
        at.taps('Allow')
        await until('the deploy', () => inChannel.sees().some((text) => text.includes('Deployed')))
      },
    )
  })
})
