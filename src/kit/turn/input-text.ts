// The input of a tool as an approver sees it. Another program made it. Deeply nested values are not indented, because
// their indentation would take quadratic space.

/** Deeper indentation helps no reader. */
const MOST_DEPTH = 32

/** Returns JSON on several lines, or on one if that is too long. Null: it cannot be shown whole within the limit. */
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
    // It is nested too deep to be serialised.
    return null
  }
}

/** Whether it has more than this many levels. It looks no deeper. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((one) => isNestedDeeper(one, levels - 1))
}
