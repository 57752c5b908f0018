// The calls of a host without an answer, at the shim's end. They are sent again by their key to every next daemon, and
// given up if none comes in time.
import type { Cancel, ToolOutcome } from '../contract/index.ts'
import type { ShimFrame } from './frames.ts'

type CallFrame = Extract<ShimFrame, { t: 'call' }>

export interface CallsUnderWay {
  /** Keeps the call until it is answered or given up. Null: no daemon was reached in time, and nothing was done. */
  add(frame: CallFrame, kept: (call: CallUnderWay) => void): Promise<ToolOutcome | null>
  all(): Iterable<CallUnderWay>
  /** The daemon found the turn of the call; null: there is none. */
  evidence(id: number, turn: string | null): void
  answered(id: number, outcome: ToolOutcome): void
  /** Ends all waits. */
  end(): void
}

export interface CallUnderWay {
  send(): void
  /** A connected daemon may take its time. It answers, or the connection ends. */
  waitForDaemon(): void
}

interface PendingCall extends CallUnderWay {
  proved: string | null | undefined
  /** Ends the wait for an absent daemon. */
  found: Cancel
  resolve(outcome: ToolOutcome): void
  giveUp(): void
}

/** How long a call waits for an absent daemon. */
const ABSENT_MS = 15_000

export function createCallsUnderWay(deps: {
  readonly send: (frame: CallFrame) => void
  readonly after: (ms: number, act: () => void) => Cancel
}): CallsUnderWay {
  const calls = new Map<number, PendingCall>()

  const pendingCall = (frame: CallFrame, resolve: (outcome: ToolOutcome | null) => void): PendingCall => {
    // True once a daemon may have received it, and so may have run it.
    let sent = false
    const pending: PendingCall = {
      proved: undefined,
      found: () => undefined,
      resolve,
      send() {
        pending.found()
        sent = true
        deps.send(pending.proved === undefined ? frame : { ...frame, proved: pending.proved })
      },
      waitForDaemon() {
        pending.found()
        pending.found = deps.after(ABSENT_MS, () => {
          calls.delete(frame.id)
          pending.giveUp()
        })
      },
      giveUp: () => resolve(sent ? outcomeUnknown() : null),
    }
    return pending
  }

  return {
    add: (frame, kept) =>
      new Promise((resolve) => {
        const pending = pendingCall(frame, resolve)
        calls.set(frame.id, pending)
        kept(pending)
      }),
    all: () => calls.values(),
    evidence(id, turn) {
      const pending = calls.get(id)
      if (pending) pending.proved = turn
    },
    answered(id, outcome) {
      const pending = calls.get(id)
      calls.delete(id)
      pending?.found()
      pending?.resolve(outcome)
    },
    end() {
      for (const pending of calls.values()) pending.giveUp()
      calls.clear()
    },
  }
}

export function failedCall(code: string, text: string): ToolOutcome {
  return { text, isError: true, structured: { ok: false, status: 'failed', code, error: text } }
}

function outcomeUnknown(): ToolOutcome {
  const text =
    'The gateway went away while this was under way, and whether it was done is not known: look (fetch_messages) before you do it again.'
  return failedCall('outcome_unknown', text)
}
