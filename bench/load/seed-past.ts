// Writes past turns by SQL into a SQLite file that already has its tables. They have no ledger entries, because only
// their number matters.
import { DatabaseSync } from '@photostructure/sqlite'

const TEXT = 'Please look into the failed deploy and tell me what you would change before nine. '.repeat(3)

export function seedPast(file: string, many: number): void {
  if (many === 0) return
  const database = new DatabaseSync(file)
  const now = Date.now()
  database.exec('PRAGMA synchronous = OFF')
  database.exec(`BEGIN; WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${many})
    INSERT INTO turns (seq, integration, conversation, message_id, edit_version, platform, source, agent, session, sender,
      state, attempts, body, received_at, updated_at)
    SELECT n, 'bench', 'past-' || (n % 1000), 'past-' || n, 0, 'webhook', 'webhook:bench', 'past', 's_past', 'webhook',
      'answered', 1, '{"kind":"message","text":"${TEXT}"}', ${now} - (${many} - n) * 100, ${now} - (${many} - n) * 100
    FROM count; COMMIT`)
  database.close()
}
