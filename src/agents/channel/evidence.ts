// What a host holds, and what its tool calls prove. A host confirms nothing by itself: that it acts on a message is the only
// evidence. A turn at a host is in one of four phases:
//   brought   the host named it when it attached; the dispatcher has not offered it here yet
//   open      written to the host, or taken up from it: the dispatcher counts it as in flight
//   acked     the host said that it will not answer at once: nobody waits for it, and a later reply still counts
//             One-way turns come here as soon as a later call of the host shows that it works: no answer is waited for.
//   elsewhere another host answered it: a reply from here is refused
//     brought ──offered or taken up──▶ open ──ack──▶ acked          open, acked ──reply──▶ forgotten
//     any ──another host's reply──▶ elsewhere ──a late reply──▶ forgotten
// `seen` says that there is evidence, whatever the phase; `fetched`, that the host may know it from `pending_messages` or
// `fetch_messages` alone, so that naming it does not prove that the host listens.
import type { Delivery, HeldTurn } from '../../contract/index.ts'
import type { FileMeta } from './first-file.ts'
import type { HeldTurns } from './held-turns.ts'
import type { Line } from './hosts.ts'

/** A turn that was handed to one host. What is read-only here is changed by the book that holds it. */
export interface Held extends HeldTurn {
  readonly phase: 'brought' | 'open' | 'acked' | 'elsewhere'
  readonly seen: boolean
  readonly fetched: boolean
  /** Of a brought one: giving it back was counted as an attempt. */
  readonly counted: boolean
  /** A reply to it is on its way: another one that names only the chat is about the next. */
  answering: boolean
  /** What its files are called. None are known of a turn that was handed over before the daemon ended. */
  files: readonly string[]
  /** Down which lines of the host it went, the last one last. */
  readonly lines: Line[]
  /** Nothing can be answered there. */
  oneWay: boolean
  /** When it was last written, or taken up. */
  writtenAt: number
  /** The last line told that the host's pipe took it. */
  confirmed: boolean
  /** To write it elsewhere; kept only as long as nobody has seen it. */
  delivery: Delivery | null
  file: FileMeta
}

/** Nothing shows that the host knows of it. */
export const isUnseen = (one: Held): boolean => one.phase === 'open' && !one.seen

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
export function provedBy(held: HeldTurns, { chatId, messages, file }: Named): Held | null {
  if (messages.length > 0) {
    const named = held.named(messages).filter((one) => chatId === null || one.chatId === chatId)
    // Message ids are unique per chat only: without a chat the first that was not seen yet is meant.
    return named.find((one) => !one.seen) ?? named[0] ?? null
  }
  // The newest with that file: it is the one that is fetched.
  const here = chatId === null ? held : held.inChat(chatId)
  const sent = file === null ? undefined : [...here].findLast((one) => one.files.includes(file))
  if (sent) return sent
  if (chatId === null) return null
  // One in flight before one that is not: of that, nobody knows whether it is still open.
  let unacked: Held | null = null
  let acked: Held | null = null
  for (const one of here) {
    if (one.answering) continue
    if (one.phase === 'open') return one
    if (one.phase === 'acked') acked ??= one
    else unacked ??= one
  }
  return unacked ?? acked
}

export function filesOf({ attachments }: Delivery): readonly string[] {
  return attachments.flatMap(({ id, ref }) => [id, ref]).filter((name) => name !== '')
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
