// Interrupted turns whose work cannot be found again. A person decides whether such a turn is begun again. This needs
// no process, and other turns go on meanwhile.
import {
  type AgentOutlet,
  asSwitchboardError,
  type Delivery,
  type TurnJournal,
} from '../../contract/index.ts'
import { anewStanding, askWhetherAnew, type createVerdictWait } from '../../kit/index.ts'

export interface AnewTurns {
  /** True if the question was asked before, also in an earlier run, and the turn was not begun since. */
  isOpen(turn: string): Promise<boolean>
  /** Resolves when the question was sent. The answer is acted on later. */
  ask(delivery: Delivery): Promise<void>
  /** Records that the turn was begun. One yes allows one beginning. */
  begun(turn: string): Promise<void>
  has(turn: string): boolean
  isEmpty(): boolean
  /** Withdraws the question. Returns whether one was open. */
  cancel(turn: string | null): boolean
}

export interface AnewDeps {
  readonly journal: TurnJournal
  readonly outlet: () => AgentOutlet
  readonly verdicts: ReturnType<typeof createVerdictWait>
  /** Called when a person said yes. `signal` aborts if the turn is cancelled afterwards. */
  readonly begin: (delivery: Delivery, signal: AbortSignal) => Promise<void>
  readonly fail: (delivery: Delivery, words: string) => Promise<void>
  readonly giveBack: (delivery: Delivery, words: string) => Promise<void>
}

const TRIES = 5

export function createAnewTurns(deps: AnewDeps): AnewTurns {
  const { journal } = deps
  const open = new Map<string, AbortController>()

  const keep = async (turn: string, anew: 'asked' | 'begun') => {
    // The turn's cost is written to the same journal, so the number may be taken.
    for (let tries = 0; tries < TRIES; tries++) {
      const n = (await journal.steps(turn)).length + 1
      if (await journal.add({ turn, n, kind: 'call', body: { anew } })) return
    }
    throw new Error('the journal of the turn cannot be written')
  }
  const settle = async (delivery: Delivery, signal: AbortSignal, onAsked: () => void) => {
    const { turn } = delivery
    const answer = await askWhetherAnew(delivery, {
      ...{ tools: [], verdicts: deps.verdicts, signal, onAsked, outlet: deps.outlet() },
      standing: anewStanding(await journal.steps(turn)),
      keep: () => keep(turn, 'asked'),
    })
    await (answer.begin ? deps.begin(delivery, signal) : deps.fail(delivery, answer.words))
  }

  return {
    isOpen: async (turn) => anewStanding(await journal.steps(turn)).isOpen,
    ask: (delivery) =>
      new Promise((resolve, reject) => {
        const { turn } = delivery
        const abort = new AbortController()
        let asked = false
        open.set(turn, abort)
        settle(delivery, abort.signal, () => {
          asked = true
          resolve()
        })
          .catch((thrown) => {
            if (!asked) return reject(thrown)
            if (!abort.signal.aborted) return deps.giveBack(delivery, asSwitchboardError(thrown).message)
          })
          .finally(() => {
            if (open.get(turn) === abort) open.delete(turn)
          })
      }),
    begun: (turn) => keep(turn, 'begun'),
    has: (turn) => open.has(turn),
    isEmpty: () => open.size === 0,
    cancel(turn) {
      const found = [...open].filter(([id]) => turn === null || id === turn)
      for (const [id, abort] of found) {
        open.delete(id)
        abort.abort()
      }
      return found.length > 0
    },
  }
}
