// The effects of a received item, in the commit of its row: notices, verdicts, /new, /stop, pairing codes.
import type {
  Address,
  Effect,
  EffectResult,
  NewSend,
  NewTurn,
  OutboundOp,
  SendCause,
} from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Steps } from '../../statement.ts'
import type { VerbContext } from '../../verb-context.ts'
import { decideApproval } from '../people/approvals.ts'
import { pairStranger } from '../people/pairing.ts'
import { hearLaterWord } from '../sends/delivery-report.ts'
import { enqueueSends } from '../sends/enqueue.ts'
import { raiseGeneration } from '../turns/sessions.ts'
import { filled, leaveRoute, stopSession, tellSession } from './chat-commands.ts'
import { applyTap, endRoute } from './claims.ts'
import { askForTakeover } from './takeovers.ts'
import { withdrawMessage } from './withdraw.ts'

export interface Origin {
  readonly turn: NewTurn
  /** Null when the item left no row. */
  readonly id: string | null
  readonly session: string | null
}

/** Returns one result per effect, in order. */
export function* applyEffects(
  context: VerbContext,
  origin: Origin,
  effects: readonly Effect[],
): Steps<readonly EffectResult[]> {
  const results: EffectResult[] = []
  for (const effect of effects) results.push(yield* applyEffect(context, origin, effect))
  return results
}

function* applyEffect(context: VerbContext, origin: Origin, effect: Effect): Steps<EffectResult> {
  switch (effect.kind) {
    case 'send': {
      const said = answer(origin, effect.to, effect.op, effect.cause)
      const shows = effect.approval === undefined ? {} : { approval: effect.approval }
      const [sent] = yield* enqueueSends(context, [{ ...said, ...shows }])
      return { kind: 'sent_to_outbox', id: sent?.id ?? '' }
    }
    case 'decide':
      return yield* applyVerdict(context, origin, effect)
    case 'new_session':
      // A fresh start takes place in the address's own chat.
      yield* endRoute(context, effect.at, 'back')
      return { kind: 'session', session: yield* raiseGeneration(context, effect.agent, effect.at) }
    case 'cancel_session': {
      const stopped = yield* stopSession(context, effect)
      yield* say(context, origin, effect.at, stopped.said)
      return { kind: 'cancelled', ...stopped }
    }
    case 'tell_session':
    case 'route_back': {
      const telling = effect.kind === 'tell_session'
      const said = telling ? yield* tellSession(context, effect) : yield* leaveRoute(context, effect)
      yield* say(context, origin, effect.at, said)
      return { kind: 'answered', said }
    }
    case 'ask_person':
      return yield* applyAsk(context, origin, effect)
    case 'claim':
      return yield* applyTap(context, origin.turn.platform, effect)
    case 'withdraw':
      return { kind: 'withdrawn', turns: yield* withdrawMessage(context, effect) }
    case 'later_word':
      return {
        kind: 'reported',
        changed: yield* hearLaterWord(context, origin.turn.at.integration, effect),
      }
    case 'pair': {
      const { outcome, replyText } = yield* pairStranger(context, effect)
      if (replyText !== null) {
        const op: OutboundOp = { kind: 'text', text: replyText }
        yield* enqueueSends(context, [answer(origin, effect.reply.to, op, 'pairing')])
      }
      return { kind: 'paired', outcome }
    }
  }
}

function* applyAsk(
  context: VerbContext,
  origin: Origin,
  { at, agent, by, texts }: Extract<Effect, { kind: 'ask_person' }>,
): Steps<EffectResult> {
  const order = { at, platform: origin.turn.platform, agent, by, reason: null, summary: null }
  const result = yield* askForTakeover(context, order)
  const { state, holderName } = result.takeover
  const words = result.asked ? texts.asked : state === 'held' ? texts.held : texts.before
  yield* say(context, origin, at, filled(words, { agent, name: holderName ?? '' }))
  return { kind: 'person', ...result }
}

function* say(context: VerbContext, origin: Origin, to: Address, text: string): Steps<void> {
  yield* enqueueSends(context, [answer(origin, to, { kind: 'text', text }, 'notice')])
}

function answer(origin: Origin, to: Address, op: OutboundOp, cause: SendCause): NewSend {
  const { turn, session, id } = origin
  return { to, platform: turn.platform, op, cause, agent: turn.agent, session, turn: id }
}

function* applyVerdict(
  context: VerbContext,
  origin: Origin,
  effect: Extract<Effect, { kind: 'decide' }>,
): Steps<EffectResult> {
  const { behavior, by, via } = effect
  const decided = yield* decideApproval(context, { id: effect.approval, behavior, by, via, cause: 'person' })
  if (!decided.won && effect.ifLate) {
    const words = wordsIn().approvals
    const how = decided.approval ? words.late(decided.approval) : words.gone
    // A function, so that a `$&` in a name stays text.
    const op: OutboundOp = { kind: 'text', text: effect.ifLate.text.replaceAll('{how}', () => how) }
    yield* enqueueSends(context, [answer(origin, effect.ifLate.to, op, 'notice')])
  }
  return { kind: 'decided', ...decided }
}
