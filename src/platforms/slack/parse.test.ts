// Slack's events as inbound events, from recorded payloads.
import { describe, expect, it } from 'vitest'
import { recorded } from './fixtures/slack-scene.ts'
import { parseCommand, parseInteraction } from './interactions.ts'
import { type ParseContext, parseEvent } from './parse.ts'

const SELF = {
  userId: 'U0SWBBOT1',
  botId: 'B0SWBBOT1',
  teamId: 'T0SWBTEAM',
  name: 'switchboard',
  team: 'x',
  scopes: null,
}
const CONTEXT: ParseContext = { self: SELF, replyToMode: 'first', nameOf: () => undefined, now: 1 }
const event = (name: string) => recorded<{ event: Record<string, unknown> }>(name).event
const parse = (name: string, context = CONTEXT) => parseEvent(event(name), context)

describe('messages', () => {
  it('[I15.one-turn] app_mention and message of one text are the same event, but for nothing', () => {
    const { meta: _a, ...message } = parse('channel-mention') as unknown as Record<string, unknown>
    const { meta: _b, ...mention } = parse('app-mention') as unknown as Record<string, unknown>
    expect(mention).toEqual(message)
    expect(message).toMatchObject({
      kind: 'message',
      conversation: 'C0GENERAL',
      thread: '1771000002.000200',
      chat: 'group',
      mentioned: true,
      text: 'what is up & [the page](https://example.com/a)?',
    })
  })

  it('[I15.threads-in] [S7.slack-threads] threads, by each mode; a broadcast is a reply', () => {
    const threads = (mode: ParseContext['replyToMode']) =>
      ['dm-message', 'channel-mention', 'thread-reply', 'thread-broadcast'].map((name) => {
        const parsed = parse(name, { ...CONTEXT, replyToMode: mode })
        return parsed && 'thread' in parsed ? parsed.thread : undefined
      })
    const root = '1771000002.000200'
    expect(threads('first')).toEqual([undefined, root, root, root])
    expect(threads('off')).toEqual([undefined, undefined, root, root])
    expect(threads('all')).toEqual(['1771000001.000100', root, root, root])
    expect(parse('thread-broadcast')).toMatchObject({ replyTo: { messageId: root } })
  })

  it('[I15.mention-only] a reply in a thread mentions nobody unless it says so', () => {
    const quiet = { ...event('thread-reply'), text: 'just talking', blocks: [] }
    expect(parseEvent(quiet, CONTEXT)).toMatchObject({ mentioned: false })
    const inBlocks = {
      ...quiet,
      blocks: [{ elements: [{ elements: [{ type: 'user', user_id: SELF.userId }] }] }],
    }
    expect(parseEvent(inBlocks, CONTEXT)).toMatchObject({ mentioned: true })
  })

  it('[I15.edits-in] an edit is one by its own time; previews, own updates and equal texts are none', () => {
    expect(parse('message-changed')).toMatchObject({
      kind: 'edit',
      messageId: '1771000001.000100',
      editVersion: 1_771_000_007_000_000,
      text: 'hello there, again',
    })
    const changed = event('message-changed') as { message: object; previous_message: object }
    expect(
      parseEvent(
        { ...changed, message: { ...changed.previous_message, attachments: [{ title: 'a preview' }] } },
        CONTEXT,
      ),
    ).toBeNull()
    expect(parseEvent({ ...changed, message: { ...changed.message, user: SELF.userId } }, CONTEXT)).toBeNull()
  })

  it('[I15.deletes-in] a deletion names its message and its author; a tombstone is one too', () => {
    const gone = {
      kind: 'delete',
      conversation: 'D0KATE001',
      messageId: '1771000001.000100',
      sender: { id: 'U0KATE001' },
    }
    expect(parse('message-deleted')).toMatchObject(gone)
    const changed = event('message-changed') as { message: object; previous_message: object }
    const message = { ...changed.message, subtype: 'tombstone' }
    expect(parseEvent({ ...changed, message }, CONTEXT)).toMatchObject(gone)
    // The former text, or the rest of it, names the writer.
    const left = { ...changed, message, previous_message: undefined }
    expect(parseEvent(left, CONTEXT)).toMatchObject(gone)
  })

  it('[I15.self] own posts, Slack’s own and joins are nothing; other bots say that they are', () => {
    const said = event('dm-message')
    expect(parseEvent({ ...said, user: SELF.userId }, CONTEXT)).toBeNull()
    expect(parseEvent({ ...said, user: undefined, bot_id: SELF.botId }, CONTEXT)).toBeNull()
    expect(parseEvent({ ...said, user: 'USLACKBOT' }, CONTEXT)).toBeNull()
    expect(parse('channel-join')).toBeNull()
    expect(parse('bot-message')).toMatchObject({ sender: { id: 'B0CIBOT001', name: 'ci', isBot: true } })
  })

  it('[I15.shared] people of other workspaces keep their ids and the names that came along', () => {
    const foreign = {
      ...event('dm-message'),
      user: 'W0FAR0001',
      user_team: 'T0FAR0001',
      user_profile: { display_name: 'Far <!channel> Away' },
    }
    expect(parseEvent(foreign, CONTEXT)).toMatchObject({
      sender: { id: 'W0FAR0001', name: 'Far !channel Away' },
      meta: { user_team: 'T0FAR0001' },
    })
  })

  it('[I15.long-texts] files are references, forwards bring their text, and 40,000 characters and 100 blocks are read', () => {
    expect(parse('file-share')).toMatchObject({
      text: 'see this',
      attachments: [{ id: 'F0FILE0001', kind: 'file', name: 'plan.pdf', mime: 'application/pdf', size: 11 }],
    })
    expect(parse('forwarded')).toMatchObject({ text: '(forwarded from Anna) the numbers are in' })
    const long = {
      ...event('dm-message'),
      text: '<'.repeat(40_000),
      blocks: Array.from({ length: 100 }, () => ({ type: 'divider' })),
    }
    expect((parseEvent(long, CONTEXT) as { text: string }).text).toHaveLength(40_000)
  })

  it('[I15.safe-names] names of people are shown, and none of them can write markup', () => {
    const loud = { display_name: '<!channel> *b*\u202e`c`\n&amp;' }
    expect(parseEvent({ ...event('dm-message'), user_profile: loud }, CONTEXT)).toMatchObject({
      sender: { name: '!channel bcamp;' },
    })
    const said = {
      ...event('dm-message'),
      text: 'ask <@U0ANNA001> in <#C0GENERAL|general> &lt;now&gt; <!here>',
    }
    const named = { ...CONTEXT, nameOf: () => 'anna' }
    expect(parseEvent(said, named)).toMatchObject({ text: 'ask @anna in #general <now> @here' })
  })
})

describe('interactions', () => {
  it('[I15.commands-in] a slash command is what its sender says; words for Switchboard are commands', () => {
    const fields = recorded('slash-command')
    expect(parseCommand(fields, CONTEXT)).toMatchObject({
      kind: 'message',
      text: 'what is new?',
      conversation: 'D0KATE001',
      sender: { id: 'U0KATE001' },
      mentioned: true,
    })
    expect(parseCommand({ ...fields, text: 'Status' }, CONTEXT)).toMatchObject({ text: '!status' })
    expect(parseCommand({ ...fields, text: '' }, CONTEXT)).toMatchObject({ text: '!help' })
    expect(parseCommand({}, CONTEXT)).toMatchObject({ kind: 'unparsable' })
  })

  it('[I15.commands-in] a shortcut hands a message over, in its thread', () => {
    const message = { ...event('channel-mention'), user: 'U0ANNA001' }
    const payload = {
      type: 'message_action',
      user: { id: 'U0KATE001' },
      channel: { id: 'C0GENERAL' },
      message,
      action_ts: '1771000030.000100',
    }
    expect(parseInteraction(payload, CONTEXT)).toMatchObject({
      kind: 'message',
      sender: { id: 'U0KATE001' },
      thread: '1771000002.000200',
      replyTo: { messageId: '1771000002.000200' },
    })
    // A forwarded text of another person is no command and no verdict of the person who forwards it.
    for (const text of ['!stop', 'yes abcde', 'y']) {
      const handed = parseInteraction({ ...payload, message: { ...message, text } }, CONTEXT)
      expect(handed).toMatchObject({ text: `U0ANNA001 wrote:\n${text}`, replyTo: { text } })
    }
  })
})
