// Whether a daemon takes messages now: not before it has started, not once it drains, not while its database refuses them.
import type { StoreWatch } from './database/store-watch.ts'

export interface Readiness {
  isReady(): boolean
  /** With what is in the way, for /readyz. */
  report(): { readonly ready: boolean; readonly detail: string }
  isDraining(): boolean
  /** Everything runs. */
  started(): void
  /** From now on it is not ready any more, for good. */
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
