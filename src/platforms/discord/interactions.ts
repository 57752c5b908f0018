// Turns buttons, selects, modals and slash commands into events, and answers each at once, because Discord waits three
// seconds. The result is shown after the commit.
import { defined, type InboundEvent } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Place } from './api/channel-cache.ts'
import { isSnowflake } from './api/snowflakes.ts'
import { clean, safeName } from './inbound-text.ts'
import { nameOf } from './parse.ts'

export interface Interaction {
  readonly id: string
  readonly token: string
  readonly appId: string | null
  readonly kind: 'command' | 'component' | 'autocomplete' | 'modal'
  readonly channel: string
  readonly guild: string | null
  readonly channelObject: unknown
  readonly user: { readonly id: string; readonly name?: string }
  readonly data: Readonly<Record<string, unknown>>
  /** The message with the component. */
  readonly message: string | null
}

const KINDS: Readonly<Record<number, Interaction['kind']>> = {
  2: 'command',
  3: 'component',
  4: 'autocomplete',
  5: 'modal',
}
const EPHEMERAL = 64
const ASK_MODAL = 'swb:ask'
const ASK_INPUT = 'swb:question'
/** Words for Switchboard: `/status` is `!status`. */
const COMMAND_WORDS: ReadonlySet<string> = new Set(['status', 'new', 'stop', 'help'])

/** Null: it is not for us. Throws when it cannot be read. */
export function readInteraction(given: unknown): Interaction | null {
  const value = (given ?? {}) as Readonly<Record<string, unknown>>
  const kind = KINDS[Number(value.type)]
  if (kind === undefined) return null
  const { id, token, application_id, channel_id, guild_id, member, user, data, message, channel } = value
  const person = ((member as { readonly user?: unknown } | undefined)?.user ?? user ?? {}) as Readonly<
    Record<string, unknown>
  >
  const where = channel_id ?? (channel as { readonly id?: unknown } | undefined)?.id
  if (!isSnowflake(id) || typeof token !== 'string' || !/^[\w.-]{1,400}$/.test(token))
    throw new Error('an interaction without id or token')
  if (!isSnowflake(where) || !isSnowflake(person.id)) throw new Error('an interaction of nobody or nowhere')
  const { nick } = (member ?? {}) as { readonly nick?: unknown }
  const name = safeName(nick) ?? nameOf(person)
  const on = (message as { readonly id?: unknown } | undefined)?.id
  return {
    id,
    token,
    appId: isSnowflake(application_id) ? application_id : null,
    kind,
    channel: where,
    guild: isSnowflake(guild_id) ? guild_id : null,
    channelObject: channel,
    user: { id: person.id, ...defined({ name }) },
    data: (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, unknown>>,
    message: isSnowflake(on) ? on : null,
  }
}

/** Returns the answer within three seconds, before a decision. */
export function firstAnswer(interaction: Interaction): Readonly<Record<string, unknown>> {
  const { kind } = interaction
  if (kind === 'component') return { type: 6 }
  if (kind === 'autocomplete') return { type: 8, data: { choices: [] } }
  if (kind === 'command' && isEmptyAsk(interaction)) return { type: 9, data: askModal() }
  // A question in a channel is visible to all. A command's answer is for its sender only.
  const open = kind === 'modal' || commandName(interaction) === 'ask'
  return { type: 5, data: open ? {} : { flags: EPHEMERAL } }
}

/** Whether an open answer must be closed later. */
export function leavesOpen(interaction: Interaction): boolean {
  return interaction.kind === 'modal' || (interaction.kind === 'command' && !isEmptyAsk(interaction))
}

/** Returns the question that was asked in public; null: it is a command or a button. */
export function askedText(interaction: Interaction): string | null {
  if (interaction.kind === 'modal') return modalText(interaction.data)
  if (interaction.kind !== 'command' || commandName(interaction) !== 'ask') return null
  return commandText(interaction)
}

/** Returns its event; null: it makes none (an opened list, a requested modal). */
export function eventOf(interaction: Interaction, place: Place, now: number): InboundEvent | null {
  const { id, kind, user, data } = interaction
  const base = {
    conversation: place.conversation,
    ...defined({ thread: place.thread }),
    chat: place.chat,
    sender: user,
    at: now,
  }
  if (kind === 'component') {
    const [chosen] = Array.isArray(data.values) ? (data.values as readonly unknown[]) : []
    const value = chosen ?? data.custom_id
    if (interaction.message === null || typeof value !== 'string' || value === '') return null
    return { kind: 'tap', ...base, messageId: `tap:${id}`, on: interaction.message, value: clean(value) }
  }
  if (kind === 'autocomplete') return null
  const text = kind === 'modal' ? modalText(data) : commandText(interaction)
  if (text === null) return null
  return {
    kind: 'message',
    ...base,
    messageId: `command:${id}`,
    text: clean(text),
    mentioned: true,
    meta: { command: kind === 'modal' ? 'ask' : commandName(interaction) },
  }
}

function commandName({ data }: Interaction): string {
  return typeof data.name === 'string' ? data.name.slice(0, 32) : ''
}

function optionText({ data }: Interaction): string {
  const options = Array.isArray(data.options) ? (data.options as readonly { readonly value?: unknown }[]) : []
  const value = options.find((one) => typeof one?.value === 'string')?.value
  return typeof value === 'string' ? value.trim() : ''
}

function isEmptyAsk(interaction: Interaction): boolean {
  return (
    interaction.kind === 'command' && commandName(interaction) === 'ask' && optionText(interaction) === ''
  )
}

function commandText(interaction: Interaction): string | null {
  const name = commandName(interaction)
  if (COMMAND_WORDS.has(name)) return `!${name}`
  const text = optionText(interaction)
  return text === '' ? null : text
}

/** Returns the text of a modal, in both of Discord's forms. */
function modalText({ components }: Readonly<Record<string, unknown>>): string | null {
  const rows = Array.isArray(components) ? (components as readonly Record<string, unknown>[]) : []
  const fields = rows.slice(0, 5).flatMap((row) => {
    const inner = Array.isArray(row?.components) ? row.components : [row?.component]
    return inner as readonly ({ readonly value?: unknown } | undefined)[]
  })
  const typed = fields.flatMap((field) => (typeof field?.value === 'string' ? [field.value.trim()] : []))
  const text = typed.filter((one) => one !== '').join('\n\n')
  return text === '' ? null : text
}

function askModal(): Readonly<Record<string, unknown>> {
  const words = wordsIn().platforms.discord
  const input = {
    type: 4,
    custom_id: ASK_INPUT,
    label: words.question,
    style: 2,
    required: true,
    max_length: 4_000,
  }
  return { custom_id: ASK_MODAL, title: words.ask, components: [{ type: 1, components: [input] }] }
}
