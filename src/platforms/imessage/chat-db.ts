// The database of Messages, chat.db, read-only: rows after a ROWID with their chat and files, and later changes.
// Columns differ between versions of macOS; missing ones are null. It is not opened as immutable, because that would
// miss the write-ahead log.
import { statSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { SwitchboardError } from '../../contract/index.ts'

export interface MessageRow {
  readonly rowid: number
  readonly guid: string
  readonly text: string | null
  readonly body: Uint8Array | null
  readonly service: string
  readonly at: number
  readonly fromMe: boolean
  readonly sent: boolean
  readonly delivered: boolean
  readonly error: number
  readonly itemType: number
  readonly associatedType: number
  readonly associatedGuid: string | null
  readonly associatedEmoji: string | null
  readonly replyTo: string | null
  readonly editedAt: number
  readonly retractedAt: number
  /** Null: there is none, or it is too long to be read. */
  readonly summary: Uint8Array | null
  readonly summarySize: number
  readonly empty: boolean
  readonly files: boolean
  readonly handle: string | null
  readonly chat: ChatRow | null
}

/** The columns of a row that can change later. */
export type RowState = Pick<
  MessageRow,
  'rowid' | 'guid' | 'editedAt' | 'retractedAt' | 'empty' | 'summarySize'
>

export interface ChatRow {
  readonly guid: string
  readonly identifier: string
  readonly group: boolean
  readonly name: string | null
}

export interface FileRow {
  readonly guid: string
  readonly path: string | null
  readonly mime: string | null
  readonly name: string | null
  readonly size: number
}

export interface ChatDb {
  /** Whether this is still the file at its path. Throws `platform_unavailable` if there is no file. */
  isInPlace(): boolean
  /** Changes with every commit of another process. */
  version(): number
  last(): number
  after(rowid: number, limit: number): readonly MessageRow[]
  /** Returns the last row up to this number. */
  upTo(rowid: number): MessageRow | null
  /** Returns those of the newest rows that may have changed. */
  changed(after: number, newest: number): readonly RowState[]
  byGuid(guid: string): MessageRow | null
  rowidOf(guid: string): number | null
  /** Returns the first row at or after this time, or the number after the last row. */
  rowidAt(at: number): number
  files(rowid: number): readonly FileRow[]
  file(guid: string): FileRow | null
  chat(identifier: string): ChatRow | null
  close(): void
}

/** A longer text is cut, with a mark. */
export const MOST_TEXT = 100_000
/** The part of a body that is read: more than `MOST_TEXT` characters in any encoding. */
export const MOST_BODY_BYTES = 4 * MOST_TEXT + 1_024
/** Longer edit histories are not read. They contain every version of a text. */
export const MOST_SUMMARY_BYTES = 1_048_576

const GROUP_STYLE = 43
const NEEDED = ['ROWID', 'guid', 'text', 'handle_id', 'service', 'date', 'is_from_me', 'is_sent', 'error']
/** Nanoseconds since 2001 exceed a double, so SQL makes them milliseconds. Very old rows are in seconds. */
const msOf = (column: string) =>
  `(CASE WHEN ${column} > 1000000000000 THEN ${column} / 1000000 ELSE ${column} * 1000 END)`
const EPOCH_2001 = 978_307_200_000

/** Throws `platform_unavailable` with a hint: the file is absent, not permitted, locked, or of an unknown form. */
export function openChatDb(path: string): ChatDb {
  let database: DatabaseSyncInstance
  let opened: string
  try {
    opened = fileAt(path)
    database = new DatabaseSync(path, { readOnly: true, timeout: 100 })
  } catch (thrown) {
    throw notOpened(thrown)
  }
  // An open file is still readable after it was moved. Messages writes the one at the path.
  const isInPlace = () => {
    try {
      return fileAt(path) === opened
    } catch (thrown) {
      throw isAbsent(thrown) ? new SwitchboardError('platform_unavailable', MOVED_AWAY) : notOpened(thrown)
    }
  }
  try {
    if (!isInPlace()) throw new SwitchboardError('platform_unavailable', MOVED_AWAY)
    return { isInPlace, ...readers(database) }
  } catch (thrown) {
    database.close()
    throw notOpened(thrown)
  }
}

/** While the file is open, no other file gets this number. */
function fileAt(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}

function isAbsent(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT'
}

function readers(database: DatabaseSyncInstance): Omit<ChatDb, 'isInPlace'> {
  const columns = (table: string) =>
    new Set(
      database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map((row) => String((row as { name: unknown }).name)),
    )
  const [message, attachment] = [columns('message'), columns('attachment')]
  // ROWID exists without being listed, if it is not a column of its own.
  const missing = NEEDED.filter((name) => name !== 'ROWID' && !message.has(name))
  if (missing.length > 0)
    throw new SwitchboardError(
      'platform_unavailable',
      `chat.db is of a form that is not known: its messages have no ${missing.join(', ')}. A newer macOS may have changed it`,
    )
  const or = (name: string, as: string) => `${message.has(name) ? `m.${name}` : 'NULL'} AS ${as}`
  const sized = (name: string, sql: (column: string) => string, as: string) =>
    `${message.has(name) ? sql(`m.${name}`) : 'NULL'} AS ${as}`
  const time = (name: string, as: string) => `${message.has(name) ? msOf(`m.${name}`) : '0'} AS ${as}`
  const state = `m.ROWID AS rowid, m.guid AS guid, ${time('date_edited', 'edited_at')}, ${time('date_retracted', 'retracted_at')},
    ${or('is_empty', 'empty')}, ${sized('message_summary_info', (column) => `length(${column})`, 'summary_size')}`
  const body = sized('attributedBody', (column) => `substr(${column}, 1, ${MOST_BODY_BYTES})`, 'body')
  const summary = sized(
    'message_summary_info',
    (column) => `CASE WHEN length(${column}) <= ${MOST_SUMMARY_BYTES} THEN ${column} END`,
    'summary',
  )
  const select = `SELECT ${state}, substr(m.text, 1, ${MOST_TEXT + 1}) AS text, ${body}, ${summary}, m.service AS service,
    ${msOf('m.date')} AS at, m.is_from_me AS from_me, m.is_sent AS sent, ${or('is_delivered', 'delivered')}, m.error AS error,
    ${or('item_type', 'item_type')}, ${or('associated_message_type', 'associated_type')},
    ${or('associated_message_guid', 'associated_guid')}, ${or('associated_message_emoji', 'associated_emoji')},
    ${or('thread_originator_guid', 'reply_to')}, ${or('cache_has_attachments', 'files')},
    h.id AS handle, c.guid AS chat_guid, c.chat_identifier AS chat_identifier, c.style AS chat_style, c.display_name AS chat_name
    FROM message m LEFT JOIN handle h ON h.ROWID = m.handle_id
    LEFT JOIN chat c ON c.ROWID = (SELECT min(j.chat_id) FROM chat_message_join j WHERE j.message_id = m.ROWID)`
  const changedColumns = ['date_edited', 'date_retracted', 'message_summary_info', 'is_empty'].filter(
    (name) => message.has(name),
  )
  const isChanged = changedColumns.map((name) => `COALESCE(m.${name}, 0) <> 0`).join(' OR ') || '0'
  const fileSelect = `SELECT a.guid AS guid, a.filename AS path, a.mime_type AS mime, a.transfer_name AS name, a.total_bytes AS size
    FROM attachment a`
  const shown = attachment.has('hide_attachment') ? 'AND COALESCE(a.hide_attachment, 0) = 0' : ''
  const statements = {
    version: database.prepare('SELECT data_version AS version FROM pragma_data_version'),
    last: database.prepare('SELECT COALESCE(max(ROWID), 0) AS last FROM message'),
    after: database.prepare(`${select} WHERE m.ROWID > ? ORDER BY m.ROWID LIMIT ?`),
    upTo: database.prepare(`${select} WHERE m.ROWID <= ? ORDER BY m.ROWID DESC LIMIT 1`),
    changed: database.prepare(
      `SELECT ${state} FROM message m WHERE m.ROWID > ? AND (${isChanged}) ORDER BY m.ROWID DESC LIMIT ?`,
    ),
    byGuid: database.prepare(`${select} WHERE m.guid = ?`),
    rowidOf: database.prepare('SELECT ROWID AS rowid FROM message WHERE guid = ?'),
    rowidAt: database.prepare(
      `SELECT COALESCE(min(m.ROWID), (SELECT COALESCE(max(ROWID), 0) + 1 FROM message)) AS rowid
       FROM message m WHERE ${msOf('m.date')} >= ?`,
    ),
    files: database.prepare(
      `${fileSelect} JOIN message_attachment_join j ON j.attachment_id = a.ROWID WHERE j.message_id = ? ${shown} ORDER BY a.ROWID LIMIT 20`,
    ),
    file: database.prepare(`${fileSelect} WHERE a.guid = ?`),
    chat: database.prepare(
      `SELECT guid AS chat_guid, chat_identifier, style AS chat_style, display_name AS chat_name FROM chat
       WHERE chat_identifier = ? ORDER BY CASE WHEN service_name = 'iMessage' THEN 0 ELSE 1 END, ROWID DESC LIMIT 1`,
    ),
  }
  const reading = <T>(ask: () => T): T => {
    try {
      return ask()
    } catch (thrown) {
      throw notOpened(thrown)
    }
  }
  return {
    version: () => reading(() => Number((statements.version.get() as Fields).version)),
    last: () => reading(() => Number((statements.last.get() as Fields).last)),
    after: (rowid, limit) =>
      reading(() => statements.after.all(rowid, limit).map((row) => messageRow(row as Fields))),
    changed: (after, newest) =>
      reading(() =>
        statements.changed
          .all(after, newest)
          .map((row) => rowState(row as Fields))
          .reverse(),
      ),
    upTo: (rowid) => reading(() => oneRow(statements.upTo.get(rowid))),
    byGuid: (guid) => reading(() => oneRow(statements.byGuid.get(guid))),
    rowidOf: (guid) =>
      reading(() => {
        const row = statements.rowidOf.get(guid) as Fields | undefined
        return row === undefined ? null : Number(row.rowid)
      }),
    rowidAt: (at) => reading(() => Number((statements.rowidAt.get(at - EPOCH_2001) as Fields).rowid)),
    files: (rowid) => reading(() => statements.files.all(rowid).map((row) => fileRow(row as Fields))),
    file: (guid) =>
      reading(() => {
        const row = statements.file.get(guid)
        return row === undefined ? null : fileRow(row as Fields)
      }),
    chat: (identifier) => reading(() => chatRow((statements.chat.get(identifier) ?? {}) as Fields)),
    close: () => database.close(),
  }
}

type Fields = Readonly<Record<string, unknown>>

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const bytesOrNull = (value: unknown): Uint8Array | null => (value instanceof Uint8Array ? value : null)

function oneRow(row: unknown): MessageRow | null {
  return row === undefined ? null : messageRow(row as Fields)
}

function rowState(row: Fields): RowState {
  const since = (value: unknown) => (Number(value ?? 0) > 0 ? Number(value) + EPOCH_2001 : 0)
  return {
    rowid: Number(row.rowid),
    guid: String(row.guid),
    editedAt: since(row.edited_at),
    retractedAt: since(row.retracted_at),
    empty: Number(row.empty ?? 0) === 1,
    summarySize: Number(row.summary_size ?? 0),
  }
}

function messageRow(row: Fields): MessageRow {
  return {
    ...rowState(row),
    text: textOrNull(row.text),
    body: bytesOrNull(row.body),
    service: textOrNull(row.service) ?? '',
    at: Number(row.at) + EPOCH_2001,
    fromMe: Number(row.from_me) === 1,
    sent: Number(row.sent) === 1,
    delivered: Number(row.delivered ?? 0) === 1,
    error: Number(row.error ?? 0),
    itemType: Number(row.item_type ?? 0),
    associatedType: Number(row.associated_type ?? 0),
    associatedGuid: textOrNull(row.associated_guid),
    associatedEmoji: textOrNull(row.associated_emoji),
    replyTo: textOrNull(row.reply_to),
    summary: bytesOrNull(row.summary),
    files: Number(row.files ?? 0) === 1,
    handle: textOrNull(row.handle),
    chat: chatRow(row),
  }
}

function chatRow({ chat_guid, chat_identifier, chat_style, chat_name }: Fields): ChatRow | null {
  const guid = textOrNull(chat_guid)
  const identifier = textOrNull(chat_identifier)
  if (guid === null || identifier === null) return null
  return { guid, identifier, group: Number(chat_style) === GROUP_STYLE, name: textOrNull(chat_name) || null }
}

function fileRow({ guid, path, mime, name, size }: Fields): FileRow {
  return {
    guid: String(guid),
    path: textOrNull(path),
    mime: textOrNull(mime),
    name: textOrNull(name),
    size: Number(size ?? 0),
  }
}

const ACCESS_HINT =
  'System Settings, Privacy & Security, Full Disk Access: add the program that runs Switchboard (the terminal, or node), then start it anew'

const MOVED_AWAY =
  'chat.db is not at its path any more: it was moved away, or is being replaced. It is read again when it is back'

function notOpened(thrown: unknown): SwitchboardError {
  if (thrown instanceof SwitchboardError) return thrown
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  if (/authorization denied|not permitted|EPERM|EACCES|permission/i.test(said))
    return new SwitchboardError('platform_unavailable', `chat.db may not be read: ${ACCESS_HINT}`, {
      hint: ACCESS_HINT,
    })
  if (/locked|busy/i.test(said))
    return new SwitchboardError(
      'platform_unavailable',
      'chat.db is locked by another program; it is tried again',
    )
  if (/unable to open|no such file|ENOENT|does not exist/i.test(said))
    return new SwitchboardError(
      'platform_unavailable',
      `chat.db could not be opened: is it there, and may it be read? ${ACCESS_HINT}`,
      {
        hint: ACCESS_HINT,
      },
    )
  return new SwitchboardError('platform_unavailable', `chat.db could not be read: ${said.slice(0, 200)}`)
}
