// The target, thread and text of a message among the arguments of a foreign tool.
import { describe, expect, it } from 'vitest'
import { defined } from '../../contract/index.ts'
import { outboundArguments } from './outbound-arguments.ts'

const tool = (...names: readonly string[]) => ({ name: 'send', arguments: names.length === 0 ? null : names })
const said = (conversation: string, thread?: string) => ({
  text: 'hi',
  place: { conversation, ...defined({ thread }) },
})

describe('by the schema of the tool', () => {
  it.each([
    ['chat.postMessage wants channel', 'channel_id=C1', ['channel', 'text'], { channel: 'C1', text: 'hi' }],
    [
      'the place’s own key where the tool has it',
      'chat_id=7',
      ['to', 'chat_id', 'text'],
      { chat_id: '7', text: 'hi' },
    ],
    ['a target that never spoke', 'target=C1', ['text', 'room_id'], { room_id: 'C1', text: 'hi' }],
    ['the first that it has', 'target=C1', ['target', 'to', 'channel_id'], { channel_id: 'C1', text: 'hi' }],
    ['another name for the text', 'chat_id=7', ['chat_id', 'content'], { chat_id: '7', content: 'hi' }],
    ['the whole server', 'all', ['text'], { text: 'hi' }],
    ['a schema that says nothing', 'chat_id=7', [], { chat_id: '7', text: 'hi' }],
    ['a value with = in it', 'chat_id=a=b', ['chat_id', 'text'], { chat_id: 'a=b', text: 'hi' }],
  ])('[I14.server-arguments] %s', (_what, conversation, names, input) => {
    expect(outboundArguments(said(conversation), tool(...names), null)).toEqual(input)
  })

  it.each([
    ['target=C1', ['text']],
    ['channel_id=C1', ['text', 'recipient']],
    ['target=C1', []],
  ])('[I14.server-no-target] refuses %s for a tool with %j', (conversation, names) => {
    expect(() => outboundArguments(said(conversation), tool(...names), null)).toThrow(
      /no argument that can name "C1"/,
    )
  })

  it('[I14.server-arguments] names a thread as the tool does, and refuses one that was asked for and cannot be named', () => {
    const into = (thread: string, ...names: readonly string[]) =>
      outboundArguments(said('chat_id=7', thread), tool('chat_id', 'text', ...names), null)
    expect(into('thread_id=9', 'thread_ts')).toMatchObject({ thread_ts: '9' })
    expect(into('thread_id=9')).toMatchObject({ thread_id: '9' })
    expect(into('thread=9', 'message_thread_id')).toMatchObject({ message_thread_id: '9' })
    expect(() => into('thread=9')).toThrow('no argument that can name "9"')
  })
})

describe('by the configuration', () => {
  const mapped = { channel: 'target', text: 'body', thread_ts: 'thread' } as const

  it('[I14.server-mapped] fills the arguments as they are mapped, whatever the schema says', () => {
    expect(outboundArguments(said('chat_id=C1'), tool('x'), mapped)).toEqual({ channel: 'C1', text: 'hi' })
    expect(outboundArguments(said('chat_id=C1', 'thread_id=9'), tool('x'), mapped)).toEqual({
      channel: 'C1',
      text: 'hi',
      thread_ts: '9',
    })
    expect(outboundArguments(said('all'), tool('x'), { body: 'body' })).toEqual({ body: 'hi' })
    expect(outboundArguments(said('all'), tool('x'), { to: 'target' })).toEqual({ text: 'hi' })
  })

  it('[I14.server-no-target] refuses a target or thread that nothing is mapped to', () => {
    expect(() => outboundArguments(said('chat_id=C1'), tool('chat_id'), { text: 'body' })).toThrow(
      'can name "C1"',
    )
    expect(() =>
      outboundArguments(said('chat_id=C1', 'thread=9'), tool(), { to: 'target', text: 'body' }),
    ).toThrow('can name "9"')
  })
})
