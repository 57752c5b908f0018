// Asks a platform once and remembers the answer. A failure is asked again. Concurrent callers share one request.

export interface MemoizedAsync<T> {
  (): Promise<T>
  /** The remembered answer; null: none yet. */
  readonly known: () => T | null
  /** Forgets the answer, because it may have changed on the platform. */
  readonly forget: () => void
}

export function memoizeAsync<T>(ask: () => Promise<T>): MemoizedAsync<T> {
  let asking: Promise<T> | null = null
  let known: T | null = null
  const asked = () => {
    asking ??= ask().then(
      (answer) => {
        known = answer
        return answer
      },
      (thrown: unknown) => {
        asking = null
        throw thrown
      },
    )
    return asking
  }
  return Object.assign(asked, {
    known: () => known,
    forget: () => {
      asking = null
    },
  })
}
