// Foreign Slack servers report less than Slack, or in another way. No message may depend on that.
import { describe, expect, it } from 'vitest'
import { blockText } from './block-text.ts'
import { recorded, until, withScene } from './fixtures/slack-scene.ts'
import { parseInteraction } from './interactions.ts'
import { type ParseContext, parseEvent } from './parse.ts'

const SELF = { userId: 'UBOT', botId: null, teamId: '', name: '', team: '', scopes: null }
const CONTEXT: ParseContext = { self: SELF, replyToMode: 'first', nameOf: () => undefined, now: 1 }
const GENERAL = 'C0GENERAL'

describe('events', () => {
  it('[I15.other-servers] the least that a message has is read: no team, no channel_type, no client_msg_id, few digits', () => {
    const least = { type: 'message', channel: 'D1', user: 'U1', text: 'hi', ts: '1.5' }
    expect(parseEvent(least, CONTEXT)).toMatchObject({
      kind: 'message',
      chat: 'direct',
      text: 'hi',
      at: 1_500,
    })
    expect(parseEvent({ ...least, channel: 'C_TEST' }, CONTEXT)).toMatchObject({
      chat: 'group',
      thread: '1.5',
    })
    const tap = { type: 'block_actions', user: { id: 'U1' }, actions: [{ value: 'yes:abcde' }] }
    const bare = { ...tap, channel: { id: 'D1' }, message: { ts: '1.500000' } }
    expect(parseInteraction(bare, CONTEXT)).toMatchObject({ kind: 'tap', on: '1.500000', value: 'yes:abcde' })
  })

  it('[I15.other-servers] words that stand in blocks alone are read, also a pasted table', () => {
    const rich = {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            { type: 'user', user_id: 'UBOT' },
            { type: 'text', text: ' look at ' },
            { type: 'link', url: 'https://a.b', text: 'this' },
          ],
        },
      ],
    }
    const said = { type: 'message', channel: GENERAL, user: 'U1', text: '', ts: '1.000001', blocks: [rich] }
    expect(parseEvent(said, CONTEXT)).toMatchObject({
      text: '@ look at [this](https://a.b)',
      mentioned: true,
    })
    const cell = (text: string) => ({ type: 'raw_text', text })
    const table = {
      type: 'table',
      rows: [
        [cell('a'), cell('b')],
        [cell('1'), cell('2')],
      ],
    }
    expect(
      parseEvent({ ...said, text: 'see', blocks: [], attachments: [{ blocks: [table] }] }, CONTEXT),
    ).toMatchObject({ text: 'see\n\na | b\n1 | 2' })
    expect(blockText([{ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(50_000) } }])).toHaveLength(
      40_000,
    )
    let deep: object = { type: 'text', text: 'down' }
    for (let at = 0; at < 10_000; at++) deep = { elements: [deep] }
    expect(blockText([deep])).toBe('')
  })

  it('[I15.other-servers] envelopes without retry_attempt, bodies without authorizations, and an app id of another count', async () => {
    await withScene(async (scene) => {
      await scene.start()
      const { authorizations: _a, team_id: _t, ...body } = recorded<Record<string, unknown>>('dm-message')
      const shared = { ...body, team_id: 'T0FAR', context_team_id: 'T0SWBTEAM', api_app_id: 'A0ELSE' }
      const ids = [body, shared].map((one) => scene.fake.socket.deliver('events_api', one))
      await until('both are there', () => ids.every((id) => scene.fake.socket.acknowledged(id)))
      expect(scene.intake.events).toHaveLength(2)
    })
  })
})

describe('methods', () => {
  it('[I15.other-servers] without conversations.open a person is written to by id, and found there again', async () => {
    await withScene(
      async (scene) => {
        const kate = scene.fake.person()
        const sent = await scene.send(kate.user.id, { kind: 'text', text: 'a' })
        expect(sent.conversation).toBe(kate.channel.id)
        const [on = ''] = sent.platformIds
        await scene.send(kate.user.id, { kind: 'edit', on, text: 'b' })
        expect(kate.sees()).toEqual(['b'])
      },
      { missing: ['conversations.open'] },
    )
  })

  it('[I15.other-servers] 200 with ok:false, no JSON at all and a limit without a time are each told for what they are', async () => {
    await withScene(async (scene) => {
      const failed = async (faults: Parameters<typeof scene.fake.plan>[0]) => {
        scene.fake.plan(faults)
        return scene.send(GENERAL, { kind: 'text', text: 'x' }).catch((error: unknown) => error)
      }
      const on = 'chat.postMessage'
      expect(await failed([{ on, do: 'conflict' }])).toMatchObject({ code: 'outcome_unknown' })
      expect(await failed([{ on, do: 'malformed' }])).toMatchObject({ code: 'outcome_unknown' })
      expect(await failed([{ on, do: 'error', status: 503 }])).toMatchObject({ code: 'outcome_unknown' })
      expect(await failed([{ on, do: 'error', status: 502 }])).toMatchObject({ code: 'outcome_unknown' })
      expect(await failed([{ on, do: 'rate-limit', retryAfter: 0 }])).toMatchObject({
        code: 'rate_limited',
        retryAfterMs: 5_000,
      })
    })
  })
})

describe('clocks', () => {
  it.each([-3_600_000, 3_600_000])(
    '[I15.clock-skew] Slack’s clock %i ms beside ours: what stands in its history is placed by our own',
    async (offMs) => {
      await withScene(
        async (scene) => {
          const since = Date.now()
          await scene.start()
          scene.fake.person({ channel: GENERAL }).says('now')
          await until('it comes live', () => scene.intake.events.length === 1)
          const found = await scene.adapter.history?.read({
            place: { id: GENERAL },
            after: null,
            since: since - 2_000,
            limit: 10,
          })
          const [entry] = found !== undefined && 'entries' in found ? found.entries : []
          expect(entry?.event?.text).toBe('now')
          expect(Math.abs((entry?.at ?? 0) - Date.now())).toBeLessThan(60_000)
        },
        { now: () => Date.now() + offMs },
      )
    },
  )
})
