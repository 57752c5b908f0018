// A question that is asked of a platform once and remembered; asked again while it fails. Those who ask at once share the answer.

export interface MemoizedAsync<T> {
  (): Promise<T>
  /** What is known already; null: nothing yet. */
  readonly known: () => T | null
  /** Asked anew the next time: the answer may have changed there. */
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
