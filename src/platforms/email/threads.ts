// Threads. A thread is a conversation with one person under the id of its first mail. A plus-address that chooses an
// agent stands before it. The transcript knows what was said; nothing is stored here.
import type { PlatformDeps, Quoted, SendRequest, TranscriptEntry } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { plusTag } from './mail/addresses.ts'
import type { HeaderField } from './mail/headers.ts'
import {
  answeredIds,
  idInKey,
  type MessageIds,
  rootId,
  tokenInSubject,
  tokenInTag,
} from './mail/message-ids.ts'
import { answerSubject, ownSubject } from './mail/subjects.ts'

const LOOKED_AT = 200
const MOST_REFERENCES = 20

export interface InThread {
  readonly thread: string
  readonly replyTo?: Quoted
}

export interface Threading {
  readonly address: string
  readonly ids: MessageIds
  readonly transcript: PlatformDeps['transcript']
}

/** Returns the thread of a mail, and the mail that it answers. */
export async function threadOf(
  { address, ids, transcript }: Threading,
  mail: {
    readonly sender: string
    readonly fields: readonly HeaderField[]
    readonly id: string
    readonly subject: string
  },
): Promise<InThread> {
  const { sender, fields, id } = mail
  const tag = plusTag(fields, address)
  // If a client drops the headers, the token is still where it was put.
  const key = ids.keyInToken(tokenInTag(tag) ?? tokenInSubject(mail.subject) ?? '')
  const answered = [...answeredIds(fields), ...(key === null ? [] : [ids.of(key)])]
  const prefix = tag === null || tokenInTag(tag) !== null ? '' : `+${tag} `
  if (answered.length === 0) return { thread: prefix + id }
  const known = await transcript({ conversation: sender, limit: LOOKED_AT })
  for (const one of answered) {
    const entry = entryOf(known, one, ids)
    // It has the form of our ids, and its row may be older than the part of the transcript that was read.
    const ours = entry?.direction === 'out' ? ids.of(entry.id) : ids.keyIn(one) === null ? null : one
    if (entry === undefined && ours === null) continue
    return { thread: entry?.thread ?? ours ?? one, replyTo: { messageId: ours ?? one } }
  }
  const [nearest] = answered
  return {
    thread: prefix + (rootId(fields) ?? id),
    ...(nearest === undefined ? {} : { replyTo: { messageId: nearest } }),
  }
}

/** Our own mail is known by its row. A server that replaces ids told the new one with its confirmation. */
function entryOf(
  known: readonly TranscriptEntry[],
  id: string,
  ids: MessageIds,
): TranscriptEntry | undefined {
  const key = ids.keyIn(id)
  return known.find(
    (entry) => (key !== null && entry.id === key) || idInKey(entry.platformMessageId ?? '') === id,
  )
}

/** Returns the first mail of a thread, and the plus-address of the thread. */
export function partsOfThread(thread: string): { readonly root: string; readonly tag: string | null } {
  const [, tag, root] = /^\+(\S{1,100}) (<.*>)$/.exec(thread) ?? []
  return tag !== undefined && root !== undefined ? { root, tag } : { root: thread, tag: null }
}

export interface AnswerHeaders {
  readonly subject: string
  readonly inReplyTo: string
  readonly references: readonly string[]
}

/** Returns the headers of a mail in a thread. Null: it begins one. */
export async function answerHeaders(
  { ids, transcript }: Threading,
  { to, key }: Pick<SendRequest, 'to' | 'key'>,
  replyTo: string | undefined,
): Promise<AnswerHeaders | null> {
  if (to.thread === undefined) return null
  const { root } = partsOfThread(to.thread)
  const known = await transcript({ conversation: to.conversation, limit: LOOKED_AT })
  const inThread = known.filter(
    (entry) =>
      entry.thread === to.thread ||
      // The thread began with our own mail, which has no such headers.
      (entry.direction === 'out' && ids.of(entry.id) === root),
  )
  // The transcript also contains the mail that is being written. It answers the mails before it.
  const said = inThread.filter(
    (entry) => entry.id !== key && idOf(entry, ids) !== undefined && entry.state !== 'queued',
  )
  const parent = said.filter((entry) => entry.direction === 'in').at(-1) ?? said.at(-1)
  const inReplyTo =
    replyTo !== undefined && isId(idInKey(replyTo))
      ? idInKey(replyTo)
      : ((parent && idOf(parent, ids)) ?? root)
  const chain = said.flatMap((entry) => idOf(entry, ids) ?? []).filter((id) => id !== inReplyTo)
  const references = [...new Set([root, ...chain.slice(-MOST_REFERENCES), inReplyTo])].filter(isId)
  return { subject: subjectIn(inThread), inReplyTo, references }
}

function idOf(entry: TranscriptEntry, ids: MessageIds): string | undefined {
  if (entry.direction === 'out') return ids.of(entry.id)
  return entry.platformMessageId === undefined ? undefined : idInKey(entry.platformMessageId)
}

function isId(text: string): boolean {
  return /^<[^<>\s]{1,900}>$/.test(text)
}

/** The person's last subject, else our own. */
function subjectIn(said: readonly TranscriptEntry[]): string {
  const theirs = said.findLast((entry) => entry.direction === 'in' && entry.meta?.subject !== undefined)
  if (theirs?.meta?.subject !== undefined) return answerSubject(theirs.meta.subject)
  const ours = said.find((entry) => entry.direction === 'out')
  return answerSubject(ours === undefined ? wordsIn().platforms.message : ownSubject(ours.text, false))
}
