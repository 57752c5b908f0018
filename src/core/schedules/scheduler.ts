// Schedules: turns that start by themselves. Every node keeps the time. The row in the store decides which node fires,
// so each time of a schedule fires once. Times that fall into a gap (a stop, a sleep) are run or skipped by policy, and
// recorded.
import {
  type AgentSettings,
  type Cancel,
  type Clock,
  createSerial,
  type Firing,
  inSlices,
  type Logger,
  type ReceiveItem,
  SCHEDULE_PLACE,
  type ScheduleSettings,
  type Settings,
  type Store,
} from '../../contract/index.ts'

/** Returns the first time after `afterMs` that the expression names in the time zone; null: there is none. */
export type NextRun = (cron: string, tz: string, afterMs: number) => number | null

export interface SchedulerDeps {
  readonly store: Pick<Store, 'fireSchedule' | 'firings'>
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly nextRun: NextRun
}

export interface Scheduler {
  start(): void
  /** Checks the schedules at once, after the configuration changed. */
  refresh(): void
  /** Starts a schedule now, in addition to its times. Returns the turn's id; null: no such schedule. */
  runNow(agent: string, schedule: string): Promise<string | null>
  stop(): void
}

/** A firing noticed later than this counts as missed. */
const MISSED_AFTER_MS = 60_000
/** Timers cannot wait for months and clocks are changed, so schedules are checked at least this often. */
const LOOK_EVERY_MS = 60_000
/** The number of missed times that are recorded individually: the newest ones. */
const MISSED_RECORDED = 100
/** After this many missed times, the rest of the gap up to the last day is skipped. */
const LONG_GAP = 5_000
const DAY_MS = 24 * 3_600_000

interface Mark {
  readonly agent: string
  readonly schedule: string
  readonly times: string
  readonly at: number
}

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { store, clock, log } = deps
  let cancel: Cancel = () => undefined
  let stopped = false
  /** The time up to which this node has checked each schedule. */
  const marks = new Map<string, Mark>()
  const inOrder = createSerial()

  const look = async () => {
    let wakeInMs = LOOK_EVERY_MS
    await forgetRemoved()
    const all = deps
      .settings()
      .agents.flatMap((agent) => agent.schedules.map((schedule) => ({ agent, schedule })))
    const lookAtOne = async ({ agent, schedule }: (typeof all)[number]) => {
      const next = await lookAt(agent, schedule)
      if (next !== null) wakeInMs = Math.min(wakeInMs, Math.max(0, next - clock.now()))
    }
    await inSlices(all, clock, lookAtOne, { stopped: () => stopped })
    if (stopped) return
    cancel()
    cancel = clock.after(wakeInMs, again)
  }

  const again = () => {
    inOrder(look).catch((thrown) => {
      log.error({ error: String(thrown) }, 'the schedules could not be looked at; trying again')
      if (!stopped) cancel = clock.after(LOOK_EVERY_MS / 6, again)
    })
  }

  /** A schedule that is added again starts at that time. It missed nothing in between. */
  const forgetRemoved = async () => {
    const { agents } = deps.settings()
    const present = new Set(agents.flatMap((agent) => agent.schedules.map((one) => keyOf(agent.id, one.id))))
    for (const [key, { agent, schedule }] of marks) {
      if (present.has(key)) continue
      const removed = { agent, schedule, fireAt: clock.now(), outcome: 'removed', times: '' } as const
      await store.fireSchedule(removed)
      marks.delete(key)
    }
  }

  /** Fires due times and returns the next time. */
  const lookAt = async (agent: AgentSettings, schedule: ScheduleSettings): Promise<number | null> => {
    const key = keyOf(agent.id, schedule.id)
    const times = timesOf(schedule)
    const known = marks.get(key)
    // After the clock is set back, times come again. Those already fired do not fire twice; the others do.
    const mark = Math.min(known?.times === times ? known.at : await firstMark(agent, schedule), clock.now())
    const due: number[] = []
    let next = deps.nextRun(schedule.cron, schedule.tz, mark)
    for (let count = 1; next !== null && next <= clock.now(); count++) {
      due.push(next)
      if (due.length > MISSED_RECORDED) due.shift()
      const after: number = count === LONG_GAP ? Math.max(next, clock.now() - DAY_MS) : next
      next = deps.nextRun(schedule.cron, schedule.tz, after)
    }
    for (const [at, fireAt] of due.entries()) await fire(agent, schedule, fireAt, at === due.length - 1)
    // Only a commit moves the mark. After a store outage the same times are tried again.
    marks.set(key, { agent: agent.id, schedule: schedule.id, times, at: due.at(-1) ?? mark })
    return next
  }

  /** The newest known time. A schedule that is new, or has new times, begins now. */
  const firstMark = async (agent: AgentSettings, schedule: ScheduleSettings): Promise<number> => {
    const [last] = await store.firings({ agent: agent.id, schedule: schedule.id, limit: 1 })
    const times = timesOf(schedule)
    if (last && (last.times ?? times) === times) return last.fireAt
    const fireAt = clock.now()
    await store.fireSchedule({ agent: agent.id, schedule: schedule.id, fireAt, outcome: 'first_seen', times })
    return fireAt
  }

  /** Of several missed times at most the newest runs. */
  const fire = async (agent: AgentSettings, schedule: ScheduleSettings, fireAt: number, newest: boolean) => {
    const missed = clock.now() - fireAt > MISSED_AFTER_MS
    const runs = newest && (!missed || schedule.missed === 'run')
    const firing: Firing = {
      agent: agent.id,
      schedule: schedule.id,
      fireAt,
      outcome: runs ? 'run' : 'skipped',
      times: timesOf(schedule),
    }
    const fired = runs
      ? await store.fireSchedule(firing, turnOf(agent, schedule, fireAt))
      : await store.fireSchedule(firing)
    if (fired.won) log.info({ agent: agent.id, schedule: schedule.id, missed, runs }, 'schedule')
  }

  return {
    start: again,
    refresh: again,
    async runNow(agentId, scheduleId) {
      const agent = deps.settings().agents.find(({ id }) => id === agentId)
      const schedule = agent?.schedules.find(({ id }) => id === scheduleId)
      if (!agent || !schedule) return null
      const fireAt = clock.now()
      const firing: Firing = {
        ...{ agent: agent.id, schedule: schedule.id, fireAt, outcome: 'run' },
        times: timesOf(schedule),
      }
      const { received } = await store.fireSchedule(firing, turnOf(agent, schedule, fireAt))
      return received?.id ?? null
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}

function keyOf(agent: string, schedule: string): string {
  return JSON.stringify([agent, schedule])
}

function timesOf({ cron, tz }: ScheduleSettings): string {
  return `${cron} ${tz}`
}

function turnOf(agent: AgentSettings, schedule: ScheduleSettings, fireAt: number): ReceiveItem {
  const at = new Date(fireAt).toISOString()
  return {
    turn: {
      at: { integration: SCHEDULE_PLACE, conversation: agent.id, thread: schedule.id },
      platform: 'schedule',
      // The duplicate key does not contain the thread, and several schedules of an agent may be due at once.
      messageId: `${schedule.id}@${at}`,
      editVersion: 0,
      source: `schedule:${schedule.id}`,
      agent: agent.id,
      sender: `schedule:${schedule.id}`,
      body: { kind: 'schedule', text: schedule.prompt, meta: { schedule: schedule.id, scheduled_for: at } },
      bodyDigest: '',
    },
    state: 'queued',
    reason: null,
    keepRow: true,
    effects: [],
  }
}
