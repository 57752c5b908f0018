// Whether a daemon accepts messages now. It does not before it started, while it drains, or while its database refuses.
import type { StoreWatch } from './database/store-watch.ts'

export interface Readiness {
  isReady(): boolean
  /** The state with the reason, for /readyz. */
  report(): { readonly ready: boolean; readonly detail: string }
  isDraining(): boolean
  /** Marks the start as complete. */
  started(): void
  /** Makes the daemon permanently unready. */
  drain(): void
}

export function createReadiness(watch: Pick<StoreWatch, 'problem'>): Readiness {
  let ready = false
  let draining = false
  const isReady = () => ready && !draining && watch.problem() === null
  return {
    isReady,
    report: () => ({
      ready: isReady(),
      detail: draining ? 'draining' : ready ? (watch.problem() ?? 'ready') : 'starting',
    }),
    isDraining: () => draining,
    started() {
      ready = true
    },
    drain() {
      draining = true
    },
  }
}
