// A hosted channel server as a place to send to: by its name, with the target in the argument that its tool has for it.
import { expect, it } from 'vitest'
import type { ToolOutcome } from '../../src/contract/index.ts'
import { approved, channels, hosting, SLACK } from './hosting.ts'
import { describeRiver, type River } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const POST_MESSAGE = { name: 'chat.postMessage', arguments: ['channel', 'text', 'thread_ts'] }
const through = (over: Parameters<typeof approved>[1] = {}) =>
  channels({ approved: [approved('slack', { outboundToolName: 'chat.postMessage', ...over })] })

const send = (
  river: River,
  input: { target: string; thread?: string; platform?: string },
): Promise<ToolOutcome> =>
  outcomeOf(river, river.tools().sendMessage(caller(), { platform: 'slack', body: 'hi', ...input }))

const called = (river: River) => river.server('slack').calls.map(({ input }) => input)

describeRiver('a hosted server as a place to send to', (open) => {
  it('[I14.server-by-name] [I14.server-arguments] is reached by its name, with the target where its tool wants it', async () => {
    const river = await open(hosting({ channels: through(), messagingAllow: ['slack:C1', 'slack:C2'] }))
    river.server('slack').up({}, [POST_MESSAGE])
    expect(await send(river, { target: 'C1' })).toMatchObject({
      isError: false,
      text: 'Message sent to slack:C1',
      structured: { ok: true, status: 'sent' },
    })
    await send(river, { target: 'C2', thread: '1.5' })
    expect(called(river)).toEqual([
      { channel: 'C1', text: 'hi' },
      { channel: 'C2', text: 'hi', thread_ts: '1.5' },
    ])
  })

  it('[I14.server-allow] allow entries name it so, at once and again at the moment of sending', async () => {
    const river = await open(
      hosting({ channels: through(), messagingAllow: ['slack:C1', 'mcp:*', 'mcp:C2'] }),
    )
    const slack = river.server('slack')
    slack.up({}, [POST_MESSAGE])
    expect(await send(river, { target: 'C2' })).toMatchObject({
      isError: true,
      structured: { code: 'input_invalid' },
    })
    // There is no platform of that name to send to: a server has its own.
    expect(await send(river, { platform: 'mcp', target: 'C2' })).toMatchObject({
      isError: true,
      text: 'No adapter registered for platform "mcp"',
    })
    slack.down()
    const waiting = await send(river, { target: 'C1' })
    expect(waiting.structured).toMatchObject({ status: 'queued' })
    await river.configure(hosting({ channels: through(), messagingAllow: ['slack:C3'] }))
    slack.up({}, [POST_MESSAGE])
    await river.pass(60_000)
    const [row] = await river.store().sends({ integration: SLACK, limit: 1 })
    expect(row).toMatchObject({ state: 'failed', reason: 'not_allowed' })
    expect(called(river)).toEqual([])
  })

  it('[I14.server-no-target] a target that its tool cannot name is refused, and never told as sent', async () => {
    const river = await open(hosting({ messagingAllow: ['slack:*'] }))
    river.server('slack').up({}, [{ name: 'send_message', arguments: ['text'] }])
    const refused = await send(river, { target: 'C1' })
    expect(refused).toMatchObject({ isError: true, structured: { ok: false, status: 'failed' } })
    expect(refused.text).toContain('no argument that can name "C1"')
    expect(called(river)).toEqual([])
  })

  it('[I14.server-mapped] outbound_arguments of the approved entry decide before the schema', async () => {
    const outboundArguments = { where: 'target', what: 'body' } as const
    const river = await open(
      hosting({ channels: through({ outboundArguments }), messagingAllow: ['slack:*'] }),
    )
    river.server('slack').up({}, [POST_MESSAGE])
    await send(river, { target: 'C1' })
    expect(called(river)).toEqual([{ where: 'C1', what: 'hi' }])
  })

  it('[I14.server-reply] a reply goes by the same mapping, and a target that spoke is that conversation', async () => {
    const river = await open(hosting({ channels: through(), messagingAllow: ['slack:C1'] }))
    const slack = river.server('slack')
    slack.up({}, [POST_MESSAGE])
    slack.says('hello', { channel_id: 'C1', thread_ts: '1.5' })
    await river.settle()
    expect(called(river)).toEqual([{ channel: 'C1', text: expect.any(String), thread_ts: '1.5' }])
    await send(river, { target: 'C1' })
    const rows = await river.store().sends({ integration: SLACK, limit: 5 })
    expect(rows.map(({ conversation }) => conversation)).toEqual(['channel_id=C1', 'channel_id=C1'])
  })

  // As the official fakechat declares it: every message is of the one page that it serves.
  const FAKECHAT = { name: 'reply', arguments: ['text', 'reply_to', 'files'] }
  const fakechat = (over: Parameters<typeof approved>[1] = {}) =>
    hosting({
      channels: through({ outboundToolName: 'reply', ...over }),
      messagingAllow: ['slack:*'],
    })
  const says = async (river: River, content: string, chat: string) => {
    river.server('slack').says(content, { chat_id: chat, user: chat })
    await river.settle()
    const delivery = river.agent.deliveries.at(-1)
    if (!delivery) throw new Error('nothing was handed over')
    return delivery
  }
  const stateOf = async (river: River, turn: string) => (await river.store().turn(turn))?.state
  const reply = (river: River, { turn, chatId }: { turn: string; chatId: string }) =>
    outcomeOf(river, river.tools().reply(caller({ turn }), { chatId, text: `to ${chatId}` }))

  it('[I35.b18] a tool without an argument for a target is sent replies while one conversation spoke, then it refuses and the turn stays open', async () => {
    const river = await open(fakechat())
    const slack = river.server('slack')
    slack.up({ prefix: 'claude' }, [FAKECHAT])
    river.agent.script = () => undefined
    const first = await says(river, 'hello', 'web')
    expect(await reply(river, first)).toMatchObject({ isError: false, structured: { status: 'sent' } })
    expect(called(river)).toEqual([{ text: expect.stringContaining('to ') }])
    expect(await stateOf(river, first.turn)).toBe('answered')

    const again = await says(river, 'again', 'web')
    const other = await says(river, 'from elsewhere', 'tv')
    for (const one of [again, other]) {
      const refused = await reply(river, one)
      expect(refused).toMatchObject({
        isError: true,
        structured: { code: 'execution_failed', outbox_id: null },
      })
      expect(refused.text).toMatch(/no argument that can name "(web|tv)".*has more than one conversation/)
      expect(['handed', 'seen']).toContain(await stateOf(river, one.turn))
    }
    expect(called(river)).toHaveLength(1)
  })

  it('[I35.b18] single_conversation of the approved entry decides in its place', async () => {
    for (const singleConversation of [true, false]) {
      const river = await open(fakechat({ singleConversation }))
      river.server('slack').up({ prefix: 'claude' }, [FAKECHAT])
      river.agent.script = () => undefined
      const one = await says(river, 'hello', 'web')
      if (singleConversation) await says(river, 'hello', 'tv')
      expect((await reply(river, one)).isError).toBe(!singleConversation)
      expect(called(river)).toHaveLength(singleConversation ? 1 : 0)
    }
  })

  it('[I35.b18] final text goes out likewise, send_message is refused, and a stranger who was refused counts as a conversation', async () => {
    const river = await open(fakechat())
    river.server('slack').up({ prefix: 'claude' }, [FAKECHAT])
    await says(river, 'hello', 'web')
    expect(called(river)).toEqual([{ text: 're: hello' }])
    const refused = await send(river, { target: 'web' })
    expect(refused).toMatchObject({
      isError: true,
      structured: { code: 'execution_failed', outbox_id: null },
    })
    expect(refused.text).toMatch(/^Adapter send failed: .*no argument that can name "web"/)

    const narrow = {
      readable: true,
      dm: 'allowlist',
      allowFrom: ['U1'],
      approvers: [],
      groups: {},
      mentionPatterns: [],
    } as const
    const guarded = await open({
      ...fakechat(),
      mcpServers: [{ name: 'slack', options: { access: narrow } }],
    })
    guarded.server('slack').up({ prefix: 'claude' }, [FAKECHAT])
    guarded.server('slack').says('let me in', { chat_id: 'tv', user_id: 'U9' })
    guarded.server('slack').says('hello', { chat_id: 'web', user_id: 'U1' })
    await guarded.settle()
    expect(called(guarded)).toEqual([])
    const [row] = await guarded.store().sends({ integration: SLACK, limit: 1 })
    expect(row).toMatchObject({ state: 'failed', reason: 'platform_rejected' })
  })
})
