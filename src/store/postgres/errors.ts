// Maps PostgreSQL errors to SwitchboardErrors.
import { SwitchboardError } from '../../contract/index.ts'

// Patterns for classes or codes of an unavailable or exhausted database, with the remedy.
const AWAY: readonly (readonly [RegExp, string])[] = [
  [/^(08|57P0)/, 'the database went away or is starting: it is tried again by itself'],
  [/^53/, 'the database is out of disk, memory or connections: give it more, it goes on by itself'],
  [/^(55P03|57014|25P0[23])$/, 'another node held a lock too long: it is tried again by itself'],
  [/^(40P01|40001)$/, 'two nodes were in each other’s way: it is tried again by itself'],
  [/^25006$/, 'the server is a read-only replica: point `store` to the primary'],
  [/^(28|3D|42501)/, 'check the user, password, database and rights in the `store` URL'],
]

/** Codes after which the same group can run again. */
const COLLISION = /^(40P01|40001)$/

const TAKEN_KEY = '23505'

/**
 * Whether the group can run again. Another node may have received the same message after the lookup; the next lookup
 * finds it.
 */
export function isCollision(thrown: unknown): boolean {
  const code = codeOf(thrown)
  if (code === TAKEN_KEY) return /^turns/.test(String((thrown as { table?: unknown }).table))
  return COLLISION.test(code)
}

/** Returns the driver's error as a SwitchboardError; null when the database is not the cause. */
export function postgresError(thrown: unknown): SwitchboardError | null {
  if (thrown instanceof SwitchboardError) return thrown.code.startsWith('store_') ? thrown : null
  const code = codeOf(thrown)
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  if (/^XX00[12]$/.test(code)) {
    return new SwitchboardError('store_corrupt', `the database is damaged: ${said}`, {
      hint: 'stop Switchboard and restore a backup of the database',
      cause: thrown,
    })
  }
  const known = AWAY.find(([pattern]) => pattern.test(code))
  if (known) return away(said, known[1], thrown)
  if (isConnectionLoss(thrown)) {
    return away(said, 'the database cannot be reached: it is tried again by itself', thrown)
  }
  return null
}

/** Whether the connection is unusable. */
export function isConnectionLoss(thrown: unknown): boolean {
  if (/^(08|57P0|25P0[23])/.test(codeOf(thrown))) return true
  if (/^E[A-Z]+$/.test(codeOf(thrown))) return true
  const said = thrown instanceof Error ? thrown.message : ''
  return /connection terminated|connection error|not queryable|timeout|client was closed|ended by/i.test(said)
}

function away(said: string, hint: string, cause: unknown): SwitchboardError {
  return new SwitchboardError('store_unavailable', `the database cannot be used now: ${said}`, {
    hint,
    retryAfterMs: 1000,
    cause,
  })
}

function codeOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return ''
  const { code } = thrown as { code?: unknown }
  return typeof code === 'string' ? code : ''
}
