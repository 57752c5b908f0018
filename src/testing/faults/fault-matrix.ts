// The fault plans for every platform, and the matrix of platforms and faults that they produce. A platform names its
// calls. The requirements are the same for all platforms.
import type { FaultRule } from './fault-plan.ts'

export interface NamedCalls {
  /** The call that sends a text. `edit` is the call that changes it. */
  readonly send: string
  readonly edit: string
  /** The call that receives messages. */
  readonly receive: string
}

export interface NamedPlan {
  readonly name: string
  readonly faults: readonly FaultRule[]
  /** Whether a labelled second copy is allowed. It is honest when the platform acted but could not say so. */
  readonly mayRepeat: boolean
}

/** One plan for each kind of fault, for sending and for receiving, and one with random faults. */
export function faultPlansFor({ send, edit, receive }: NamedCalls): readonly NamedPlan[] {
  const plan = (name: string, faults: readonly FaultRule[], mayRepeat = false): NamedPlan => ({
    name,
    faults,
    mayRepeat,
  })
  return [
    plan('none', []),
    plan('429 on send', [{ on: send, nth: [1, 3], do: 'rate-limit', retryAfter: 0.2 }]),
    plan('accept, then drop the response', [{ on: send, nth: [2, 4], do: 'drop-response' }], true),
    plan('drop the request', [{ on: send, nth: 2, do: 'drop-request' }], true),
    plan('half-open on send', [{ on: send, nth: 2, do: 'half-open' }], true),
    plan('deaf on send', [{ on: send, nth: 3, do: 'deaf' }], true),
    plan('malformed on send', [{ on: send, nth: 2, do: 'malformed' }], true),
    plan('5xx on send', [{ on: send, nth: [1, 2, 5], do: 'error', status: 502 }]),
    plan('slow on send', [{ on: send, every: 2, do: 'slow', delayMs: 100 }]),
    plan('drop the response to an edit', [{ on: edit, nth: 1, do: 'drop-response' }]),
    plan('duplicate in', [{ on: receive, nth: [1, 3], do: 'duplicate' }]),
    plan('reorder in', [{ on: receive, nth: [1, 2], do: 'reorder' }]),
    plan('drop the response in', [{ on: receive, nth: [1, 3], do: 'drop-response' }]),
    plan('half-open in', [{ on: receive, nth: 2, do: 'half-open' }]),
    plan('deaf in', [{ on: receive, nth: 2, do: 'deaf' }]),
    plan('malformed in', [{ on: receive, nth: [1, 3], do: 'malformed' }]),
    plan('5xx in', [{ on: receive, nth: [1, 2, 4], do: 'error', status: 500 }]),
    plan('409 in', [{ on: receive, nth: [2, 3], do: 'conflict' }]),
    plan(
      'all at random',
      [
        { on: send, probability: 0.15, times: 3, do: 'drop-response' },
        { on: send, probability: 0.2, times: 3, do: 'rate-limit', retryAfter: 0.1 },
        { on: receive, probability: 0.15, times: 3, do: 'error' },
        { on: receive, probability: 0.15, times: 3, do: 'malformed' },
        { on: receive, probability: 0.15, times: 2, do: 'duplicate' },
      ],
      true,
    ),
  ]
}

/**
 * Plans for a platform that keeps a history. `live` is the call by which its live link receives messages. The link goes
 * deaf, a connection of an earlier process takes its share, or messages are never sent. The bot may miss none of them.
 */
export function historyPlansFor(live: string): readonly NamedPlan[] {
  return [
    { name: 'deaf link', faults: [{ on: live, nth: 2, do: 'deaf-link' }], mayRepeat: false },
    { name: 'ghost connection', faults: [{ on: live, nth: [3, 9], do: 'ghost' }], mayRepeat: false },
    { name: 'gap', faults: [{ on: live, every: 3, do: 'gap' }], mayRepeat: false },
  ]
}

export interface MatrixCell {
  readonly platform: string
  readonly plan: string
  /** The number of faults that happened. */
  readonly fired: number
  readonly lost: number
  readonly repeated: number
  readonly labelled: number
}

/** Formats the matrix as a table for a terminal: one row for each plan, one column for each platform. */
export function formatMatrix(cells: readonly MatrixCell[]): string {
  const platforms = [...new Set(cells.map(({ platform }) => platform))]
  const plans = [...new Set(cells.map(({ plan }) => plan))]
  const shown = (cell: MatrixCell | undefined) => {
    if (cell === undefined) return '-'
    if (cell.lost > 0 || cell.repeated > 0) return `LOST ${cell.lost}, REPEATED ${cell.repeated}`
    return cell.labelled > 0
      ? `ok (${cell.fired} faults, ${cell.labelled} labelled)`
      : `ok (${cell.fired} faults)`
  }
  const rows = [
    ['fault', ...platforms],
    ...plans.map((plan) => [
      plan,
      ...platforms.map((platform) =>
        shown(cells.find((one) => one.plan === plan && one.platform === platform)),
      ),
    ]),
  ]
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
