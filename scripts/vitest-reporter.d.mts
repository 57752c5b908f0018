// The types of the reporter for its tests.
export const LEFT_TO_TEST_ALL: string
export function suitesMissing(
  root: string,
  ran: ReadonlySet<string>,
  part?: 'quick' | 'system' | 'all',
): readonly string[]
export function timeTable(
  files: readonly { readonly file: string; readonly seconds: number; readonly passed: number }[],
  took: number,
): readonly string[]
export function tally(count: {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}): string
