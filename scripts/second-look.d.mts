// The types of the script for its tests.
export interface RunVerdict {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: readonly { readonly title: string; readonly file?: string | undefined }[]
}
export function secondLook(verdict: RunVerdict): readonly string[] | null
export function bothLooks(
  first: RunVerdict,
  second: RunVerdict | null,
): {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly unsteady: readonly string[]
}
