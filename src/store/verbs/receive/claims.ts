// Claims and routes. A claim is offered in the commit that records `sent`. It is taken by compare-and-set: by a tap, or
// by the next plain message in the commit of its row. A route says where an address leads while that is not its own
// session. There is one route per address, so a second message follows the first.
import {
  type Address,
  type ClaimOffer,
  type ClaimTexts,
  conversationLane,
  type Effect,
  type EffectResult,
  formatAddress,
  type NewSend,
  type OutboundOp,
  parseAddress,
  type RouteRow,
  type SendMove,
  type SendRow,
} from '../../../contract/index.ts'
import { firstRow, type Row, rows, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { oneByOne, recordFact, type Verb, type VerbContext } from '../../verb-context.ts'
import { enqueueSends } from '../sends/enqueue.ts'

const CLAIM_LIFE_MS = 24 * 3_600_000

export interface Place {
  readonly at: Address
  readonly platform: string
}

/**
 * Writes the claim with the move to `sent`. Without a message id from the platform there is nothing to reply to, and
 * no claim.
 */
export function* offerClaim(
  context: VerbContext,
  send: SendRow,
  offer: ClaimOffer,
  { platformIds, conversation = send.conversation }: Pick<SendMove, 'platformIds' | 'conversation'>,
): Steps<void> {
  const messageId = platformIds?.at(-1)
  if (messageId === undefined) return
  const at = { integration: send.integration, conversation }
  context.claimless = false
  const added = yield* run(
    `INSERT INTO claims (place, message_id, integration, conversation, thread, session, agent, label, state, send,
     created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9, $10, $11)
     ON CONFLICT (place, message_id) DO NOTHING`,
    [
      conversationLane(at),
      messageId,
      at.integration,
      at.conversation,
      send.thread ?? '',
      offer.session,
      offer.agent,
      offer.label,
      send.seq,
      context.now,
      context.now + CLAIM_LIFE_MS,
    ],
  )
  if (added === 0) return
  const fact = { kind: 'claim', ref: messageId, integration: at.integration, to: 'open' }
  recordFact(context, fact, { session: offer.session, send: send.id })
}

export interface LiveClaim extends ClaimOffer {
  readonly place: string
  readonly thread: string
  readonly messageId: string
  readonly state: string
  readonly send: number
  readonly expired: boolean
}

const CLAIM = 'place, thread, message_id, session, agent, label, state, send, expires_at'

function liveClaim(context: VerbContext, row: Row): LiveClaim {
  return {
    place: text(row, 'place'),
    thread: text(row, 'thread'),
    messageId: text(row, 'message_id'),
    session: text(row, 'session'),
    agent: text(row, 'agent'),
    label: text(row, 'label'),
    state: text(row, 'state'),
    send: whole(row, 'send'),
    expired: whole(row, 'expires_at') <= context.now,
  }
}

/** Returns the places with a route or a valid claim. The others need no further lookup. */
export function* placesWithClaims(
  context: VerbContext,
  places: readonly string[],
): Steps<ReadonlySet<string>> {
  if (places.length === 0 || (yield* isClaimless(context))) return new Set()
  const found = yield* rows(
    `SELECT place FROM routes WHERE place @any($1)
     UNION SELECT place FROM claims WHERE place @any($1) AND expires_at > $2`,
    [[...new Set(places)], context.now],
  )
  return new Set(found.map((row) => text(row, 'place')))
}

/** Without any claims, no message pays for the lookup. */
function* isClaimless(context: VerbContext): Steps<boolean> {
  if (context.claimless || !context.memory.lanes) return context.claimless
  const any = yield* firstRow('SELECT 1 AS there FROM routes UNION ALL SELECT 1 FROM claims LIMIT 1')
  context.claimless = any === undefined
  return context.claimless
}

/** Returns the claim of one of these messages, unless the person kept the chat. */
export function* claimAnswered(
  context: VerbContext,
  at: Address,
  messageIds: readonly string[],
): Steps<LiveClaim | null> {
  if (messageIds.length === 0) return null
  const row = yield* firstRow(
    `SELECT ${CLAIM} FROM claims WHERE place = $1 AND message_id @any($2) AND state <> 'kept' AND expires_at > $3`,
    [conversationLane(at), messageIds, context.now],
  )
  return row ? liveClaim(context, row) : null
}

/** Returns the newest open claim that was offered by then. */
export function* newestOpenClaim(
  context: VerbContext,
  at: Address,
  offeredBy: number,
): Steps<LiveClaim | null> {
  const row = yield* firstRow(
    `SELECT ${CLAIM} FROM claims WHERE place = $1 AND thread = $2 AND state = 'open' AND expires_at > $3
     AND created_at <= $4 ORDER BY created_at DESC, send DESC LIMIT 1`,
    [conversationLane(at), at.thread ?? '', context.now, offeredBy],
  )
  return row ? liveClaim(context, row) : null
}

/** Returns where a claim leads the address; null: to its own session. */
export function* routeOf(at: Address): Steps<RouteRow | null> {
  const row = yield* firstRow('SELECT * FROM routes WHERE place = $1 AND thread = $2', [
    conversationLane(at),
    at.thread ?? '',
  ])
  return row ? { ...routeRow(row), address: formatAddress(at) } : null
}

function routeRow(row: Row): Omit<RouteRow, 'address'> {
  return {
    session: text(row, 'session'),
    agent: text(row, 'agent'),
    label: text(row, 'label'),
    messageId: text(row, 'message_id'),
    since: whole(row, 'since'),
  }
}

/** Whether the agent is configured and its session exists. */
export function* isReachable(offer: ClaimOffer, agents: readonly string[]): Steps<boolean> {
  if (!agents.includes(offer.agent)) return false
  const session = yield* firstRow('SELECT agent FROM sessions WHERE id = $1', [offer.session])
  return session !== undefined && text(session, 'agent') === offer.agent
}

/**
 * Takes the claim and sets the route to its session. Other open claims of the place are passed over. False: another
 * message was first.
 */
export function* takeClaim(
  context: VerbContext,
  claim: LiveClaim,
  by: string,
  from: readonly string[],
): Steps<boolean> {
  if (!(yield* settleClaim(context, claim, { to: 'claimed', by, from }))) return false
  yield* run(
    `UPDATE claims SET state = 'passed' WHERE place = $1 AND thread = $2 AND state = 'open' AND message_id <> $3`,
    [claim.place, claim.thread, claim.messageId],
  )
  context.claimless = false
  yield* run(
    `INSERT INTO routes (place, thread, session, agent, label, message_id, since) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (place, thread) DO UPDATE SET session = excluded.session, agent = excluded.agent,
     label = excluded.label, message_id = excluded.message_id, since = excluded.since`,
    [claim.place, claim.thread, claim.session, claim.agent, claim.label, claim.messageId, context.now],
  )
  return true
}

export interface Settling {
  readonly to: 'claimed' | 'kept' | 'passed'
  readonly by: string
  readonly from: readonly string[]
}

export function* settleClaim(
  context: VerbContext,
  claim: Pick<LiveClaim, 'place' | 'messageId' | 'session'>,
  { to, by, from }: Settling,
): Steps<boolean> {
  const changed = yield* run(
    `UPDATE claims SET state = $3, decided_by = $4, decided_at = $5 WHERE place = $1 AND message_id = $2
     AND state @any($6)`,
    [claim.place, claim.messageId, to, by, context.now, from],
  )
  if (changed === 0) return false
  const integration = parseAddress(claim.place).integration
  recordFact(
    context,
    { kind: 'claim', ref: claim.messageId, integration, to },
    { by, session: claim.session },
  )
  return true
}

/** Updates the message that offered the claim with the outcome. If it cannot be edited, a new message is sent. */
export function* showDecided(
  context: VerbContext,
  { at, platform }: Place,
  claim: LiveClaim,
  note: { readonly text: string; readonly canEdit: boolean },
): Steps<void> {
  const row = yield* firstRow('SELECT op FROM outbox WHERE seq = $1', [claim.send])
  const stored = row ? textOrNull(row, 'op') : null
  const op = stored === null ? null : (JSON.parse(stored) as OutboundOp)
  const said = op?.kind === 'text' ? `${op.text}\n\n` : ''
  const shown: OutboundOp = note.canEdit
    ? { kind: 'edit', on: claim.messageId, text: said + note.text }
    : { kind: 'text', text: note.text }
  yield* enqueueSends(context, [notice({ at, platform }, claim, shown)])
}

export function* tellUnreachable(
  context: VerbContext,
  place: Place,
  offer: ClaimOffer,
  texts: ClaimTexts,
): Steps<void> {
  const op: OutboundOp = {
    kind: 'text',
    text: texts.unreachable.replaceAll('{label}', () => offer.label),
  }
  yield* enqueueSends(context, [notice(place, offer, op)])
}

function notice({ at, platform }: Place, offer: ClaimOffer, op: OutboundOp): NewSend {
  return { to: at, platform, op, cause: 'notice', agent: offer.agent, session: offer.session, turn: null }
}

type ClaimEffect = Extract<Effect, { kind: 'claim' }>

/** Applies a tap. A claim that was passed over can still be tapped; an expired or decided one cannot. */
export function* applyTap(
  context: VerbContext,
  platform: string,
  effect: ClaimEffect,
): Steps<Extract<EffectResult, { kind: 'claimed' }>> {
  const row = yield* firstRow(`SELECT ${CLAIM} FROM claims WHERE place = $1 AND message_id = $2 @lock`, [
    conversationLane(effect.at),
    effect.on,
  ])
  if (!row) return { kind: 'claimed', outcome: 'none', label: null }
  const claim = liveClaim(context, row)
  const { label } = claim
  const place = { at: effect.at, platform }
  if (claim.expired || (claim.state !== 'open' && claim.state !== 'passed'))
    return { kind: 'claimed', outcome: 'late', label }
  if (effect.verdict === 'keep') {
    yield* settleClaim(context, claim, { to: 'kept', by: effect.by, from: ['open', 'passed'] })
    yield* showDecided(context, place, claim, { text: effect.texts.kept, canEdit: effect.canEdit })
    return { kind: 'claimed', outcome: 'kept', label }
  }
  if (!(yield* isReachable(claim, effect.agents))) {
    yield* settleClaim(context, claim, { to: 'passed', by: effect.by, from: ['open', 'passed'] })
    yield* tellUnreachable(context, place, claim, effect.texts)
    return { kind: 'claimed', outcome: 'unreachable', label }
  }
  yield* takeClaim(context, claim, effect.by, ['open', 'passed'])
  yield* showDecided(context, place, claim, { text: effect.texts.threaded, canEdit: effect.canEdit })
  return { kind: 'claimed', outcome: 'claimed', label }
}

/** Returns the address to its own session. Null: it already leads there. */
export function* endRoute(
  context: VerbContext,
  at: Address,
  why: 'back' | 'given_back',
  session?: string,
): Steps<RouteRow | null> {
  const route = yield* routeOf(at)
  if (!route || (session !== undefined && route.session !== session)) return null
  const gone = yield* run('DELETE FROM routes WHERE place = $1 AND thread = $2 AND session = $3', [
    conversationLane(at),
    at.thread ?? '',
    route.session,
  ])
  if (gone === 0) return null
  recordFact(
    context,
    { kind: 'route', ref: route.address, integration: at.integration, from: route.session, to: why },
    { label: route.label },
  )
  return route
}

export interface GiveBackCall {
  readonly at: Address
  readonly session: string
  readonly words: readonly NewSend[]
}

export const giveBack: Verb<GiveBackCall, RouteRow | null> = oneByOne(function* (context, call) {
  const { at, session } = call
  const route = yield* endRoute(context, at, 'given_back', session)
  if (!route) return null
  const claim = { place: conversationLane(at), messageId: route.messageId, session }
  yield* settleClaim(context, claim, { to: 'passed', by: 'switchboard', from: ['claimed'] })
  yield* enqueueSends(
    context,
    call.words.map((send) => labelled(send, route.label)),
  )
  return route
})

function labelled(send: NewSend, label: string): NewSend {
  const { op } = send
  return op.kind === 'text'
    ? { ...send, op: { ...op, text: op.text.replaceAll('{label}', () => label) } }
    : send
}
