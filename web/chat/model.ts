// The chat as plain data with pure changes. Everything is reconciled by id, so an entry that comes twice (a replay,
// another window, a retried send) is one entry.
import { words } from './words.ts'

export interface Choice {
  readonly label: string
  readonly value: string
}

export interface FileRef {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly mime: string
  readonly size: number
}

export interface Entry {
  readonly id: string
  readonly dir: 'in' | 'out'
  readonly at: number
  readonly kind: 'text' | 'prompt' | 'edit' | 'file'
  readonly text: string
  /** Shown as it is written, not as Markdown. */
  readonly plain?: true
  readonly state?: string
  readonly reason?: string
  readonly reasonText?: string
  readonly choices?: readonly Choice[]
  readonly approval?: string
  readonly ask?: { readonly toolName: string; readonly description: string; readonly input: string }
  /** When it is denied without a decision. */
  readonly expiresAt?: number
  readonly on?: string
  readonly urgency?: string
  readonly replyTo?: string
  readonly attachments?: readonly FileRef[]
  /** Whether it is still in this browser's outbox. */
  readonly unsent?: boolean
}

export interface StateNews {
  readonly id: string
  readonly state: string
  readonly reason?: string
  readonly reasonText?: string
}

/** A button that was pressed in this window. */
export interface Tap {
  readonly value: string
  readonly phase: 'deciding' | 'told' | 'failed'
  readonly text: string
}

export interface Chat {
  readonly entries: ReadonlyMap<string, Entry>
  readonly edits: ReadonlyMap<string, Entry>
  readonly taps: ReadonlyMap<string, Tap>
}

export const EMPTY_CHAT: Chat = { entries: new Map(), edits: new Map(), taps: new Map() }

export function mergeEntries(chat: Chat, news: readonly Entry[]): Chat {
  const entries = new Map(chat.entries)
  const edits = new Map(chat.edits)
  for (const entry of news) {
    if (entry.kind === 'edit' && entry.on !== undefined) {
      const known = edits.get(entry.on)
      if (known === undefined || known.at <= entry.at) edits.set(entry.on, entry)
      continue
    }
    const known = entries.get(entry.id)
    // The gateway does not keep the text of a refused message. The window that wrote it still has it.
    const text = entry.text === '' && known !== undefined ? known.text : entry.text
    entries.set(entry.id, { ...entry, text })
  }
  return { ...chat, entries, edits }
}

export function applyStates(chat: Chat, news: readonly StateNews[]): Chat {
  const entries = new Map(chat.entries)
  for (const item of news) {
    const known = entries.get(item.id)
    if (known === undefined || known.dir !== 'in') continue
    const { reason: _reason, reasonText: _text, unsent: _unsent, ...rest } = known
    if (item.reason !== 'withdrawn') {
      entries.set(item.id, { ...rest, ...item })
      continue
    }
    // It was deleted while it waited, so its content is removed.
    const { attachments: _files, ...left } = rest
    entries.set(item.id, { ...left, ...item, text: '' })
  }
  return { ...chat, entries }
}

/** Applies the answer to a POST. The stream may be newer by then, so it counts only for an unsent entry. */
export function applyAccepted(chat: Chat, news: StateNews): Chat {
  return chat.entries.get(news.id)?.unsent === true ? applyStates(chat, [news]) : chat
}

export function setTap(chat: Chat, on: string, tap: Tap): Chat {
  return { ...chat, taps: new Map(chat.taps).set(on, tap) }
}

/** Returns the entries in reading order: by time, with the unsent ones at the end. */
export function inOrder(chat: Chat): readonly Entry[] {
  return [...chat.entries.values()].sort((a, b) => {
    const unsent = Number(a.unsent === true) - Number(b.unsent === true)
    return unsent !== 0 ? unsent : a.at - b.at
  })
}

export interface Delivery {
  readonly words: string
  /** The meaning of the mark, as a sentence. */
  readonly meaning: string
  readonly mark: 'clock' | 'one' | 'two' | 'bad'
  readonly tone: 'quiet' | 'good' | 'bad'
}

/** Returns the state of an own message in words. A reason is always included. */
export function deliveryOf(entry: Entry, online: boolean): Delivery {
  const { delivery } = words
  const quiet = (
    { word, meaning }: { readonly word: string; readonly meaning: string },
    mark: Delivery['mark'],
  ): Delivery => ({ words: word, meaning, mark, tone: 'quiet' })
  if (entry.unsent === true) return quiet(online ? delivery.sending : delivery.unsent, 'clock')
  const bad = (word: string): Delivery => {
    const told = `${word}${entry.reasonText === undefined ? '' : ` — ${entry.reasonText}`}`
    return { words: told, mark: 'bad', meaning: told, tone: 'bad' }
  }
  switch (entry.state) {
    case 'queued':
      return quiet(delivery.queued, 'clock')
    case 'handed':
      return quiet(delivery.handed, 'one')
    case 'seen':
      return quiet(delivery.seen, 'one')
    case 'answered':
      return { words: delivery.answered.word, mark: 'two', meaning: delivery.answered.meaning, tone: 'good' }
    case 'consumed': {
      const word = consumedWord(entry.reason)
      return { words: word, mark: 'two', meaning: delivery.consumed.meaning({ word }), tone: 'good' }
    }
    case 'refused':
    case 'expired':
    case 'failed':
      return bad(delivery[entry.state])
    default:
      return quiet({ word: entry.state ?? '', meaning: entry.state ?? '' }, 'clock')
  }
}

/** Whether the state line differs from that of the next message in the group, so that it is shown. */
export function tellsState(entry: Entry, next: Entry | null, online: boolean): boolean {
  if (next === null) return true
  const here = deliveryOf(entry, online)
  return here.tone === 'bad' || here.mark !== deliveryOf(next, online).mark
}

function consumedWord(reason: string | undefined): string {
  const { consumed } = words.delivery
  if (reason === 'verdict' || reason === 'verdict_late' || reason === 'withdrawn') return consumed[reason]
  return consumed.other
}

export interface Outcome {
  readonly text: string
  readonly tone: 'good' | 'bad' | 'quiet'
}

/** Returns the outcome of a prompt from its edit, without repeating the question. `self`: the reader's name. */
export function outcomeOf(
  entry: Entry,
  edit: Entry | undefined,
  tap: Tap | undefined,
  self: string | null = null,
): Outcome | null {
  const raw =
    edit === undefined ? (tap?.phase === 'told' ? tap.text : null) : remainder(entry.text, edit.text)
  if (raw === null) return null
  const text = inSecondPerson(withoutName(raw.trim(), entry.approval), self)
  if (/\b(denied|refused|gone|undeliverable)\b/i.test(text)) return { text, tone: 'bad' }
  if (/\bwaits for\b/i.test(text)) return { text, tone: 'quiet' }
  if (/\b(allowed|passed on)\b/i.test(text)) return { text, tone: 'good' }
  return { text, tone: 'quiet' }
}

// The card already shows the tool and the id, so "deploy (abcde): allowed by kate" becomes "Allowed by kate".
function withoutName(text: string, approval: string | undefined): string {
  const mark = `(${approval}): `
  const at = approval === undefined ? -1 : text.indexOf(mark)
  if (at === -1) return text
  const rest = text.slice(at + mark.length)
  return rest.charAt(0).toUpperCase() + rest.slice(1)
}

// For the reader "owner", "Allowed by owner" becomes "You allowed it". A name may precede the id: "Kate (owner)".
function inSecondPerson(text: string, self: string | null): string {
  const said = /\b(allowed|denied) by (?:[^()]+ \(([^()]+)\)|([^()]+?))(?=\)|$)/i.exec(text)
  if (self === null || said === null || (said[2] ?? said[3]) !== self) return text
  const verb = (said[1] ?? '').toLowerCase()
  if (said.index === 0) return `You ${verb} it`
  return `${text.slice(0, said.index)}${verb} by you${text.slice(said.index + said[0].length)}`
}

function remainder(before: string, after: string): string {
  return after.startsWith(before) && after.length > before.length ? after.slice(before.length) : after
}
