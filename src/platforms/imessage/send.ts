// Sends by AppleScript, which returns no id. A message is sent when its row appears in chat.db without an error. A row
// with an error failed. Without a row the outcome is unknown.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, type Receipt, type SendRequest, SwitchboardError } from '../../contract/index.ts'
import { type FileStore, safeFileName } from '../../kit/index.ts'
import type { ChatDb, ChatRow, MessageRow } from './chat-db.ts'
import type { IMessageConfig, Timings } from './config.ts'
import { NoSuchChat, type RunScript } from './osascript.ts'
import { normalised, type OwnSends } from './own-sends.ts'
import { textOfRow } from './parse.ts'
import { wordsOf } from './render.ts'

export interface SendDeps {
  readonly config: IMessageConfig
  readonly timings: Timings
  readonly clock: Clock
  readonly db: () => ChatDb
  readonly run: RunScript
  readonly own: OwnSends
  readonly files: Pick<FileStore, 'read'>
}

const MOST_ROWS = 500
const LOOKED_BACK = 2_000
/** Times of chat.db may be cut to seconds. */
const CLOCK_LEEWAY_MS = 1_000

export function createSend(deps: SendDeps) {
  const { config, timings, clock, db, run, own } = deps

  const post = async (chat: ChatRow | null, conversation: string, text: string) => {
    // A person who was never written to has no chat yet.
    if (chat === null) {
      if (/^chat\d+$/.test(conversation)) throw new NoSuchChat('Messages has no such group')
      return run('toPerson', text, conversation)
    }
    try {
      await run('toChat', text, chat.guid)
    } catch (thrown) {
      if (!(thrown instanceof NoSuchChat) || chat.group) throw thrown
      await run('toPerson', text, chat.identifier)
    }
  }

  const isIt = (row: MessageRow, conversation: string, wanted: string | null): boolean => {
    if (!row.fromMe || row.itemType !== 0 || row.associatedType !== 0) return false
    if (row.chat?.identifier !== conversation) return false
    return wanted === null ? row.files : normalised(textOfRow(row) ?? '') === wanted
  }

  const isGhost = (row: MessageRow): boolean =>
    row.fromMe &&
    row.chat === null &&
    row.service !== 'iMessage' &&
    (textOfRow(row) ?? '') === '' &&
    !row.files

  /**
   * Repeats `look` until it is settled or the time is over. After something was handed to Messages, an unreadable
   * database is no reason to send again, so it is read again too.
   */
  const awaited = async <T>(look: () => T | null): Promise<T | null> => {
    const until = clock.now() + timings.confirmMs
    for (;;) {
      const found = attempt(look)
      if (found !== null || clock.now() >= until) return found
      await new Promise<void>((resolve) => void clock.after(timings.lookMs, resolve))
    }
  }

  /** `wanted`: null for a file. If the database was replaced, older rows may have higher numbers. They do not count. */
  const appeared = async (
    { after, since }: { readonly after: number; readonly since: number },
    conversation: string,
    wanted: string | null,
  ): Promise<MessageRow> => {
    let stands = false
    const row = await awaited(() => {
      const rows = db()
        .after(after, MOST_ROWS)
        .filter(({ at }) => at >= since - CLOCK_LEEWAY_MS)
      const found = rows.find((one) => isIt(one, conversation, wanted))
      if (found === undefined && rows.some(isGhost)) throw new GhostRow()
      stands = found !== undefined
      return found !== undefined && (found.sent || found.error !== 0) ? found : null
    })
    if (row === null)
      throw new SwitchboardError(
        'outcome_unknown',
        stands
          ? 'it stands in chat.db and is not marked as sent yet'
          : 'Messages took it, and it did not appear in chat.db',
      )
    if (row.error !== 0)
      throw new SwitchboardError('platform_rejected', `Messages could not send it (error ${row.error})`)
    return row
  }

  /** Copies the file to a folder that Messages may read. */
  const staged = async (
    key: string,
    name: string,
    bytes: Uint8Array,
  ): Promise<{ readonly file: string; readonly remove: () => Promise<void> }> => {
    const folder = join(config.filesDir, 'switchboard', safeFileName(key))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, safeFileName(name))
    await writeFile(file, bytes, { mode: 0o600 })
    return { file, remove: () => rm(folder, { recursive: true, force: true }) }
  }

  const send = async (request: SendRequest): Promise<Receipt> => {
    const { to, op, key } = request
    const text = wordsOf(op)
    const conversation = to.conversation
    const chat = db().chat(conversation)
    const before = { after: db().last(), since: clock.now() }
    if (op.kind === 'file') {
      if (chat === null) throw new NoSuchChat('a file can be sent only where something was said before')
      const { file, remove } = await staged(key, op.name, await deps.files.read(op.ref))
      const settled = own.sending(conversation, '')
      try {
        await run('fileToChat', file, chat.guid)
        const row = await appeared(before, conversation, null)
        own.confirmed(row.guid)
        return { platformIds: [row.guid] }
      } finally {
        settled()
        await remove()
      }
    }
    const settled = own.sending(conversation, text)
    try {
      await post(chat, conversation, text)
      const row = await appeared(before, conversation, normalised(text))
      own.confirmed(row.guid)
      return { platformIds: [row.guid] }
    } finally {
      settled()
    }
  }

  /**
   * Finds the newest row with this text that is no older than the send and belongs to no other send. It may come a
   * moment later, because a started script ends without us.
   */
  const reconcile = async (request: SendRequest) => {
    const { to, op, key } = request
    if (op.kind !== 'text' && op.kind !== 'prompt') return { outcome: 'unknown' } as const
    const wanted = normalised(wordsOf(op))
    const { guids, madeAt } = await own.known(to.conversation, key)
    // The same text may have been sent before. Without a time they cannot be told apart.
    if (madeAt === null) return { outcome: 'unknown' } as const
    const found = await awaited(() => {
      const rows = db().after(Math.max(0, db().last() - LOOKED_BACK), LOOKED_BACK)
      const isOf = (row: MessageRow) =>
        row.at >= madeAt - CLOCK_LEEWAY_MS && row.sent && row.error === 0 && !guids.has(row.guid)
      return rows.findLast((row) => isOf(row) && isIt(row, to.conversation, wanted)) ?? null
    })
    if (found === null) return { outcome: 'unknown' } as const
    own.confirmed(found.guid)
    return { outcome: 'sent', receipt: { platformIds: [found.guid] } } as const
  }

  return { send, reconcile }
}

/** An empty row without a chat: macOS 26 leaves it for a message that it did not send. */
class GhostRow extends SwitchboardError {
  constructor() {
    super('platform_rejected', 'Messages made an empty message of it, in no chat')
  }
}

/** Null while the database cannot be read. */
function attempt<T>(look: () => T | null): T | null {
  try {
    return look()
  } catch (thrown) {
    if (thrown instanceof SwitchboardError && thrown.code === 'platform_unavailable') return null
    throw thrown
  }
}
