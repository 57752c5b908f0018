// The turns that a host holds, and what its tool calls prove. A host confirms nothing by itself. Only a call that acts
// on a message is evidence. A turn at a host is in one of four phases:
//   brought   the host named it when it attached; the dispatcher has not offered it here yet
//   open      written to the host, or taken up from it; the dispatcher counts it as in flight
//   acked     the host will not answer at once; no answer is waited for, and a later reply still counts.
//             One-way turns enter this phase as soon as a later call shows that the host works.
//   elsewhere another host answered it; a reply from this host is refused
//     brought ──offered or taken up──▶ open ──ack──▶ acked          open, acked ──reply──▶ forgotten
//     any ──another host's reply──▶ elsewhere ──a late reply──▶ forgotten
// `seen`: there is evidence, in any phase. `fetched`: the host may know the turn only from `pending_messages` or
// `fetch_messages`, so a call that names it does not prove that the host hears pushed events.
import type { Delivery, HeldTurn } from '../../contract/index.ts'
import type { FileMeta } from './first-file.ts'
import type { HeldTurns } from './held-turns.ts'
import type { Line } from './hosts.ts'

/** A turn that was handed to one host. Only `HeldTurns.change` changes the read-only fields. */
export interface Held extends HeldTurn {
  readonly phase: 'brought' | 'open' | 'acked' | 'elsewhere'
  readonly seen: boolean
  readonly fetched: boolean
  /** In phase `brought`: its return to the queue was counted as an attempt. */
  readonly counted: boolean
  /** A reply to it is being sent. Another reply that names only the chat belongs to the next turn. */
  answering: boolean
  /** The names of its files. Empty for a turn that was handed over before the daemon restarted. */
  files: readonly string[]
  /** The lines of the host that it was written to, the latest last. */
  readonly lines: Line[]
  /** It cannot be answered. */
  oneWay: boolean
  /** When it was last written or taken up. */
  writtenAt: number
  /** The last line reported that the host's pipe took it. */
  confirmed: boolean
  /** Kept until the host has seen it, so that it can be written to another line or host. */
  delivery: Delivery | null
  file: FileMeta
}

/** True while there is no evidence that the host knows it. */
export const isUnseen = (one: Held): boolean => one.phase === 'open' && !one.seen

export interface Named {
  readonly chatId: string | null
  readonly messages: readonly string[]
  /** A file that came with a message. */
  readonly file: string | null
}

/** Returns the chat, the messages and the file that a call names. Each tool has its own argument names. */
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
 * Returns the turn that a call proves. A named message or file proves its own turn. A call that names only the chat
 * proves the oldest open turn there, or an acknowledged one if no turn is open. A message that belongs to no open turn
 * (an older one, or one of the agent's own) proves nothing.
 */
export function provedBy(held: HeldTurns, { chatId, messages, file }: Named): Held | null {
  if (messages.length > 0) {
    const named = held.named(messages).filter((one) => chatId === null || one.chatId === chatId)
    // Message ids are unique only within a chat. Without a chat, the first unseen turn is meant.
    return named.find((one) => !one.seen) ?? named[0] ?? null
  }
  // The newest turn with that file.
  const here = chatId === null ? held : held.inChat(chatId)
  const sent = file === null ? undefined : [...here].findLast((one) => one.files.includes(file))
  if (sent) return sent
  if (chatId === null) return null
  // Turns in flight come first: an acknowledged one may be finished already.
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
