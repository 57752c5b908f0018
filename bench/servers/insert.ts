// Peer (b): the bare server with one durable insert: SQLite, WAL, synchronous=FULL, one commit per loop turn.
import { DatabaseSync } from '@photostructure/sqlite'
import { type SignedPost, serveSignedPosts } from './signed-post.ts'

const database = new DatabaseSync(process.env.BENCH_DATABASE ?? '')
database.exec('PRAGMA journal_mode=WAL')
database.exec('PRAGMA synchronous=FULL')
database.exec(
  'CREATE TABLE inbox (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, conversation TEXT NOT NULL, body TEXT NOT NULL)',
)
const insert = database.prepare('INSERT INTO inbox (id, conversation, body) VALUES (?, ?, ?)')

let waiting: { readonly post: SignedPost; readonly done: () => void }[] = []

serveSignedPosts(process.env.BENCH_SECRET ?? '', (post, done) => {
  if (waiting.length === 0) setImmediate(commit)
  waiting.push({ post, done })
})

/** Sends the answers only after COMMIT returned, when the log is on the disk. */
function commit(): void {
  const group = waiting
  waiting = []
  database.exec('BEGIN IMMEDIATE')
  for (const { post } of group) insert.run(post.id, post.conversation, post.body.toString('utf8'))
  database.exec('COMMIT')
  for (const { done } of group) done()
}
