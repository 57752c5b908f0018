// A simple model of the store on one page, without SQL, commits or a chain. The property test compares both stores with
// it.

export interface ModelTurn {
  readonly lane: string
  state: string
  attempts: number
  repeat: boolean
}

export interface ModelSend {
  readonly lane: string
  state: string
  attempts: number
}

interface ModelLane {
  owner: string | null
  token: number
  until: number
}

export interface Model {
  receive(key: string, lane: string, state: string): { readonly nth: number; readonly duplicate: boolean }
  take(kind: 'turns' | 'sends', owner: string, lane: string, token: number | null, now: number): string
  move(kind: 'turns' | 'sends', owner: string, lane: string, token: number, nth: number, to: string): string
  enqueue(lane: string, key: string | null): { readonly nth: number; readonly repeated: boolean }
  release(kind: 'turns' | 'sends', owner: string, lane: string, token: number): void
  operate(nth: number, verb: 'retry' | 'cancel'): boolean
  readonly turns: readonly ModelTurn[]
  readonly sends: readonly ModelSend[]
}

const OPEN = { turns: ['queued', 'handed', 'seen'], sends: ['queued', 'sending'] }
const TURN_MOVES: Record<string, readonly string[]> = {
  // An agent may answer a turn that it took before the turn went back to the queue.
  queued: ['answered', 'failed'],
  handed: ['queued', 'seen', 'answered', 'failed'],
  seen: ['queued', 'answered', 'failed'],
}
const SEND_MOVES: Record<string, readonly string[]> = {
  queued: ['failed'],
  sending: ['queued', 'sent', 'failed', 'unknown'],
  unknown: ['queued', 'sent', 'failed'],
}

export function createModel(leaseMs: number): Model {
  const turns: ModelTurn[] = []
  const sends: ModelSend[] = []
  const keys = new Map<string, number>()
  const idempotent = new Map<string, number>()
  const lanes = new Map<string, ModelLane>()

  const laneOf = (kind: string, lane: string): ModelLane => {
    const known = lanes.get(`${kind} ${lane}`) ?? { owner: null, token: 0, until: 0 }
    lanes.set(`${kind} ${lane}`, known)
    return known
  }
  const holds = (row: ModelLane, owner: string, token: number) => row.owner === owner && row.token === token

  return {
    turns,
    sends,
    receive(key, lane, state) {
      const known = keys.get(key)
      if (known !== undefined) return { nth: known, duplicate: true }
      keys.set(key, turns.push({ lane, state, attempts: 0, repeat: false }) - 1)
      return { nth: turns.length - 1, duplicate: false }
    },
    enqueue(lane, key) {
      const known = key === null ? undefined : idempotent.get(key)
      if (known !== undefined) return { nth: known, repeated: true }
      sends.push({ lane, state: 'queued', attempts: 0 })
      if (key !== null) idempotent.set(key, sends.length - 1)
      return { nth: sends.length - 1, repeated: false }
    },
    /** Returns the outcome as text: the row that was handed over and the rows left over. The window is one. */
    take(kind, owner, lane, token, now) {
      const row = laneOf(kind, lane)
      const fresh = token === null
      if (fresh) {
        if (row.owner !== null && row.owner !== owner && row.until > now) return 'busy'
        row.owner = owner
        row.token += 1
      } else if (!holds(row, owner, token)) return 'lost'
      row.until = now + leaseMs
      const all: (ModelTurn | ModelSend)[] = kind === 'turns' ? turns : sends
      const open = all.filter((each) => each.lane === lane && OPEN[kind].includes(each.state))
      const inFlight = open.filter((each) => each.state !== 'queued')
      const left = fresh ? inFlight.map((each) => all.indexOf(each)) : []
      const next = inFlight.length === 0 ? open[0] : undefined
      if (next) {
        next.state = kind === 'turns' ? 'handed' : 'sending'
        next.attempts += 1
      }
      return `token ${row.token} took ${next ? all.indexOf(next) : '-'} left ${left.join()}`
    },
    move(kind, owner, lane, token, nth, to) {
      if (!holds(laneOf(kind, lane), owner, token)) return 'stale'
      const row = kind === 'turns' ? turns[nth] : sends[nth]
      const moves = kind === 'turns' ? TURN_MOVES : SEND_MOVES
      if (!row || row.lane !== lane || !moves[row.state]?.includes(to)) return 'noop'
      row.state = to
      if (kind === 'turns' && to === 'queued') (row as ModelTurn).repeat = true
      return 'moved'
    },
    release(kind, owner, lane, token) {
      const row = laneOf(kind, lane)
      if (holds(row, owner, token)) row.owner = null
    },
    operate(nth, verb) {
      const turn = turns[nth]
      if (!turn) return false
      const open = OPEN.turns.includes(turn.state)
      if (verb === 'cancel' ? !open : turn.state !== 'failed') return false
      turn.state = verb === 'cancel' ? 'failed' : 'queued'
      if (verb === 'retry') {
        turn.repeat = turn.repeat || turn.attempts > 0
        turn.attempts = 0
      }
      return true
    },
  }
}
