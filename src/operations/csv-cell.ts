// One cell of a CSV file.

/** Strangers choose some of these texts: what a spreadsheet would take for a formula is marked as text. */
export function csvCell(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
