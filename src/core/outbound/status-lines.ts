// Shows what an agent is doing on a turn, where a platform can show a line apart from messages. Each turn has one line.
// It changes every few seconds at most and disappears when the turn is over.
//
// A status makes a line wanted. The line is shown when the platform's pace admits a low-priority call, and removed when
// its turn is no longer in flight. Nothing waits for a line, and failures are given up soon. The line is recorded
// before it is shown, so a crash leaves none behind: the next start removes it once its turn is over. Only a line whose
// creation was cut off before the platform named it can stay. No second line is created for that turn.
import {
  type Address,
  asSwitchboardError,
  type Cancel,
  type Clock,
  formatAddress,
  type Logger,
  parseAddress,
  type Signal,
  type StatusLineRow,
  type Store,
  type TurnRow,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { keepDoing } from '../keep-doing.ts'
import { createKeyedTimers } from '../keyed-timers.ts'
import type { Link, Links } from '../links.ts'

export interface StatusLines {
  /** Receives every signal. */
  heard(to: Address, signal: Signal): void
  start(): void
  /** Removes the shown lines, within a short time limit. */
  stop(): Promise<void>
}

export interface StatusLinesDeps {
  readonly store: Pick<Store, 'owner' | 'turn' | 'keepStatusLine' | 'statusLines' | 'forgetStatusLine'>
  readonly clock: Clock
  readonly log: Logger
  readonly links: Pick<Links, 'get'>
  readonly cluster: Pick<Cluster, 'isAlive'>
  /** Whether messages may be shown for this turn now. */
  readonly mayShow: (row: TurnRow) => Promise<boolean>
}

interface Line {
  readonly turn: string
  readonly to: Address
  /** The platform's id of the line; null: it is not shown yet. */
  name: string | null
  wanted: string
  shown: string
  /** The current call to the platform. */
  working: Promise<void> | null
  /** The wanted text is already shown. The next status may be shown from this time on. */
  idleUntil: number | null
  over: boolean
  faults: number
  /** The store records that this node creates the line. */
  claimed: boolean
}

/** A fast answer gets no line. */
const FIRST_MS = 1_500
const EVERY_MS = 3_000
const SWEEP_MS = 15_000
const STOP_MS = 2_000
/** After this time the line is no longer removed. */
const GIVEN_UP_MS = 3_600_000
const MOST_FAULTS = 3
const MOST_LINES = 1_000
const PAGE = 500
const MOST_CHARS = 200

export function createStatusLines(deps: StatusLinesDeps): StatusLines {
  const { store, clock, log, links } = deps
  const lines = new Map<string, Line>()
  const timers = createKeyedTimers(clock)
  /** Integrations that asked for a pause, with its end. */
  const quietUntil = new Map<string, number>()
  let stopSweeping: Cancel = () => undefined
  let stopped = false

  const linkOf = (to: Address): Link | null => {
    const link = links.get(to.integration)
    return link?.adapter.status === undefined ? null : link
  }

  const want = (to: Address, turn: string, text: string) => {
    const current = lines.get(turn)
    const wanted = oneLine(text)
    if (stopped || wanted === '' || linkOf(to) === null) return
    if (current) {
      current.wanted = wanted
      if (current.idleUntil !== null) workAfter(current, current.idleUntil - clock.now())
      return
    }
    if (lines.size >= MOST_LINES) return
    const line: Line = {
      turn,
      to,
      name: null,
      wanted,
      shown: '',
      working: null,
      idleUntil: null,
      over: false,
      faults: 0,
      claimed: false,
    }
    lines.set(turn, line)
    workAfter(line, FIRST_MS)
  }

  const workAfter = (line: Line, ms: number) => {
    line.idleUntil = null
    timers.set(line.turn, ms, () => work(line))
  }

  /** One call at a time: shows the wanted text or removes a finished line, and then checks again. */
  const work = (line: Line) => {
    if (line.working) return
    const act = line.over ? takeAway(line) : show(line)
    line.working = act
      .catch((thrown) => failed(line, thrown))
      .then((againMs) => {
        line.working = null
        if (lines.get(line.turn) !== line) return
        if (line.over) work(line)
        else if (line.wanted === line.shown || line.faults >= MOST_FAULTS)
          line.idleUntil = clock.now() + againMs
        else workAfter(line, againMs)
      })
  }

  /** Resolves with the delay until the next check. */
  const show = async (line: Line): Promise<number> => {
    if (line.faults >= MOST_FAULTS) return EVERY_MS
    const link = linkOf(line.to)
    const row = await store.turn(line.turn)
    if (link === null || row === null || !isInFlight(row) || !(await deps.mayShow(row))) {
      line.over = true
      return 0
    }
    const quietMs = (quietUntil.get(line.to.integration) ?? 0) - clock.now()
    const waitMs = quietMs > 0 ? quietMs : (link.adapter.pace?.take(line.to.conversation, true) ?? 0)
    if (waitMs > 0) return Math.max(waitMs, 100)
    if (line.name === null && !(await claimed(line))) {
      link.adapter.pace?.giveBack(line.to.conversation)
      lines.delete(line.turn)
      return 0
    }
    const text = line.wanted
    const name = await link.adapter.status?.show(line.to, text, line.name)
    line.shown = text
    line.faults = 0
    if (name !== undefined && name !== line.name) {
      line.name = name
      await store.keepStatusLine({ turn: line.turn, to: formatAddress(line.to), line: name })
    }
    return EVERY_MS
  }

  /** False: another node creates the line, or a line without a known id may be shown. */
  const claimed = async (line: Line): Promise<boolean> => {
    const row = await store.keepStatusLine({ turn: line.turn, to: formatAddress(line.to), line: '' })
    if (row.line !== '') line.name = row.line
    line.claimed = row.line !== '' || row.owner === store.owner
    return line.claimed
  }

  const failed = (line: Line, thrown: unknown): number => {
    const error = asSwitchboardError(thrown, 'platform_unavailable')
    log.debug({ turn: line.turn, error: error.message }, 'a status was not shown')
    rest(line.to, error.retryAfterMs)
    line.faults += 1
    // A first line may be shown already, so no second one is created.
    if (error.code === 'outcome_unknown' || !error.nature.retryable) line.faults = MOST_FAULTS
    if (line.over) lines.delete(line.turn)
    return EVERY_MS * 2 ** line.faults
  }

  const rest = ({ integration }: Address, ms = 0) => {
    if (ms > 0) quietUntil.set(integration, clock.now() + ms)
  }

  const takeAway = async (line: Line): Promise<number> => {
    lines.delete(line.turn)
    timers.cancel(line.turn)
    if (line.name !== null) await remove(line.turn, line.to, line.name)
    else if (line.claimed) await store.forgetStatusLine(line.turn)
    return 0
  }

  /** A later sweep finds a line that cannot be removed now. */
  const remove = async (turn: string, to: Address, name: string) => {
    const link = linkOf(to)
    try {
      await link?.adapter.status?.remove(to, name)
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      rest(to, error.retryAfterMs)
      if (error.nature.retryable) throw error
    }
    await store.forgetStatusLine(turn)
  }

  /** Removes lines of turns that ended elsewhere, and of nodes that are gone. */
  const sweep = async (isStopped: () => boolean = () => false) => {
    for (let after: StatusLineRow | undefined; ; ) {
      const page: readonly StatusLineRow[] = await store.statusLines(PAGE, after)
      for (const row of page) {
        if (isStopped()) return
        await look(row).catch((thrown) =>
          log.debug({ turn: row.turn, error: String(thrown) }, 'a line stays'),
        )
      }
      after = page.at(-1)
      if (after === undefined || page.length < PAGE) return
    }
  }

  const look = async (row: StatusLineRow) => {
    const own = row.owner === store.owner
    if (!own && deps.cluster.isAlive(row.owner)) return
    const turn = await store.turn(row.turn)
    if (turn !== null && isInFlight(turn)) return
    const line = lines.get(row.turn)
    if (line) return end(line)
    const to = parseAddress(row.to)
    const tooLate = clock.now() - row.at > GIVEN_UP_MS
    if (row.line === '' || tooLate) return store.forgetStatusLine(row.turn)
    if ((quietUntil.get(to.integration) ?? 0) > clock.now() || linkOf(to) === null) return
    await remove(row.turn, to, row.line)
  }

  const gone = async (line: Line): Promise<void> => {
    while (line.working) await line.working
  }

  const end = (line: Line) => {
    line.over = true
    timers.cancel(line.turn)
    work(line)
  }

  return {
    heard(to, signal) {
      if (signal.kind === 'status') want(to, signal.turn, signal.text)
      if (signal.kind !== 'turn_state') return
      const line = lines.get(signal.turn)
      if (line && signal.state !== 'handed' && signal.state !== 'seen') end(line)
    },
    start() {
      sweep().catch((thrown) => log.debug({ error: String(thrown) }, 'status lines were not looked at'))
      stopSweeping = keepDoing(clock, SWEEP_MS, sweep, (thrown) =>
        log.debug({ error: String(thrown) }, 'status lines were not looked at'),
      )
    },
    async stop() {
      stopped = true
      stopSweeping()
      const all = [...lines.values()]
      for (const line of all) end(line)
      await new Promise<void>((resolve) => {
        const cancel = clock.after(STOP_MS, resolve)
        void Promise.all(all.map(gone)).then(() => {
          cancel()
          resolve()
        })
      })
      timers.clear()
    },
  }
}

function isInFlight({ state }: Pick<TurnRow, 'state'>): boolean {
  return state === 'handed' || state === 'seen'
}

function oneLine(text: string): string {
  const whole = [
    ...text
      .slice(0, 4 * MOST_CHARS)
      .replace(/\s+/g, ' ')
      .trim(),
  ]
  return whole.length > MOST_CHARS ? `${whole.slice(0, MOST_CHARS).join('')}…` : whole.join('')
}
