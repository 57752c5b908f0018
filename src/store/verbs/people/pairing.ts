// Pairing codes: one live code per stranger, at most two replies to it, and a cap per integration. At the cap, the
// oldest code is set aside. Its stranger stays known for the code's hour, so a crowd that takes turns gets no more
// replies. If the real owner's code was set aside, their next message lists it again, and the code works again.
import type { Effect, NewSend, PairingRow, Right } from '../../../contract/index.ts'
import { pairingRow } from '../../codec.ts'
import { firstRow, rows, run, type Steps, text, whole, wholeOrNull } from '../../statement.ts'
import { hint, oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'
import { enqueueSends } from '../sends/enqueue.ts'
import { revokeOne } from './people.ts'

const MAX_REPLIES = 2
const MAX_PENDING_CODES = 50
/** The number of strangers remembered beyond the cap, so that a larger crowd cannot fill the store. */
const MAX_SET_ASIDE = 5_000

interface Paired {
  readonly outcome: 'new' | 'repeated' | 'muted'
  /** The reply with the valid code, or null when the stranger gets none. */
  readonly replyText: string | null
}

export function* pairStranger(
  context: VerbContext,
  effect: Extract<Effect, { kind: 'pair' }>,
): Steps<Paired> {
  const { integration, sender, reply } = effect
  yield* run('DELETE FROM pairings WHERE integration = $1 AND expires_at <= $2', [integration, context.now])
  for (;;) {
    const known = yield* pairKnown(context, effect)
    if (known) return known
    yield* makeRoom(integration)
    const code = yield* freeCode(context, effect.code)
    const written = yield* run(
      `INSERT INTO pairings (integration, sender, code, sender_name, conversation, replies, created_at, listed_at,
       expires_at) VALUES ($1, $2, $3, $4, $5, 1, $6, $6, $7) ON CONFLICT DO NOTHING`,
      [integration, sender, code, effect.senderName, effect.conversation, context.now, effect.expiresAt],
    )
    // Another node was faster: it has a code for this stranger, which is the one to send, or uses the same six digits.
    if (written === 0) continue
    recordFact(context, { kind: 'pairing', ref: sender, integration, to: 'pending' })
    hint(context, { kind: 'access' })
    return { outcome: 'new', replyText: replyWith(reply.text, code, effect.expiresAt - context.now) }
  }
}

/** Null: this stranger has no code yet. */
function* pairKnown(
  context: VerbContext,
  { integration, sender, reply }: Extract<Effect, { kind: 'pair' }>,
): Steps<Paired | null> {
  const live = yield* firstRow(
    'SELECT code, replies, listed_at, expires_at FROM pairings WHERE integration = $1 AND sender = $2 @lock',
    [integration, sender],
  )
  if (!live) return null
  if (wholeOrNull(live, 'listed_at') === null) yield* listAgain(context, integration, sender)
  if (whole(live, 'replies') >= MAX_REPLIES) return { outcome: 'muted', replyText: null }
  yield* run('UPDATE pairings SET replies = replies + 1 WHERE integration = $1 AND sender = $2', [
    integration,
    sender,
  ])
  const code = text(live, 'code')
  const leftMs = whole(live, 'expires_at') - context.now
  return { outcome: 'repeated', replyText: replyWith(reply.text, code, leftMs) }
}

function replyWith(text: string, code: string, leftMs: number): string {
  const minutes = Math.ceil(leftMs / 60_000)
  const left = minutes >= 60 ? 'one hour' : minutes === 1 ? 'one minute' : `${minutes} minutes`
  return text.replaceAll('{code}', () => code).replaceAll('{left}', () => left)
}

function* makeRoom(integration: string): Steps<void> {
  const held = yield* rows(
    'SELECT sender FROM pairings WHERE integration = $1 AND listed_at IS NOT NULL ORDER BY listed_at, sender',
    [integration],
  )
  const surplus = held.slice(0, Math.max(0, held.length - MAX_PENDING_CODES + 1))
  if (surplus.length === 0) return
  yield* run('UPDATE pairings SET listed_at = NULL WHERE integration = $1 AND sender @any($2)', [
    integration,
    surplus.map((row) => text(row, 'sender')),
  ])
  const aside = 'integration = $1 AND listed_at IS NULL'
  const last = yield* firstRow(
    `SELECT created_at FROM pairings WHERE ${aside} ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_SET_ASIDE}`,
    [integration],
  )
  if (!last) return
  yield* run(`DELETE FROM pairings WHERE ${aside} AND created_at <= $2`, [
    integration,
    whole(last, 'created_at'),
  ])
}

function* listAgain(context: VerbContext, integration: string, sender: string): Steps<void> {
  yield* makeRoom(integration)
  yield* run('UPDATE pairings SET listed_at = $3 WHERE integration = $1 AND sender = $2', [
    integration,
    sender,
    context.now,
  ])
  hint(context, { kind: 'access' })
}

/** Codes are short, so another stranger may have this one. */
function* freeCode(context: VerbContext, wanted: string): Steps<string> {
  let code = wanted
  for (;;) {
    const taken = yield* firstRow('SELECT code FROM pairings WHERE code = $1', [code])
    if (!taken) return code
    code = Buffer.from(context.random.bytes(3)).toString('hex')
  }
}

export interface PairingVerdict {
  readonly code: string
  readonly by: string
}

export interface PairingApproval extends PairingVerdict {
  /** Granted in addition to `talk`. */
  readonly rights: readonly Right[]
  /** The messages to the newcomer. */
  readonly words: readonly NewSend[]
}

/** Approves a code and grants its rights. Null: no such live code. */
export const approvePairing = oneByOne(function* (
  context: VerbContext,
  { code, by, rights, words }: PairingApproval,
): Steps<PairingRow | null> {
  const pairing = yield* takeCode(context, code)
  if (!pairing) return null
  const { integration, sender } = pairing
  const given: readonly Right[] = ['talk', ...rights]
  const before = yield* rows('SELECT access_right FROM grants WHERE integration = $1 AND sender = $2', [
    integration,
    sender,
  ])
  for (const row of before) {
    const right = text(row, 'access_right') as Right
    if (!right.startsWith('user:') || given.includes(right)) continue
    yield* revokeOne(context, { integration, sender, right, by })
  }
  for (const right of given) {
    yield* run(
      `INSERT INTO grants (integration, sender, access_right, granted_by, granted_at)
       VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
      [integration, sender, right, by, context.now],
    )
  }
  const fact = { kind: 'pairing', ref: sender, integration, from: 'pending', to: 'approved' } as const
  recordFact(context, fact, { by, rights: given.join(' ') })
  hint(context, { kind: 'access' })
  yield* enqueueSends(context, words)
  return pairing
})

export const denyPairing = oneByOne(function* (
  context: VerbContext,
  { code, by }: PairingVerdict,
): Steps<boolean> {
  const pairing = yield* takeCode(context, code)
  if (!pairing) return false
  const { integration, sender } = pairing
  recordFact(context, { kind: 'pairing', ref: sender, integration, from: 'pending', to: 'denied' }, { by })
  hint(context, { kind: 'access' })
  return true
})

function* takeCode(context: VerbContext, code: string): Steps<PairingRow | null> {
  const row = yield* firstRow(
    'SELECT * FROM pairings WHERE code = $1 AND listed_at IS NOT NULL AND expires_at > $2 @lock',
    [code, context.now],
  )
  if (!row) return null
  yield* run('DELETE FROM pairings WHERE code = $1', [code])
  return pairingRow(row)
}
