// The tools that read: messages, people, waiting turns, and attached files.
import {
  type Attachment,
  type DownloadedFile,
  defined,
  everyRow,
  type StoreBesideOutlet,
  SwitchboardError,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
  type TranscriptEntry,
  type TurnRow,
  withoutNulls,
} from '../../contract/index.ts'
import type { Links } from '../links.ts'
import { carried } from './carried-files.ts'
import type { SendableFiles } from './kept-files.ts'
import { oneLine } from './one-line.ts'
import type { OwnChats } from './own-chats.ts'
import { threadTranscript } from './thread-transcript.ts'
import { toolOutcome } from './tool-outcome.ts'

type ReadingTools = Pick<
  ToolActions,
  'downloadAttachment' | 'fetchMessages' | 'getRoster' | 'pendingMessages'
>

const MOST_PENDING = 200
const MOST_PEOPLE = 1_000
/** How many messages are searched for people and for a file. The result says when this limit was reached. */
const LOOKED_BACK = 50_000

export function createReadingTools(
  deps: { readonly store: StoreBesideOutlet; readonly links: Links; readonly files?: SendableFiles },
  chats: OwnChats,
): ReadingTools {
  const { store } = deps

  const wanted = async (caller: ToolCaller, input: Parameters<ToolActions['downloadAttachment']>[1]) => {
    const { agent } = caller
    if ('fileId' in input) {
      const found = await fileOf((page) => store.turns({ agent, ...page }), input.fileId)
      await chats.mine(caller, found.turn.address)
      return found
    }
    const { integration, conversation, ...rest } = await chats.mine(caller, input.chatId)
    const messageId = await chats.messageId(caller, { integration, conversation, ...rest }, input.messageId)
    const of = { agent, integration, conversation, messageId }
    return filesOf((page) => store.turns({ ...of, ...page }), messageId)
  }

  return {
    fetchMessages: (caller, { chatId, limit }) =>
      toolOutcome(async () => {
        const at = await chats.mine(caller, chatId)
        const { entries, partly } = await threadTranscript(store, at, limit)
        const messages = entries.map(messageOf)
        const text = rows(messages, messageLine)
        const none = partly ? '(no messages here among the latest of this chat)' : '(no messages)'
        return done(text === '' ? none : text, { messages })
      }),

    getRoster: (caller, { chatId }) =>
      toolOutcome(async () => {
        const at = await chats.mine(caller, chatId)
        const { integration, conversation } = at
        const here = { agent: caller.agent, integration, conversation }
        const people = new Map<string, string | null>()
        let looked = 0
        for await (const turn of everyRow((page) => store.turns({ ...here, ...page }))) {
          if (turn.state !== 'refused' && !people.has(turn.sender))
            people.set(turn.sender, turn.body?.senderName ?? null)
          if (++looked >= LOOKED_BACK || people.size >= MOST_PEOPLE) break
        }
        const partly = looked >= LOOKED_BACK || people.size >= MOST_PEOPLE
        const members = [...people].map(([id, name]) => ({ user_id: id, user: name ?? id }))
        const text = rows(members, ({ user, user_id }) => `${user} (id: ${user_id})`)
        const more = partly ? `\n(those who spoke last, in ${looked} messages; there may be more)` : ''
        const listed = text === '' ? '(nobody has spoken yet)' : text
        return done(listed + more, { members, ...(partly ? { partly, looked } : {}) })
      }),

    pendingMessages: (caller) =>
      toolOutcome(async () => {
        const open = await store.turns({
          agent: caller.agent,
          ...withoutNulls({ session: caller.session }),
          states: ['queued', 'handed', 'seen'],
          resting: false,
          oldestFirst: true,
          limit: MOST_PENDING + 1,
        })
        const messages = open.slice(0, MOST_PENDING).map(pendingOf)
        const text = rows(
          messages,
          (one) =>
            `[${one.ts}] ${one.chat_id} ${one.user}: ${one.text} (id: ${one.message_id}, ${one.state})`,
        )
        if (open.length <= MOST_PENDING) return done(text === '' ? '(nothing waits)' : text, { messages })
        const more = `(the oldest ${MOST_PENDING}; more wait: reply to these or ack them, then ask again)`
        return done(`${text}\n${more}`, { messages, more: true })
      }),

    downloadAttachment: (caller, input) =>
      toolOutcome(async () => {
        const { turn, attachments } = await wanted(caller, input)
        const adapter = deps.links.get(turn.integration)?.adapter
        if (!adapter?.files?.download)
          throw new SwitchboardError('execution_failed', `${turn.platform} gives no attachments`)
        const files: DownloadedFile[] = []
        for (const attachment of attachments) files.push(await adapter.files.download(attachment))
        // A caller with a session token may be on any machine, where our paths mean nothing.
        if (caller.session !== null && caller.local !== true) return carried(files, deps.files)
        const listed = rows(
          files,
          (file) => `  ${file.path}  (${file.name}, ${file.mime}, ${kilobytes(file.size)}KB)`,
        )
        const all = `downloaded ${files.length} attachment(s):\n${listed}`
        return done('fileId' in input ? (files[0]?.path ?? '') : all, { files })
      }),
  }
}

interface Found {
  readonly turn: TurnRow
  readonly attachments: readonly Attachment[]
}

type ReadTurns = (page: {
  readonly limit: number
  readonly beforeSeq?: number
}) => Promise<readonly TurnRow[]>

async function filesOf(read: ReadTurns, messageId: string): Promise<Found> {
  for await (const turn of everyRow(read)) {
    if (turn.body === null || turn.state === 'refused') continue
    const attachments = turn.body.attachments ?? []
    if (attachments.length > 0) return { turn, attachments }
    throw new SwitchboardError('not_found', `message "${messageId}" has no attachments`)
  }
  throw new SwitchboardError('not_found', `there is no message "${messageId}" in this chat`)
}

async function fileOf(read: ReadTurns, fileId: string): Promise<Found> {
  const named = `file_id "${fileId.slice(0, 200)}"`
  let looked = 0
  for await (const turn of everyRow(read)) {
    const attachments = (turn.body?.attachments ?? []).filter(
      ({ id, ref }) => id === fileId || ref === fileId,
    )
    if (attachments.length > 0 && turn.state !== 'refused')
      return { turn, attachments: attachments.slice(0, 1) }
    if (++looked >= LOOKED_BACK)
      throw new SwitchboardError(
        'not_found',
        `${named} came with none of your latest ${LOOKED_BACK} messages`,
        {
          hint: 'name chat_id and message_id instead',
        },
      )
  }
  throw new SwitchboardError('not_found', `${named} came with no message of yours`)
}

function kilobytes(bytes: number): string {
  return (bytes / 1_024).toFixed(0)
}

function done(text: string, structured: Readonly<Record<string, unknown>>): ToolOutcome {
  return { text, isError: false, structured: { ok: true, ...structured } }
}

function messageOf(entry: TranscriptEntry) {
  return {
    message_id: entry.platformMessageId ?? entry.id,
    user: entry.direction === 'out' ? 'me' : (entry.sender ?? 'somebody'),
    // A message with only files is shown by their kinds.
    text: entry.text || `(${(entry.attachments ?? []).map(({ kind }) => kind).join(', ')})`,
    ts: new Date(entry.at).toISOString(),
    attachments: entry.attachments?.length ?? 0,
    ...defined({ receipt: entry.receipt }),
  }
}

function messageLine(message: ReturnType<typeof messageOf>): string {
  const { ts, user, text, message_id, attachments, receipt } = message
  const files = attachments > 0 ? ` +${attachments}att` : ''
  const come = receipt === undefined ? '' : `, ${receipt}`
  return `[${ts}] ${user}: ${text}  (id: ${message_id}${files}${come})`
}

/** One line each, whatever its fields contain, so no sender can fake another line. */
function rows<T>(of: readonly T[], row: (one: T) => string): string {
  return of.map((one) => oneLine(row(one))).join('\n')
}

function pendingOf(turn: TurnRow) {
  return {
    chat_id: turn.address,
    message_id: turn.messageId,
    user: turn.body?.senderName ?? turn.sender,
    user_id: turn.sender,
    ts: new Date(turn.receivedAt).toISOString(),
    text: turn.body?.text ?? '',
    state: turn.state,
  }
}
