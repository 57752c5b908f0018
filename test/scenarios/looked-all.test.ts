// What is looked for among many rows is found however far back it is, and a list that is cut says so.
import { expect, it } from 'vitest'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const MANY = 1_100

describeRiver(
  'looking among many rows',
  (open) => {
    const opened = async () => {
      const river = await open({
        integrations: [testIntegration('chat')],
        agents: [testAgent('demo', ['chat'])],
        agent: { window: 10_000 },
      })
      river.agent.script = () => undefined
      const attachments = [{ id: 'f1', kind: 'image' as const, ref: 'r1' }]
      await river.person('old', 'anna').says('with a file', { attachments })
      await river.settle()
      return { river, first: river.agent.deliveries[0] }
    }
    const crowd = async (river: River, conversation: string) => {
      await river.platform.receive(
        'chat',
        Array.from({ length: MANY }, (_, n) => ({
          kind: 'message' as const,
          conversation,
          chat: 'direct' as const,
          sender: { id: 'ben' },
          at: 0,
          messageId: `noise${conversation}${n}`,
          text: `noise ${n}`,
        })),
      )
      await river.settle()
    }

    it('[I14.looked-all] an old turn is replied to, acknowledged, read and named, behind a thousand others', async () => {
      const { river, first } = await opened()
      await crowd(river, 'busy')
      await crowd(river, 'old')
      const tools = river.tools()
      const roster = await tools.getRoster(caller(), { chatId: first?.chatId ?? '' })
      expect(roster.text).toContain('anna')
      const file = await tools.downloadAttachment(caller(), { fileId: 'f1' })
      expect(file.text).not.toContain('came with no message')
      const pending = await tools.pendingMessages(caller())
      expect(pending.structured).toMatchObject({ more: true })
      expect(pending.text).toMatch(/the oldest 200; more wait: .*ask again/)
      const reply = await outcomeOf(
        river,
        tools.reply(caller(), { chatId: first?.chatId ?? '', text: 'here' }),
      )
      expect(reply.isError).toBe(false)
      expect((await river.store().turn(first?.turn ?? ''))?.state).toBe('answered')
      const last = await tools.ack(caller(), { messageId: 'noisebusy0' })
      expect(last.isError).toBe(false)
    })

    it('[I14.looked-all] an old message of one’s own is edited, however many were sent since', async () => {
      const { river, first } = await opened()
      const chatId = first?.chatId ?? ''
      const who = caller({ turn: first?.turn ?? null, session: first?.session ?? null })
      const own = await outcomeOf(river, river.tools().reply(who, { chatId, text: 'mine' }))
      const [id] = own.structured.platform_ids as string[]
      const to = { integration: 'chat', conversation: 'old' }
      const about = { platform: 'test', cause: 'reply', agent: 'demo', session: null, turn: null } as const
      await river.store().enqueue(
        Array.from({ length: MANY }, (_, n) => ({
          to,
          op: { kind: 'text', text: `${n}` } as const,
          ...about,
        })),
      )
      await river.pass(1_000)
      const edit = { chatId, messageId: id ?? '', text: 'changed' }
      expect((await outcomeOf(river, river.tools().editMessage(who, edit))).isError).toBe(false)
    })
  },
  ['sqlite'],
)
