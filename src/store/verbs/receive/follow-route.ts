// Where a received message goes: to the session whose message it answers, to the one whose claim it takes, along the
// route, or to the address's own session. This happens in the commit of its row, so two simultaneous messages claim
// only once.
import type { ClaimRules, NewTurn, ReceiveItem, ReceiveResult } from '../../../contract/index.ts'
import { conversationLane } from '../../../contract/index.ts'
import type { Steps } from '../../statement.ts'
import type { VerbContext } from '../../verb-context.ts'
import {
  claimAnswered,
  endRoute,
  isReachable,
  newestOpenClaim,
  type Place,
  placesWithClaims,
  routeOf,
  settleClaim,
  showDecided,
  takeClaim,
  tellUnreachable,
} from './claims.ts'

export type Routed = NonNullable<ReceiveResult['routed']>

/** Returns the items that need individual handling, because their place has a route or a claim. */
export function* itemsUnderClaim(
  context: VerbContext,
  items: readonly ReceiveItem[],
): Steps<ReadonlySet<ReceiveItem>> {
  const asking = items.filter((item) => item.claims !== undefined && item.keepRow && item.state === 'queued')
  if (asking.length === 0) return new Set()
  const places = yield* placesWithClaims(
    context,
    asking.map((item) => conversationLane(item.turn.at)),
  )
  if (places.size === 0) return new Set()
  return new Set(asking.filter((item) => places.has(conversationLane(item.turn.at))))
}

/**
 * Returns where the message goes, and takes a claim if it leads there. Null: to the address's own session. Call it
 * only for a message that is not a duplicate.
 */
export function* follow(context: VerbContext, turn: NewTurn, rules: ClaimRules): Steps<Routed | null> {
  const place: Place = { at: turn.at, platform: turn.platform }
  const answered = yield* claimAnswered(context, turn.at, rules.answers)
  if (answered) {
    if (yield* isReachable(answered, rules.agents)) return routed('answer', answered)
    yield* settleClaim(context, answered, { to: 'passed', by: turn.sender, from: ['open', 'claimed'] })
    yield* tellUnreachable(context, place, answered, rules.texts)
  }
  if (rules.takesNewest) {
    const taken = yield* takeNewest(context, place, turn, rules)
    if (taken) return taken
  }
  const route = yield* routeOf(turn.at)
  if (!route) return null
  if (yield* isReachable(route, rules.agents)) return routed('route', route)
  yield* endRoute(context, turn.at, 'given_back', route.session)
  const claim = { place: conversationLane(turn.at), messageId: route.messageId, session: route.session }
  yield* settleClaim(context, claim, { to: 'passed', by: 'switchboard', from: ['claimed'] })
  yield* tellUnreachable(context, place, route, rules.texts)
  return null
}

function* takeNewest(
  context: VerbContext,
  place: Place,
  { sender, lateAt }: NewTurn,
  rules: ClaimRules,
): Steps<Routed | null> {
  // A message from before the offer cannot refer to it, however late it arrives.
  const claim = yield* newestOpenClaim(context, place.at, lateAt ?? Number.MAX_SAFE_INTEGER)
  if (!claim) return null
  if (!(yield* isReachable(claim, rules.agents))) {
    // Reported once: later messages ignore the claim, and a tap may try again.
    if (yield* settleClaim(context, claim, { to: 'passed', by: sender, from: ['open'] })) {
      yield* tellUnreachable(context, place, claim, rules.texts)
    }
    return null
  }
  if (!(yield* takeClaim(context, claim, sender, ['open']))) return null
  yield* showDecided(context, place, claim, { text: rules.texts.threaded, canEdit: rules.canEdit })
  return routed('claim', claim)
}

function routed(
  by: Routed['by'],
  { session, agent, label }: { readonly session: string; readonly agent: string; readonly label: string },
): Routed {
  return { by, session, agent, label }
}

/** Returns the turn with a note for the session when a plain message switched to it. */
export function switched(turn: NewTurn, { by, agent, label }: Routed): NewTurn {
  const { body } = turn
  if (by !== 'claim' || !body) return { ...turn, agent }
  return { ...turn, agent, body: { ...body, text: `[Switched to ${label} thread]\n\n${body.text}` } }
}
