// What a host's tool call proves. A host confirms nothing by itself: that it acts on a message is the only evidence.
import type { Delivery, HeldTurn } from '../../contract/index.ts'

/** A turn that was handed to one host, in the order of handing. */
export interface Held extends HeldTurn {
  /** What its files are called. None are known of a turn that was handed over before the daemon ended. */
  files: readonly string[]
  seen: boolean
  /** It was acknowledged, so nobody waits for it any more. It may still be answered. */
  acked: boolean
  /** A reply to it is on its way: another one that names only the chat is about the next. */
  answering: boolean
  /** It was given back, and that hand-over was counted as an attempt. */
  counted: boolean
  /** The dispatcher counts it as in flight now. */
  flying: boolean
  /** It had moved to another host meanwhile, and was answered there. */
  elsewhere: boolean
  /** Ends the wait for the host to take it. */
  letGo?: () => void
}

export interface Named {
  readonly chatId: string | null
  readonly messages: readonly string[]
  /** A file that came with a message. */
  readonly file: string | null
}

/** The chat, the messages and the file that a call names, by the names that tools have for them. */
export function namedBy(tool: string, input: unknown): Named {
  if (typeof input !== 'object' || input === null) return { chatId: null, messages: [], file: null }
  const given = input as Readonly<Record<string, unknown>>
  const channel = tool === 'fetch_messages' ? wordOf(given.channel) : null
  return {
    chatId: channel ?? wordOf(given.chat_id),
    messages: [wordOf(given.message_id), wordOf(given.reply_to)].filter((one) => one !== null),
    file: tool === 'download_attachment' ? wordOf(given.file_id) : null,
  }
}

/**
 * The turn that the call proves. A named message, or a file of it, proves its own turn; the chat alone proves the oldest
 * one open there, one that was acknowledged only when there is no other: what came since is what is being answered. A
 * message that is none of the open ones (an older one, or one of the agent's own) proves nothing.
 */
export function provedBy(held: readonly Held[], { chatId, messages, file }: Named): Held | null {
  const here = chatId === null ? held : held.filter((one) => one.chatId === chatId)
  if (messages.length > 0) {
    const named = here.filter((one) => messages.includes(one.messageId) || messages.includes(one.turn))
    // Message ids are unique per chat only: without a chat the first that was not seen yet is meant.
    return named.find((one) => !one.seen) ?? named[0] ?? null
  }
  // The newest with that file: it is the one that is fetched.
  const sent = file === null ? undefined : here.findLast((one) => one.files.includes(file))
  if (sent) return sent
  // One in flight before one that is not: of that, nobody knows whether it is still open.
  const open = here.filter((one) => !one.answering)
  const unacked = open.find((one) => one.flying && !one.acked) ?? open.find((one) => !one.acked)
  return chatId === null ? null : (unacked ?? open[0] ?? null)
}

/** Evidence for a later message covers the earlier ones handed to the same host. */
export function coveredBy(held: readonly Held[], proved: Held): readonly Held[] {
  return held.slice(0, held.indexOf(proved) + 1).filter((one) => !one.seen)
}

/** An answer covers what the same chat said before it to the same host. */
export function answeredWith(held: readonly Held[], proved: Held): readonly Held[] {
  return held.slice(0, held.indexOf(proved)).filter((one) => one.chatId === proved.chatId)
}

export function filesOf({ attachments }: Delivery): readonly string[] {
  return attachments.flatMap(({ id, ref }) => [id, ref]).filter((name) => name !== '')
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
