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
})
