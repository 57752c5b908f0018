// /stop, /status and /back in the commit of their message. The target of the address and its open turns are read inside
// that commit, so the answer also covers messages received with it.
import {
  type Address,
  type Effect,
  RESTING_REASONS,
  rowId,
  type Stopped,
  sessionKey,
} from '../../../contract/index.ts'
import { HANDED_OR_SEEN } from '../../in-flight.ts'
import { type Row, rows, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { hint, recordMove, type VerbContext } from '../../verb-context.ts'
import { breakLane, lockLanes } from '../turns/lanes.ts'
import { currentSessions, factsOfSession } from '../turns/sessions.ts'
import { endRoute, routeOf } from './claims.ts'

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>

/** Where an address leads: its own session, if it has one, or the session that claimed it. */
interface Lead {
  readonly agent: string
  readonly session: string | null
  /** Sessions from before /new in this place that still have open turns. */
  readonly earlier: readonly string[]
  /** The label of the thread that claimed it. */
  readonly label: string | null
}

function* leadOf(context: VerbContext, agent: string, at: Address): Steps<Lead> {
  const route = yield* routeOf(at)
  if (route) return { ...route, earlier: [] }
  const key = sessionKey(agent, at)
  const own = (yield* currentSessions(context, [key])).get(key)
  const earlier = own && own.generation > 1 ? yield* openBefore(key, own.generation) : []
  return { agent, session: own?.id ?? null, earlier, label: null }
}

// Queries the indexes of open turns, one lookup each.
function* openBefore(key: string, generation: number): Steps<readonly string[]> {
  const found = yield* rows(
    `SELECT s.id FROM sessions s WHERE s.session_key = $1 AND s.generation < $2 AND (
       ${HANDED_OR_SEEN.map((state) => `EXISTS (SELECT 1 FROM turns WHERE lane = s.seq AND ${state})`).join(' OR ')} OR
       EXISTS (SELECT 1 FROM turns t WHERE t.lane = s.seq AND t.state = 'queued')) ORDER BY s.generation`,
    [key, generation],
  )
  return found.map((row) => text(row, 'id'))
}

interface OpenTurns {
  readonly all: readonly Row[]
  readonly queued: number
  /** Turns in work, without those that the agent acknowledged and left. */
  readonly running: number
}

function* openTurns(context: VerbContext, session: string, lock: '@lock' | ''): Steps<OpenTurns> {
  const lane = (yield* factsOfSession(context, session))?.seq ?? 0
  const inState = (state: string) =>
    rows(
      `SELECT seq, integration, state, reason, sender FROM turns WHERE lane = $1 AND ${state} ORDER BY seq ${lock}`,
      [lane],
    )
  const held: Row[] = []
  for (const state of HANDED_OR_SEEN) held.push(...(yield* inState(state)))
  const waiting = yield* inState(`state = 'queued'`)
  const running = held.filter((row) => !RESTING_REASONS.includes(textOrNull(row, 'reason')))
  return { all: [...held, ...waiting], queued: waiting.length, running: running.length }
}

function only(open: OpenTurns, sender: string): OpenTurns {
  const all = open.all.filter((row) => text(row, 'sender') === sender)
  const queued = all.filter((row) => text(row, 'state') === 'queued').length
  const resting = all.filter((row) => RESTING_REASONS.includes(textOrNull(row, 'reason'))).length
  return { all, queued, running: all.length - queued - resting }
}

/**
 * Fails open turns as cancelled. If no turn is left in flight, the token grows, so a running hand-over cannot settle.
 * If turns of others remain, their lane stays with its holder, who gets a hint about the ended ones.
 */
export function* stopSession(
  context: VerbContext,
  { agent: own, at, sender, stoppable, texts }: EffectOf<'cancel_session'>,
): Steps<Stopped> {
  const { agent, session, earlier } = yield* leadOf(context, own, at)
  if (session === null) return { agent, turns: [], said: texts.none }
  const sessions = [...earlier, session]
  // Lanes first, turns second: every verb locks in this order.
  yield* lockLanes(context, 'turns', sessions)
  const ended: string[] = []
  let [count, running, leavesOthers] = [0, 0, false]
  for (const one of sessions) {
    const found = yield* openTurns(context, one, '@lock')
    const open = sender === null ? found : only(found, sender)
    if (found.all.length > open.all.length) leavesOthers = true
    else yield* breakLane(context, 'turns', one)
    ended.push(...(yield* cancel(context, open.all)))
    count += open.queued + open.running
    running += open.running
  }
  if (count === 0) return { agent, turns: ended, said: leavesOthers ? texts.noneOfYours : texts.none }
  const stopped = count === 1 ? texts.one : texts.many
  const runsOn = running > 0 && !stoppable.includes(agent) ? texts.runsOn : ''
  return { agent, turns: ended, said: filled(stopped + runsOn, { agent, count }) }
}

function* cancel(context: VerbContext, found: readonly Row[]): Steps<readonly string[]> {
  if (found.length === 0) return []
  const open = found.toSorted((one, other) => whole(one, 'seq') - whole(other, 'seq'))
  yield* run(`UPDATE turns SET state = 'failed', reason = 'cancelled', updated_at = $2 WHERE seq @any($1)`, [
    open.map((row) => whole(row, 'seq')),
    context.now,
  ])
  return open.map((row) => {
    const id = rowId('t', context.tag, whole(row, 'seq'))
    recordMove(context, {
      kind: 'turn',
      id,
      integration: text(row, 'integration'),
      from: text(row, 'state'),
      fromReason: null,
      to: 'failed',
      reason: 'cancelled',
    })
    hint(context, { kind: 'turn', id })
    return id
  })
}

export function* tellSession(
  context: VerbContext,
  { agent: own, at, attached, texts }: EffectOf<'tell_session'>,
): Steps<string> {
  const { agent, session, earlier, label } = yield* leadOf(context, own, at)
  let [queued, running] = [0, 0]
  for (const one of session === null ? [] : [...earlier, session]) {
    const open = yield* openTurns(context, one, '')
    queued += open.queued
    running += open.running
  }
  const told = attached.includes(agent) ? texts.attached : texts.offline
  const thread = label === null ? '' : texts.thread
  return filled(told + thread, { agent, queued, running, label: label ?? '' })
}

export function* leaveRoute(context: VerbContext, { at, texts }: EffectOf<'route_back'>): Steps<string> {
  const route = yield* endRoute(context, at, 'back')
  return route ? filled(texts.left, { label: route.label }) : texts.home
}

/** Fills all placeholders in one pass, so a `{count}` in a name stays text. */
export function filled(words: string, values: Readonly<Record<string, string | number>>): string {
  return words.replaceAll(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all))
}
