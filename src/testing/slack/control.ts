// The emulator's own HTTP endpoints, beside those of Slack. They are a page, POST /_person to act as a person,
// GET /_channel/ID to see a channel as people see it, GET and POST /_link to list or disturb the connections,
// POST /_events to change how events arrive, and POST /_faults to set a fault plan.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, SwitchboardError } from '../../contract/index.ts'
import { controlPage } from '../control-page.ts'
import { openControlServers } from '../control-server.ts'
import type { FakeSlack } from './fake-slack.ts'
import { buttonsOf, shownText } from './person.ts'
import type { DisconnectReason } from './socket-mode.ts'
import { GENERAL_ID, KATE_ID } from './world.ts'

const PAGE = controlPage({
  platform: 'Slack',
  places: [
    { id: KATE_ID, name: 'the direct chat with the bot' },
    { id: GENERAL_ID, name: '#general (write @switchboard)', isChannel: true },
  ],
  path: '/_channel/',
  answers: 'thread',
})

/** What a person does, as the body of POST /_person. It has one of text, tap, react, edit, delete, file, command. */
export interface SlackPersonAction {
  /** The id of a channel. If absent, it is the direct chat with the bot. */
  readonly channel?: string
  readonly from?: string
  readonly name?: string
  readonly team?: string
  readonly text?: string
  readonly thread?: string
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
}

/** What happens to the connections, as the body of POST /_link. */
interface LinkAction {
  readonly disconnect?: DisconnectReason
  readonly deaf?: boolean
  readonly ghost?: boolean
  readonly freeze?: true
}

/** Answers a request to the emulator's own endpoints. Returns false for any other request. */
export function slackControlServer(
  request: IncomingMessage,
  response: ServerResponse,
  fake: FakeSlack,
): boolean {
  return openControlServers(request, response, {
    page: PAGE,
    fake,
    look: { path: '/_channel/', at: (id) => transcript(fake, id) },
    routes: {
      'GET /_link': () => ({
        open: fake.socket.open(),
        made: fake.socket.made(),
        most_open: fake.socket.mostOpen(),
      }),
      'POST /_link': (said) => troubleLinks(fake, said as LinkAction),
      'POST /_person': (said) => act(fake, said as SlackPersonAction),
      async 'POST /_events'(said) {
        const { url, signing_secret } = said as { readonly url?: string; readonly signing_secret?: string }
        await fake.http.use({ url: String(url), signingSecret: signing_secret ?? fake.signingSecret })
        return { ok: true }
      },
    },
  })
}

function troubleLinks(fake: FakeSlack, { disconnect, deaf, ghost, freeze }: LinkAction): object {
  if (disconnect !== undefined) fake.socket.disconnect(disconnect)
  if (deaf !== undefined) fake.socket.deafen(deaf)
  if (ghost === true) fake.socket.addGhost()
  if (ghost === false) fake.socket.removeGhosts()
  if (freeze) fake.socket.freeze()
  return { ok: true }
}

function act(fake: FakeSlack, action: SlackPersonAction): object {
  const { channel, from, name, team, thread } = action
  const person = fake.person(defined({ id: from, name, channel, team }))
  if (action.tap !== undefined) return { ok: true, envelope_id: person.taps(action.tap) }
  if (action.command)
    return { ok: true, envelope_id: person.commands(action.command.name, action.command.text) }
  if (action.react) person.reacts(action.react.on, action.react.emoji)
  else if (action.delete !== undefined) person.deletes(action.delete)
  else if (action.edit) return { ok: true, ts: person.edits(action.edit.on, action.edit.text).ts }
  else if (action.file) return { ok: true, ts: person.sendsFile(action.file).ts }
  else if (typeof action.text === 'string' && action.text !== '')
    return { ok: true, ts: person.says(action.text, defined({ thread })).ts }
  else
    throw new SwitchboardError('input_invalid', 'give one of text, tap, react, edit, delete, file or command')
  return { ok: true }
}

function transcript(fake: FakeSlack, id: string): object {
  const { world } = fake
  const channel = id === KATE_ID ? world.direct(id) : world.channel(id)
  if (!channel) throw new SwitchboardError('not_found', `there is no channel ${id}`)
  const messages = world.messages(channel.id).map((message) => ({
    ts: message.ts,
    from: world.user(message.user ?? '')?.name ?? message.user ?? '',
    from_bot: message.user === world.bot.id,
    text: shownText(message),
    buttons: buttonsOf(message).map((button) => button.text?.text ?? ''),
    ...defined({ thread: message.thread_ts === message.ts ? undefined : message.thread_ts }),
    ...(message.reactions?.length ? { reactions: message.reactions.map((one) => one.name) } : {}),
    ...(message.edited ? { edited: true } : {}),
  }))
  const notes = world.ephemerals.filter((one) => one.channel === channel.id)
  const status = world.statuses.findLast((one) => one.channel === channel.id)?.status ?? ''
  return { channel: { id: channel.id, name: channel.name }, messages, notes, status }
}
