// The platform `chorus`: Switchboard is the agent. A service posts to /inbox/SECRET. The agent's messages go to the
// callback of the delivery that they answer, between `processing` and `idle`.
import {
  type Abilities,
  asSwitchboardError,
  type Cancel,
  type HttpReply,
  inSlices,
  NO_TEXT_LIMIT,
  type PlatformAdapter,
  type PlatformDeps,
  type PlatformIntake,
  rowPosition,
  type SendRequest,
  SwitchboardError,
  type TurnState,
  type VerifiedRequest,
} from '../../contract/index.ts'
import { createGuardedFetch, createJwtVerifier, type GuardedFetch } from '../../kit/index.ts'
import { createCallbackLines } from './callback-line.ts'
import { readConfig } from './config.ts'
import { createEndings, OVER } from './endings.ts'
import { parseBody, toEvent } from './parse.ts'
import {
  CALLBACK_LIFE_MS,
  createRecentDeliveries,
  type Keeping,
  type KeptDelivery,
} from './recent-deliveries.ts'
import { answerTo, eventOf, jsonReply, problemReply, toolEvent } from './render.ts'
import { verifyRequest } from './verify.ts'

const ABILITIES: Abilities = {
  textLimit: NO_TEXT_LIMIT,
  typing: true,
  senderIdIsNotAChat: true,
  // We send an event_id, but the protocol does not require services to check it.
  idempotentSend: false,
}

const PRUNE_EVERY_MS = 3_600_000
const FAILED = ['failed', 'expired']

/** Throws `config_invalid` for invalid options. `fetch` is for tests. */
export function createChorus(
  deps: PlatformDeps,
  fetch: GuardedFetch = createGuardedFetch(deps),
): PlatformAdapter {
  const config = readConfig(deps)
  const tokens = config.jwt === null ? null : createJwtVerifier(config.jwt, { clock: deps.clock, fetch })
  const recent = createRecentDeliveries(deps.credentials, deps.clock)
  const notInOrder = (thrown: unknown) =>
    deps.log.warn({ problem: String(thrown) }, 'a callback is not kept in order')
  const quietly = (work: Promise<unknown>) => void work.catch(notInOrder)
  const lines = createCallbackLines({
    clock: deps.clock,
    fetch,
    allowPrivate: config.allowPrivate,
    onGone(kept) {
      kept.gone = true
      quietly(recent.forget(kept))
    },
  })
  const endings = createEndings({
    clock: deps.clock,
    log: deps.log,
    transcript: deps.transcript,
    recent,
    lines,
  })
  let intake: PlatformIntake | null = null
  let cancelPruning: Cancel = () => undefined

  const receive = async (verified: VerifiedRequest): Promise<HttpReply> => {
    if (verified.request.method === 'GET') {
      return jsonReply(200, { name: config.name, protocol: 'chorus', version: '0.1' })
    }
    if (intake === null) throw new SwitchboardError('draining', 'the integration is not started')
    const now = deps.clock.now()
    const parsed = parseBody(verified.request.body, now, config.allowPrivate)
    if (!parsed.ok) {
      await intake.receive([parsed.event])
      return problemReply(parsed.problem)
    }
    const events = parsed.deliveries.map((one) => toEvent(one, now, recent.mcpReference(one)))
    // Both before the 200, because a message without its callback could not be answered.
    const keeping = Promise.all(parsed.deliveries.map((one, index) => recent.keep(one, now + index / 1_000)))
    const [received, keepings] = await Promise.all([intake.receive(events), keeping])
    // In reverse order, so that a delivery that is twice in a batch undoes its own keeping.
    for (const [index, one] of [...keepings.entries()].reverse()) await settle(one, received[index]?.state)
    return answerTo(received)
  }

  const settle = async ({ kept, fresh, takeBack }: Keeping, state: TurnState | undefined) => {
    if (state === undefined || state === 'refused') {
      // Over a limit even a repeat is refused. A copy of another node is overwritten, because the newer one counts.
      if (!fresh || !(await endings.isOpen(kept))) await takeBack()
    } else if (state === 'consumed') await recent.close(kept)
    else if (OVER.includes(state)) {
      if (fresh || kept.done) await recent.close(kept)
      else endings.end(kept, state)
    }
  }

  /** Returns the delivery that a message answers: its turn's own, else the channel's newest. */
  const deliveryFor = async ({ to, turn }: SendRequest): Promise<KeptDelivery | null> => {
    if (turn === undefined) return recent.newest(to.conversation)
    const row = await turnRow(to.conversation, turn)
    const own =
      row?.platformMessageId === undefined ? null : await recent.find(to.conversation, row.platformMessageId)
    if (own && row && own.ended === null && OVER.includes(row.state)) own.ended = row.state
    return own ?? recent.newest(to.conversation)
  }

  const turnRow = async (conversation: string, turn: string) => {
    const seq = rowPosition(turn)
    if (seq === null) return null
    const at = { afterSeq: seq - 1, beforeSeq: seq + 1, limit: 1 }
    const [row] = await deps.transcript({ conversation, direction: 'in', ...at })
    return row?.id === turn ? row : null
  }

  const send = async (request: SendRequest) => {
    const kept = await deliveryFor(request)
    if (!kept) {
      throw new SwitchboardError('platform_rejected', 'no callback is kept for this channel', {
        hint: 'the service has to speak first; a callback is kept for 24 hours',
      })
    }
    const event = eventOf(request, FAILED.includes(kept.ended ?? ''))
    try {
      // Output after the end, or without a turn, is not part of a turn.
      await lines.post(kept, event, { first: !kept.done && request.turn !== undefined })
      kept.owing = null
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      const triedAgain = error.nature.retryable || error.code === 'outcome_unknown'
      kept.owing = triedAgain ? request.key : null
      throw error
    } finally {
      endings.lookAgain(kept)
    }
    return { platformIds: [request.key] }
  }

  /** An earlier run may have died between an answer and its `idle`. This runs in slices beside new messages. */
  const takeUp = async (left: readonly KeptDelivery[]) => {
    const before = deps.clock.now() - CALLBACK_LIFE_MS
    await recent.prune(before)
    const open = left.filter((kept) => !kept.done && kept.at >= before)
    await inSlices(open, deps.clock, (kept) => endings.resume(kept).catch(notInOrder), {
      stopped: () => intake === null,
    })
  }

  const keepPruning = () => {
    cancelPruning = deps.clock.after(PRUNE_EVERY_MS, () => {
      quietly(recent.prune(deps.clock.now() - CALLBACK_LIFE_MS))
      keepPruning()
    })
  }

  return {
    abilities: ABILITIES,
    endpoint: {
      at: 'inbox',
      answersRefusals: true,
      verify: (request) => verifyRequest(config, request, tokens?.judge ?? null),
      handle: receive,
    },
    async start(given) {
      const left = await recent.load()
      intake = given
      quietly(takeUp(left))
      keepPruning()
    },
    send,
    signal(to, signal) {
      if (signal.kind === 'status') {
        if (signal.call) return
        const working = recent.working(to.conversation)
        if (working) lines.hint(working, { type: 'status', status: signal.text })
      } else if (signal.kind === 'tool') {
        quietly(
          recent.find(to.conversation, signal.messageId).then(async (kept) => {
            // Like every signal it may be lost. The agent's messages may not.
            if (kept && !kept.done && !kept.gone)
              await lines.post(kept, toolEvent(signal)).catch(() => undefined)
          }),
        )
      } else if (signal.kind === 'turn_state') {
        quietly(
          recent.find(to.conversation, signal.messageId).then((kept) => {
            if (!kept || kept.done) return
            if (signal.state === 'handed') lines.hint(kept, { type: 'lifecycle', status: 'processing' })
            else if (OVER.includes(signal.state)) endings.end(kept, signal.state)
          }),
        )
      }
    },
    link: {
      state() {
        if (intake === null) return { state: 'connecting' }
        const problem = tokens?.problem() ?? null
        return problem === null
          ? { state: 'up' }
          : { state: 'down', detail: `no delivery can be verified: ${problem}` }
      },
    },
    async stop() {
      intake = null
      cancelPruning()
      endings.stop()
    },
  }
}
