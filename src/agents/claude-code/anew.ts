// Turns that were interrupted and of which nothing is left to know them by: each rests with a person, who says whether it is begun
// anew. No process is needed for that, and what others write meanwhile goes on.
import {
  type AgentOutlet,
  asSwitchboardError,
  type Delivery,
  type TurnJournal,
} from '../../contract/index.ts'
import { anewStanding, askWhetherAnew, type createVerdictWait } from '../../kit/index.ts'

export interface AnewTurns {
  /** Asked before, in this life or an earlier one, and not begun since. */
  isOpen(turn: string): Promise<boolean>
  /** Resolves when the question was put; what becomes of it is told behind that. */
  ask(delivery: Delivery): Promise<void>
  /** It is begun now: a yes is for one beginning. */
  begun(turn: string): Promise<void>
  has(turn: string): boolean
  isEmpty(): boolean
  /** Nobody needs to answer any more. True: somebody was asked. */
  cancel(turn: string | null): boolean
}

export interface AnewDeps {
  readonly journal: TurnJournal
  readonly outlet: () => AgentOutlet
  readonly verdicts: ReturnType<typeof createVerdictWait>
  /** A person wants it; aborted: and then did not. */
  readonly begin: (delivery: Delivery, signal: AbortSignal) => Promise<void>
  readonly fail: (delivery: Delivery, words: string) => Promise<void>
  readonly giveBack: (delivery: Delivery, words: string) => Promise<void>
}

const TRIES = 5

export function createAnewTurns(deps: AnewDeps): AnewTurns {
  const { journal } = deps
  const open = new Map<string, AbortController>()

  const keep = async (turn: string, anew: 'asked' | 'begun') => {
    // What the turn cost is written there as well: the place may be taken.
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
