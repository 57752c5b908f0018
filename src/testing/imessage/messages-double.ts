// A double of Messages on a Mac. It has a chat.db in the form that imessage-exporter and imsg describe (macOS 13 to
// 26), and an `osascript` that writes a row for each message. It was never compared with a real Mac.
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { binaryPlist, typedStream } from './blobs.ts'

export interface ScriptCall {
  readonly script: string
  readonly args: readonly string[]
}

/** What `osascript` does with a text or file. By default it writes the row and succeeds. */
export interface ScriptAnswer {
  /** False writes no row. With `error` a row is written only if it is given here. */
  readonly row?: false | Partial<NewRow>
  /** An AppleScript error on stderr, with exit code 1. */
  readonly error?: string
  /** The script never ends. With `true` it does nothing. With `after` it writes the row but never reports that. */
  readonly hangs?: true | 'after'
  /** The delay between the row and the end of the script. */
  readonly lateMs?: number
  /** The delay before the chat of the row is written. */
  readonly joinMs?: number
}

export interface NewRow {
  readonly text: string | null
  readonly body: Uint8Array | null
  readonly handle: string | null
  readonly service: string
  readonly at: number
  readonly fromMe: boolean
  readonly sent: boolean
  readonly error: number
  readonly itemType: number
  readonly associatedType: number
  readonly associatedGuid: string | null
  readonly replyTo: string | null
  readonly files: readonly { readonly path: string; readonly mime: string; readonly name: string }[]
  /** False when the row has no chat yet. */
  readonly inChat: boolean
}

export interface MessagesDouble {
  readonly dbPath: string
  readonly osascript: string
  readonly calls: readonly ScriptCall[]
  /** The messages from us that people see in this chat: sent rows, in order. */
  shown(identifier: string): readonly string[]
  /** Sets how `osascript` behaves from now on. */
  answerWith(answer: (call: ScriptCall) => ScriptAnswer): void
  chat(
    identifier: string,
    options?: { readonly group?: boolean; readonly guid?: string; readonly name?: string },
  ): void
  /** Writes a row into a chat and returns its guid. */
  put(identifier: string, row?: Partial<NewRow>): string
  says(from: string, text: string, row?: Partial<NewRow>): string
  /** Writes the chat of a row later. */
  join(guid: string, identifier: string): void
  edit(guid: string, texts: readonly string[], at: number): void
  unsend(guid: string, at: number): void
  /** Runs any SQL statement. */
  exec(sql: string): void
  /** Copies chat.db as it is now and returns the path of the copy. */
  backup(): string
  /** Replaces chat.db by another file, as a restore or a sync tool does. Messages continues in that file. */
  restore(path: string): void
  close(): Promise<void>
}

const EPOCH_2001 = 978_307_200_000
const SCHEMA = [
  'CREATE TABLE handle (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, service TEXT)',
  `CREATE TABLE chat (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE NOT NULL, style INTEGER, chat_identifier TEXT,
   service_name TEXT, display_name TEXT, account_login TEXT, last_addressed_handle TEXT)`,
  `CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE NOT NULL, text TEXT, attributedBody BLOB,
   handle_id INTEGER DEFAULT 0, service TEXT, account TEXT, date INTEGER, date_read INTEGER, date_delivered INTEGER,
   is_from_me INTEGER DEFAULT 0, is_sent INTEGER DEFAULT 0, is_delivered INTEGER DEFAULT 0, is_finished INTEGER DEFAULT 0,
   error INTEGER DEFAULT 0, cache_has_attachments INTEGER DEFAULT 0, item_type INTEGER DEFAULT 0,
   associated_message_type INTEGER DEFAULT 0, associated_message_guid TEXT, associated_message_emoji TEXT,
   thread_originator_guid TEXT, message_summary_info BLOB, date_edited INTEGER DEFAULT 0, date_retracted INTEGER DEFAULT 0,
   is_empty INTEGER DEFAULT 0)`,
  'CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER, message_date INTEGER, PRIMARY KEY (chat_id, message_id))',
  `CREATE TABLE attachment (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE NOT NULL, filename TEXT, mime_type TEXT,
   transfer_name TEXT, total_bytes INTEGER DEFAULT 0, transfer_state INTEGER DEFAULT 5, hide_attachment INTEGER DEFAULT 0)`,
  'CREATE TABLE message_attachment_join (message_id INTEGER, attachment_id INTEGER)',
]
/** The script records its arguments and waits until the test says how it ends. */
const SHIM = `#!/bin/sh
dir="$(dirname "$0")"
call="$dir/call.$$"
cat > "$call.script"
printf '%s\\0' "$@" > "$call.args.part"
mv "$call.args.part" "$call.args"
# Whose folder is gone was left behind: nobody will tell.
while [ ! -f "$call.exit" ]; do [ -d "$dir" ] || exit 1; sleep 0.01; done
[ -f "$call.err" ] && cat "$call.err" >&2
exit "$(cat "$call.exit")"
`

export function createMessagesDouble(
  folder: string,
  { now = Date.now }: { readonly now?: () => number } = {},
): MessagesDouble {
  const dbPath = join(folder, 'chat.db')
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  mkdirSync(join(folder, 'Attachments'), { recursive: true })
  const osascript = join(bin, 'osascript')
  writeFileSync(osascript, SHIM)
  chmodSync(osascript, 0o755)
  const opened = (): DatabaseSyncInstance => {
    const database = new DatabaseSync(dbPath)
    database.exec('PRAGMA journal_mode = WAL')
    return database
  }
  let database = opened()
  for (const statement of SCHEMA) database.exec(statement)
  const calls: ScriptCall[] = []
  const said: { readonly identifier: string; readonly text: string }[] = []
  let closed = false
  let answer: (call: ScriptCall) => ScriptAnswer = () => ({})
  let count = 0
  let backups = 0

  const rowid = (sql: string, ...params: readonly (string | number)[]): number | null => {
    const row = database.prepare(sql).get(...params) as { readonly ROWID: number } | undefined
    return row?.ROWID ?? null
  }
  const handleOf = (id: string | null): number => {
    if (id === null) return 0
    const known = rowid('SELECT ROWID FROM handle WHERE id = ?', id)
    if (known !== null) return known
    return Number(
      database.prepare('INSERT INTO handle (id, service) VALUES (?, ?)').run(id, 'iMessage').lastInsertRowid,
    )
  }
  const date = (at: number) => BigInt(at - EPOCH_2001) * 1_000_000n

  const double: MessagesDouble = {
    dbPath,
    osascript,
    calls,
    shown: (identifier) => said.flatMap((one) => (one.identifier === identifier ? [one.text] : [])),
    answerWith(next) {
      answer = next
    },
    chat(identifier, { group = false, guid, name } = {}) {
      if (rowid('SELECT ROWID FROM chat WHERE chat_identifier = ?', identifier) !== null) return
      database
        .prepare(
          'INSERT INTO chat (guid, style, chat_identifier, service_name, display_name) VALUES (?, ?, ?, ?, ?)',
        )
        .run(
          guid ?? `iMessage;${group ? '+' : '-'};${identifier}`,
          group ? 43 : 45,
          identifier,
          'iMessage',
          name ?? '',
        )
    },
    put(identifier, row = {}) {
      count += 1
      const guid = `${String(count).padStart(8, '0')}-0000-4000-8000-000000000000`
      const { text = null, handle = null, service = 'iMessage', at = now(), fromMe = false, files = [] } = row
      const body = row.body ?? (text === null ? null : typedStream(text))
      const { lastInsertRowid } = database
        .prepare(
          `INSERT INTO message (guid, text, attributedBody, handle_id, service, date, is_from_me, is_sent, error, item_type,
           associated_message_type, associated_message_guid, thread_originator_guid, cache_has_attachments)
           VALUES (?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          guid,
          body,
          handleOf(handle),
          service,
          date(at),
          fromMe ? 1 : 0,
          (row.sent ?? fromMe) ? 1 : 0,
          row.error ?? 0,
          row.itemType ?? 0,
          row.associatedType ?? 0,
          row.associatedGuid ?? null,
          row.replyTo ?? null,
          files.length > 0 ? 1 : 0,
        )
      for (const [index, file] of files.entries()) {
        const added = database
          .prepare(
            'INSERT INTO attachment (guid, filename, mime_type, transfer_name, total_bytes) VALUES (?, ?, ?, ?, ?)',
          )
          .run(`at_${index}_${guid}`, file.path, file.mime, file.name, 5)
        database
          .prepare('INSERT INTO message_attachment_join (message_id, attachment_id) VALUES (?, ?)')
          .run(lastInsertRowid, added.lastInsertRowid)
      }
      if (fromMe && (row.sent ?? true) && (row.error ?? 0) === 0 && text !== null)
        said.push({ identifier, text })
      if (row.inChat !== false) double.join(guid, identifier)
      return guid
    },
    says(from, text, row = {}) {
      double.chat(from)
      return double.put(from, { text, handle: from, ...row })
    },
    join(guid, identifier) {
      double.chat(identifier)
      const chat = rowid('SELECT ROWID FROM chat WHERE chat_identifier = ?', identifier) ?? 0
      const message = rowid('SELECT ROWID FROM message WHERE guid = ?', guid) ?? 0
      database.prepare('INSERT INTO chat_message_join (chat_id, message_id) VALUES (?, ?)').run(chat, message)
    },
    edit(guid, texts, at) {
      const versions = texts.map((text) => ({ d: 1, t: typedStream(text) }))
      database
        .prepare('UPDATE message SET message_summary_info = ?, date_edited = ? WHERE guid = ?')
        .run(binaryPlist({ otr: { 0: 1 }, ec: { 0: versions } }), date(at), guid)
    },
    unsend(guid, at) {
      database
        .prepare(
          'UPDATE message SET message_summary_info = ?, date_retracted = ?, is_empty = 1, attributedBody = NULL WHERE guid = ?',
        )
        .run(binaryPlist({ rp: [0] }), date(at), guid)
    },
    exec: (sql) => database.exec(sql),
    backup() {
      backups += 1
      const path = `${dbPath}.backup${backups}`
      database.exec(`VACUUM INTO '${path}'`)
      return path
    },
    restore(path) {
      database.close()
      for (const end of ['', '-wal', '-shm']) rmSync(dbPath + end, { force: true })
      renameSync(path, dbPath)
      database = opened()
    },
    async close() {
      clearInterval(looking)
      closed = true
      for (const name of readdirSync(bin))
        if (name.endsWith('.args')) writeFileSync(join(bin, name.replace(/args$/, 'exit')), '1')
      database.close()
    },
  }

  const answered = new Set<string>()
  const serve = (name: string) => {
    const call = join(bin, name.replace(/\.args$/, ''))
    const [, ...args] = readFileSync(join(bin, name), 'utf8').split('\0').slice(0, -1)
    const made: ScriptCall = { script: readFileSync(`${call}.script`, 'utf8'), args }
    calls.push(made)
    const { row, error, hangs, lateMs = 0, joinMs } = answer(made)
    if (hangs === true) return
    const [text = '', target = ''] = args
    const identifier = target.replace(/^[^;]*;[-+];/, '')
    if (row !== false && (error === undefined || row !== undefined)) {
      const isFile = made.script.includes('POSIX file')
      const files = isFile ? [{ path: text, mime: 'text/plain', name: text.split('/').at(-1) ?? '' }] : []
      const chat = joinMs === undefined ? {} : { inChat: false }
      const guid = double.put(identifier, {
        ...(isFile ? { files } : { text }),
        fromMe: true,
        ...chat,
        ...row,
      })
      if (joinMs !== undefined) later(joinMs, () => double.join(guid, identifier))
    }
    if (hangs === 'after') return
    if (error !== undefined)
      writeFileSync(`${call}.err`, `execution error: Messages got an error: ${error}\n`)
    writeFileSync(`${call}.exit.part`, error === undefined ? '0' : '1')
    later(lateMs, () => renameSync(`${call}.exit.part`, `${call}.exit`))
  }
  const later = (ms: number, act: () => void) => {
    if (ms === 0) return act()
    setTimeout(() => {
      if (!closed) act()
    }, ms).unref()
  }
  const looking = setInterval(() => {
    for (const name of readdirSync(bin)) {
      if (!name.endsWith('.args') || answered.has(name)) continue
      answered.add(name)
      serve(name)
    }
  }, 5)
  looking.unref()
  rmSync(join(bin, 'never'), { force: true })
  return double
}
