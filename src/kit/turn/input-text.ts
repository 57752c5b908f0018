// The input of a tool as an approver is shown it. It was made by somebody else's program, and may be nested so deep that to
// write it on several lines takes the square of its length.

/** Nested deeper nobody reads it by its indentation. */
const MOST_DEPTH = 32

/** JSON on several lines, or on one where that is too much. Null: it cannot be shown whole within so many characters. */
export function inputText(value: unknown, mostChars: number): string | null {
  const line = written(value)
  if (line === null || line.length > mostChars) return null
  if (isNestedDeeper(value, MOST_DEPTH)) return line
  const lines = JSON.stringify(value, null, 2) ?? ''
  return lines.length > mostChars ? line : lines
}

function written(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // Nested so deep that it has no text.
    return null
  }
}

/** Whether it is nested in more than so many levels. Looks no further down than that. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((one) => isNestedDeeper(one, levels - 1))
}
