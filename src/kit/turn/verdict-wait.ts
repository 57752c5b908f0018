// For a connector that asks and waits. Matches verdicts to questions by the approval's id, also if the verdict comes
// first.
import { createBoundedMap, SwitchboardError, type Verdict } from '../../contract/index.ts'

export interface VerdictWait {
  /**
   * Asks, and waits for the verdict. Rejects with the signal's reason, or `agent_failed` when it could not be asked.
   */
  on(ask: () => Promise<string | null>, signal: AbortSignal): Promise<Verdict>
  /** Returns false if no question waits for it. `maybe`: a question whose id is not known yet is being asked. */
  take(verdict: Verdict, maybe: boolean): boolean
}

const EARLY_VERDICTS = 1_000

export function createVerdictWait(): VerdictWait {
  const waiting = new Map<string, (verdict: Verdict) => void>()
  /** Verdicts that came before their question's id was known. */
  const early = createBoundedMap<string, Verdict>(EARLY_VERDICTS)
  let asking = 0
  return {
    async on(ask, signal) {
      asking += 1
      let id: string | null
      try {
        id = await ask()
      } finally {
        asking -= 1
      }
      if (id === null) throw new SwitchboardError('agent_failed', 'the approval could not be asked for')
      const known = early.get(id)
      if (known) {
        early.delete(id)
        return known
      }
      const approval = id
      return new Promise<Verdict>((resolve, reject) => {
        const over = () => {
          waiting.delete(approval)
          reject(signal.reason)
        }
        waiting.set(approval, (verdict) => {
          waiting.delete(approval)
          signal.removeEventListener('abort', over)
          resolve(verdict)
        })
        signal.addEventListener('abort', over, { once: true })
        if (signal.aborted) over()
      })
    },
    take(verdict, maybe) {
      const waits = waiting.get(verdict.approval)
      if (waits) {
        waits(verdict)
        return true
      }
      if (!maybe || asking === 0) return false
      early.set(verdict.approval, verdict)
      return true
    },
  }
}
