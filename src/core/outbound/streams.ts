// Shows answers while they are written. Some platforms draw them from signals; on others, one message is edited:
//
//   first text ──▶ the answer's own outbox row, with `partial` ──sent──▶ shown ──more text──▶ revised, lossy, paced
//   final text ──▶ the same row becomes the whole (store: finishStream) ──▶ the shown message is made to show it
//
// The state here is lost with the process, and nothing depends on it. The row, its message and the turn are durable,
// and the sender ends unfinished rows (stream-rows.ts). An edit never overtakes the final text, which waits for it.
import {
  asSwitchboardError,
  type Cancel,
  type Clock,
  createBoundedMap,
  type Logger,
  type NewSend,
  OPEN_TURN_STATES,
  type SendRow,
  type Settings,
  type Store,
  type StreamingByEdits,
  streamKey,
  type TurnRow,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Links } from '../links.ts'
import type { Admission } from '../people/admission.ts'
import { rowAddress, type SignalSink } from '../signals.ts'
import type { Outlet } from './outlet.ts'
import { quoteOf } from './quoting.ts'

export interface StreamsDeps {
  readonly store: Pick<Store, 'sends' | 'turn'>
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly links: Pick<Links, 'get'>
  readonly outlet: Pick<Outlet, 'rows' | 'put'>
  readonly signal: SignalSink
  /** Checked before each update: text of a sender without access is no longer shown. */
  readonly admission: Pick<Admission, 'atOnce' | 'ofTurn' | 'ofSend'>
}

export interface Streams {
  /** Updates the answer to a turn with its text so far. Never waits. */
  partial(turn: TurnRow, text: string): void
  /** The beginning of the answer is shown now. */
  shown(row: SendRow, platformIds: readonly string[]): void
  /** The latest text of a turn and the part that was shown, if this node knows them. */
  written(turn: string): Written | undefined
  /** The latest text of a running answer whose beginning is shown or on its way. */
  begun(turn: string): string | undefined
  /** The answer is requested again from its beginning. The shown text says so until more arrives. Never throws. */
  interrupted(turn: TurnRow): Promise<void>
  /** Stops showing text. Resolves when no edit is running, or after a while. */
  ended(turn: string): Promise<void>
}

export interface Written {
  readonly latest: string
  readonly shown: string
}

interface Stream {
  readonly turn: TurnRow
  text: string
  shownText: string
  row: { readonly send: SendRow; readonly ids: readonly string[] } | null
  begun: boolean
  over: boolean
  work: Promise<void> | null
  notBefore: number
  faults: number
  cancel: Cancel
}

const MOST_STREAMS = 1_000
const MOST_FAULTS = 5
/** How long a finished stream is remembered, so that late text does not start it again. */
const OVER_KEPT_MS = 60_000
const EDIT_WITHIN_MS = 15_000
/** Delay while other messages wait in the chat. The answer does not start before them. */
const LOOK_AGAIN_MS = 1_000

export function createStreams(deps: StreamsDeps): Streams {
  const { clock, log, links } = deps
  const streams = createBoundedMap<string, Stream>(MOST_STREAMS)
  /** The next text to signal, while access is being checked. */
  const telling = new Map<string, string>()

  const pieceOf = (stream: Stream): NewSend | undefined => {
    const { turn, text } = stream
    const [first] = deps.outlet.rows({
      ...{
        to: rowAddress(turn),
        text,
        cause: 'reply',
        agent: turn.agent,
        session: turn.session,
        turn: turn.id,
        ...quoteOf(deps.settings(), turn),
      },
    })
    if (first?.op.kind !== 'text') return undefined
    return {
      to: first.to,
      platform: first.platform,
      cause: first.cause,
      agent: turn.agent,
      session: turn.session,
      turn: turn.id,
      idempotencyKey: streamKey(turn.id),
      op: { ...first.op, partial: true },
    }
  }

  const begin = async (stream: Stream) => {
    const { integration, conversation } = stream.turn
    const open = await deps.store.sends({
      integration,
      conversation,
      states: ['queued', 'sending'],
      limit: 20,
    })
    if (open.some((row) => row.op?.kind !== 'react' && !isBeginning(row))) {
      stream.notBefore = clock.now() + LOOK_AGAIN_MS
      return
    }
    const { text } = stream
    const piece = pieceOf(stream)
    if (!piece || stream.over) return
    stream.begun = true
    await deps.outlet.put([piece])
    stream.shownText = text
  }

  const revise = async (stream: Stream, streaming: StreamingByEdits) => {
    const { row, text } = stream
    const { everyMs } = streaming
    const piece = pieceOf(stream)
    if (!row || !piece) return
    const refused = await deps.admission.ofSend(row.send)
    if (stream.over) return
    if (refused !== null) {
      // An uncertain check is repeated with the next text. The sender ends refused rows.
      stream.faults += 1
      stream.notBefore = clock.now() + everyMs
      return
    }
    stream.shownText = text
    stream.notBefore = clock.now() + everyMs
    const { send, ids } = row
    const request = {
      to: piece.to,
      op: piece.op,
      key: send.id,
      seq: send.place ?? send.seq,
      turn: stream.turn.id,
      shown: ids,
    }
    try {
      await streaming.revise(request)
      stream.faults = 0
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      stream.faults += 1
      stream.notBefore = clock.now() + Math.max(error.retryAfterMs ?? 0, everyMs * 2 ** stream.faults)
    }
  }

  /** If the turn was stopped or taken over, perhaps at another node, the sender ends the row as it stands. */
  const show = async (stream: Stream, streaming: StreamingByEdits) => {
    const turn = await deps.store.turn(stream.turn.id)
    if (turn && isOpen(turn)) return stream.begun ? revise(stream, streaming) : begin(stream)
    stream.over = true
  }

  const begunAnew = (turn: TurnRow): Stream => {
    const stream = fresh(turn)
    streams.set(turn.id, stream)
    return stream
  }

  /** For signals: checks the store, because another node may have taken over, and then sends the newest text. */
  const tell = async (turn: TurnRow) => {
    const isTold = await judged(turn).catch((thrown) => {
      log.info({ turn: turn.id, error: String(thrown) }, 'partial text was not shown')
      return false
    })
    const text = telling.get(turn.id)
    telling.delete(turn.id)
    if (!isTold || text === undefined) return
    deps.signal(rowAddress(turn), { kind: 'partial', turn: turn.id, messageId: turn.messageId, text })
  }
  const judged = async (turn: TurnRow) => {
    const now = await deps.store.turn(turn.id)
    if (!now || !isOpen(now)) return false
    return deps.admission.atOnce(turn) || (await deps.admission.ofTurn(turn)) === 'admitted'
  }

  /** Late text is dropped, unless the turn was offered again. Then it is the first text of the new offer. */
  const again = async (over: Stream, turn: TurnRow, text: string) => {
    const now = await deps.store.turn(turn.id).catch(() => null)
    if (!now || !isOpen(now)) return
    const current = streams.get(turn.id)
    const stream = current && current !== over ? current : begunAnew(turn)
    if (stream.over) return
    over.cancel()
    stream.text = text
    showLatest(stream)
  }

  /** One update at a time. Newer text follows directly. */
  const showLatest = (stream: Stream) => {
    if (stream.over) return
    stream.cancel()
    if (stream.work || stream.text === stream.shownText || stream.faults >= MOST_FAULTS) return
    const streaming = links.get(stream.turn.integration)?.adapter.streaming
    if (streaming?.by !== 'edits' || (stream.begun && !stream.row)) return
    const waitMs = stream.notBefore - clock.now()
    if (waitMs > 0) {
      stream.cancel = clock.after(waitMs, () => showLatest(stream))
      return
    }
    stream.work = show(stream, streaming)
      .catch((thrown) => {
        stream.faults += 1
        log.info({ turn: stream.turn.id, error: String(thrown) }, 'partial text was not shown')
      })
      .then(() => {
        stream.work = null
        showLatest(stream)
      })
  }

  return {
    partial(turn, text) {
      const streaming = links.get(turn.integration)?.adapter.streaming
      if (!streaming || text.trim() === '') return
      if (streaming.by === 'signals') {
        const isUnderWay = telling.has(turn.id)
        telling.set(turn.id, text)
        if (!isUnderWay) void tell(turn)
        return
      }
      const stream = streams.get(turn.id) ?? begunAnew(turn)
      if (stream.over) return void again(stream, turn, text)
      stream.text = text
      showLatest(stream)
    },
    shown(row, ids) {
      const stream = row.turn === null ? undefined : streams.get(row.turn)
      if (!stream) return
      stream.row = { send: row, ids }
      const streaming = links.get(row.integration)?.adapter.streaming
      stream.notBefore = clock.now() + (streaming?.by === 'edits' ? streaming.everyMs : 0)
      showLatest(stream)
    },
    written(turn) {
      const stream = streams.get(turn)
      return stream && { latest: stream.text, shown: stream.shownText }
    },
    begun(turn) {
      const stream = streams.get(turn)
      return stream?.begun && !stream.over && stream.text !== wordsIn().notices.interrupted
        ? stream.text
        : undefined
    },
    async interrupted(turn) {
      const streaming = links.get(turn.integration)?.adapter.streaming
      if (streaming?.by === 'signals')
        deps.signal(rowAddress(turn), {
          kind: 'partial',
          turn: turn.id,
          messageId: turn.messageId,
          text: wordsIn().notices.interrupted,
        })
      if (streaming?.by !== 'edits') return
      try {
        const { integration, conversation, id, receivedAt: sinceMs } = turn
        const rows = await deps.store.sends({
          integration,
          conversation,
          turn: id,
          sinceMs,
          states: ['sending'],
          limit: 20,
        })
        const send = rows.find((row) => isBeginning(row) && row.platformIds.length > 0)
        if (!send) return
        const stream = begunAnew(turn)
        stream.begun = true
        stream.row = { send, ids: send.platformIds }
        stream.text = wordsIn().notices.interrupted
        showLatest(stream)
      } catch (thrown) {
        log.info({ turn: turn.id, error: String(thrown) }, 'that an answer was interrupted was not shown')
      }
    },
    async ended(turn) {
      const stream = streams.get(turn)
      if (!stream) return
      stream.over = true
      stream.cancel()
      stream.cancel = clock.after(OVER_KEPT_MS, () => streams.get(turn) === stream && streams.delete(turn))
      const { work } = stream
      if (!work) return
      await new Promise<void>((resolve) => {
        const cancel = clock.after(EDIT_WITHIN_MS, resolve)
        void work.finally(() => {
          cancel()
          resolve()
        })
      })
    },
  }
}

const isOpen = ({ state }: TurnRow) => OPEN_TURN_STATES.some((open) => open === state)

function isBeginning({ op }: SendRow): boolean {
  return op?.kind === 'text' && op.partial === true
}

function fresh(turn: TurnRow): Stream {
  return {
    turn,
    text: '',
    shownText: '',
    row: null,
    begun: false,
    over: false,
    work: null,
    notBefore: 0,
    faults: 0,
    cancel: () => undefined,
  }
}
