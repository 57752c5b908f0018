// The emulator's own HTTP endpoints, beside those of Discord. They are a page, POST /_person to act as a person,
// GET /_channel/ID to see a channel as people see it, GET and POST /_link to list or disturb the connections, and
// POST /_faults to set a fault plan.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, SwitchboardError } from '../../contract/index.ts'
import { controlPage } from '../control-page.ts'
import { openControlServers } from '../control-server.ts'
import type { FakeDiscord } from './fake-discord.ts'
import { buttonsOf, shownText } from './person.ts'
import { GENERAL_ID, KATE_ID } from './world.ts'

const PAGE = controlPage({
  platform: 'Discord',
  places: [
    { id: KATE_ID, name: 'the direct chat with the bot' },
    { id: GENERAL_ID, name: '#general (write @switchboard)', isChannel: true },
  ],
  path: '/_channel/',
  answers: 'reply_to',
})

/**
 * What a person does, as the body of POST /_person. It has one of text, tap, react, edit, delete, file, command, modal.
 */
export interface DiscordPersonAction {
  /** The id of a channel or thread. If absent, it is the direct chat with the bot. */
  readonly channel?: string
  readonly from?: string
  readonly name?: string
  readonly nick?: string
  readonly text?: string
  readonly reply_to?: string
  readonly tap?: string
  readonly react?: { readonly on: string; readonly emoji: string }
  readonly edit?: { readonly on: string; readonly text: string }
  readonly delete?: string
  readonly file?: {
    readonly name: string
    readonly content?: string
    readonly mime?: string
    readonly text?: string
  }
  readonly command?: { readonly name: string; readonly text?: string }
  readonly modal?: { readonly id: string; readonly text: string }
  /** Opens a thread with `text`, or a post in a forum. */
  readonly thread?: string
}

/** What happens to the connections, as the body of POST /_link. */
interface LinkAction {
  readonly reconnect?: true
  readonly invalid?: 'resumable' | 'lost'
  readonly close?: number
  readonly deaf?: boolean
  readonly silent?: true
  readonly forget?: true
  readonly revoke?: boolean
  readonly kick?: true
}

/** Answers a request to the emulator's own endpoints. Returns false for any other request. */
export function discordControlServer(
  request: IncomingMessage,
  response: ServerResponse,
  fake: FakeDiscord,
): boolean {
  return openControlServers(request, response, {
    page: PAGE,
    fake,
    look: { path: '/_channel/', at: (id) => transcript(fake, id) },
    routes: {
      'GET /_link': () => ({
        open: fake.gateway.open(),
        ...fake.gateway.counts(),
        closes: fake.gateway.closes,
      }),
      'POST /_link': (said) => troubleLinks(fake, said as LinkAction),
      'POST /_person': (said) => act(fake, said as DiscordPersonAction),
    },
  })
}

function troubleLinks(fake: FakeDiscord, action: LinkAction): object {
  const { gateway } = fake
  if (action.reconnect) gateway.reconnect()
  if (action.invalid !== undefined) gateway.invalidate(action.invalid === 'resumable')
  if (action.forget) gateway.forgetSessions()
  if (typeof action.close === 'number') gateway.close(action.close)
  if (action.deaf !== undefined) gateway.deafen(action.deaf)
  if (action.silent) gateway.silence()
  if (action.revoke !== undefined) fake.revoke(action.revoke)
  if (action.kick) fake.kick()
  return { ok: true }
}

function act(fake: FakeDiscord, action: DiscordPersonAction): object {
  const { channel, from, name, nick, text, thread } = action
  const person = fake.person(defined({ id: from, name, nick, channel }))
  if (action.tap !== undefined) return { ok: true, interaction: person.taps(action.tap).id }
  if (action.command)
    return { ok: true, interaction: person.commands(action.command.name, action.command.text).id }
  if (action.modal) return { ok: true, interaction: person.submits(action.modal.id, action.modal.text).id }
  if (thread !== undefined) return { ok: true, channel: person.opens(thread, text ?? thread).channel.id }
  if (action.react) person.reacts(action.react.on, action.react.emoji)
  else if (action.delete !== undefined) person.deletes(action.delete)
  else if (action.edit) return { ok: true, id: person.edits(action.edit.on, action.edit.text).id }
  else if (action.file) return { ok: true, id: person.sendsFile(action.file).id }
  else if (typeof text === 'string' && text !== '')
    return { ok: true, id: person.says(text, defined({ replyTo: action.reply_to })).id }
  else
    throw new SwitchboardError(
      'input_invalid',
      'give one of text, tap, react, edit, delete, file, command, modal or thread',
    )
  return { ok: true }
}

function transcript(fake: FakeDiscord, id: string): object {
  const { world } = fake
  const channel = id === KATE_ID ? world.direct(id) : world.channel(id)
  if (!channel) throw new SwitchboardError('not_found', `there is no channel ${id}`)
  const messages = world.messages(channel.id).map((message) => ({
    id: message.id,
    from: message.author.global_name ?? message.author.username,
    from_bot: message.author.id === world.bot.id,
    text: shownText(message),
    buttons: buttonsOf(message).map(({ label }) => label ?? ''),
    ...(message.reactions?.length ? { reactions: message.reactions.map(({ emoji }) => emoji) } : {}),
    ...(message.edited_timestamp === null ? {} : { edited: true }),
    ...(world.channel(message.id) && message.id !== channel.id ? { thread: message.id } : {}),
  }))
  const notes = world.ephemerals.filter((one) => one.channel === channel.id)
  const threads = world.channels().filter(({ parent_id }) => parent_id === channel.id)
  return {
    channel: { id: channel.id, name: channel.name },
    messages,
    notes,
    threads: threads.map((one) => ({ id: one.id, name: one.name })),
  }
}
