// JSON for scripts: one object a line, and nothing in it that a terminal would obey.

// JSON.stringify escapes C0 but leaves these raw: delete, C1 controls and the line separators.
const RAW = /[\u007f-\u009f\u2028\u2029]/g

/** One value as one line, without the line break. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    RAW,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
