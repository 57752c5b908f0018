// Parsing Telegram's updates into events.
import { describe, expect, it } from 'vitest'
import { safeFileName } from '../../kit/index.ts'
import { gatherAlbums } from './albums.ts'
import { recorded } from './fixtures/telegram-scene.ts'
import { type Parsed, parseUpdate, type Self } from './parse.ts'

const SELF: Self = { id: 7_000_000_001, username: 'switchboard_bot' }
const read = (update: unknown) => parseUpdate(update, SELF, 1)
const event = (name: string) => read(recorded(name))?.event

describe('[S7.real-payloads] messages', () => {
  it('a direct message', () => {
    expect(event('private-message')).toEqual({
      kind: 'message',
      conversation: '412587349',
      chat: 'direct',
      sender: { id: '412587349', name: 'Kate Lund' },
      at: 1_767_623_415_000,
      messageId: '31',
      text: 'hello there',
      mentioned: true,
      meta: { username: 'katelund' },
    })
  })

  it('[S7.mentions] by name in any case behind wide characters, without a name, by reply; not by another name', () => {
    expect(event('group-mention')).toMatchObject({ chat: 'group', mentioned: true })
    expect(event('group-text-mention')).toMatchObject({ mentioned: true })
    expect(event('group-reply-to-bot')).toMatchObject({ mentioned: true })
    expect(event('group-unmentioned')).toMatchObject({ mentioned: false })
  })

  it('[S7.mentions] in a caption, too', () => {
    const update = recorded<{ message: Record<string, unknown> }>('group-mention')
    const { text, entities, ...rest } = update.message
    const message = { ...rest, caption: text, caption_entities: entities, photo: [] }
    expect(read({ ...update, message })?.event).toMatchObject({ mentioned: true, text })
  })

  it('[S7.threads] a reply with what it quotes is no thread of its own', () => {
    const reply = event('group-reply-to-bot')
    expect(reply).toMatchObject({ replyTo: { messageId: '500', text: 'main', sender: 'Switchboard' } })
    expect(reply).not.toHaveProperty('thread')
  })

  it('[S7.telegram-topics] [S7.threads] a topic is a thread, and its opening message is no quote', () => {
    const topic = event('topic-message')
    expect(topic).toMatchObject({ thread: '42', conversation: '-1009876543210', mentioned: true })
    expect(topic).not.toHaveProperty('replyTo')
    expect(topic).toMatchObject({ text: '/status' })
  })

  it('[I14.command-own-name] our own name behind a command is taken off, another bot’s is not', () => {
    const update = recorded<{ message: Record<string, unknown> }>('group-mention')
    const said = (text: string) => {
      const entities = [{ type: 'bot_command', offset: 0, length: text.length }]
      return read({ ...update, message: { ...update.message, text, entities } })?.event
    }
    expect(said('/stop@Switchboard_bot')).toMatchObject({ text: '/stop', mentioned: true })
    expect(said('/stop@some_other_bot')).toMatchObject({ text: '/stop@some_other_bot', mentioned: false })
    expect(said('/stop@not_switchboard_bot')).toMatchObject({ text: '/stop@not_switchboard_bot' })
  })

  it('an edit counts as another version, also twice in a second', () => {
    const update = recorded<{ update_id: number }>('edited-message')
    const again = { ...update, update_id: update.update_id + 1 }
    const [first, second] = [read(update)?.event, read(again)?.event]
    expect(first).toMatchObject({ kind: 'edit', messageId: '31', text: 'hello there, edited' })
    const version = (of: unknown) => (of as { editVersion: number }).editVersion
    expect(version(second)).toBeGreaterThan(version(first))
    expect(version(read(update)?.event)).toBe(version(first))
    const muchLater = { ...update, update_id: update.update_id + 1000 }
    expect(version(read(muchLater)?.event)).not.toBe(version(first))
  })
})

describe('[S7.attachments-after-gate] attachments are references', () => {
  it('the largest of a photo, once for a whole album with its caption', () => {
    const parsed = recorded<unknown[]>('album').map(read) as Parsed[]
    const gathered = gatherAlbums([...parsed, ...parsed.slice(1)])
    expect(gathered).toHaveLength(1)
    expect(gathered[0]?.event).toMatchObject({
      messageId: '40',
      text: 'Look at these',
      attachments: [{ id: 'AQADx0' }, { id: 'AQADx1' }, { id: 'AQADx2', kind: 'image', mime: 'image/jpeg' }],
    })
  })

  it('names lose what could act', () => {
    expect(event('document')).toMatchObject({
      text: '(document: _passwd__txt.pdf)',
      attachments: [
        { kind: 'file', name: '_passwd__txt.pdf', mime: 'application/pdf', ref: 'BQACAgIAAxkBAAIBdoc' },
      ],
    })
    expect(safeFileName('..')).toBe('file')
    expect(safeFileName('.env')).toBe('env')
    expect(safeFileName(`${'a'.repeat(300)}.pdf`)).toMatch(/^a+\.pdf$/)
    expect(safeFileName('C:\\temp\\x.txt')).toBe('x.txt')
  })

  it('what has no words says what it is', () => {
    expect(event('voice')).toMatchObject({ text: '(voice message)', attachments: [{ kind: 'audio' }] })
    expect(event('location')).toMatchObject({ text: '(location: 59.913869, 10.752245)' })
  })
})

describe('taps and reactions', () => {
  it('[S7.telegram-buttons] a tap names its message and value', () => {
    expect(read(recorded('callback-query'))).toMatchObject({
      callbackId: '1772048904221346825',
      event: { kind: 'tap', on: '61', value: 'allow:abcde', sender: { id: '412587349' }, chat: 'direct' },
    })
  })

  it('a reaction that was taken away is nothing', () => {
    expect(event('message-reaction')).toMatchObject({ kind: 'reaction', on: '61', emoji: '👍' })
    const gone = recorded<{ message_reaction: object }>('message-reaction')
    expect(
      read({ ...gone, message_reaction: { ...gone.message_reaction, new_reaction: [], old_reaction: [] } }),
    ).toBeNull()
  })
})

describe('what is left out, and what is told', () => {
  it('[S7.ignore-own] own messages, channel posts and what nobody said', () => {
    expect(read(recorded('channel-post'))).toBeNull()
    expect(read(recorded('new-member'))).toBeNull()
    const own = recorded<{ message: object }>('private-message')
    expect(read({ ...own, message: { ...own.message, from: { id: SELF.id, is_bot: true } } })).toBeNull()
    expect(read({ update_id: 1, my_chat_member: {} })).toBeNull()
  })

  it('[S7.ignore-own] another bot is marked, an anonymous admin is the group itself', () => {
    expect(event('other-bot')).toMatchObject({ sender: { id: '99', isBot: true } })
    expect(event('anonymous-admin')).toMatchObject({ sender: { id: '-1001234567890', name: 'Ops' } })
    expect(event('anonymous-admin')?.sender.isBot).toBeUndefined()
  })

  it.each([
    null,
    42,
    {},
    { update_id: 'x' },
    { update_id: 1, message: { message_id: 'x', chat: { id: 1 } } },
    {
      update_id: 1,
      message: { message_id: 1, chat: { id: -1, type: 'group' }, from: {}, date: 1, text: 'x' },
    },
    { update_id: 1, message: { message_id: 1, chat: { id: -1, type: 'group' }, date: 1, text: 'x' } },
    { update_id: 1, message: { message_id: 1, chat: { id: 1, type: 'private' }, date: 1, text: 5 } },
    { update_id: 1, callback_query: { id: '1', data: 'x', message: {}, from: { id: 1 } } },
    { update_id: 1, message_reaction: { chat: { id: 1 }, message_id: 1 } },
  ])('[S16.unparsable] %j is an event that says what is wrong', (update) => {
    const found = read(update)?.event
    expect(found).toMatchObject({ kind: 'unparsable', sender: { id: 'unknown' } })
    const id = (update as { update_id?: unknown } | null)?.update_id
    expect(found?.messageId).toBe(typeof id === 'number' ? `update:${id}` : undefined)
  })

  it('a button of an inline message, or one without a value, is not ours', () => {
    const query = recorded<{ callback_query: Record<string, unknown> }>('callback-query')
    expect(read(query)?.event).toMatchObject({ kind: 'tap' })
    for (const part of ['message', 'data'])
      expect(read({ ...query, callback_query: { ...query.callback_query, [part]: undefined } })).toBeNull()
  })

  it('a direct message that says little is still one: the chat names the person', () => {
    const little = { update_id: 1, message: { message_id: 1, chat: { id: 5 }, text: 'x' } }
    expect(read(little)?.event).toMatchObject({ chat: 'direct', sender: { id: '5' }, at: 1 })
  })

  it('U+0000 does not get through', () => {
    const update = recorded<{ message: object }>('private-message')
    expect(read({ ...update, message: { ...update.message, text: 'a\0b' } })?.event).toMatchObject({
      text: 'a\uFFFDb',
    })
  })
})
