// What the codes of reasons mean, in the words of the one table.
import { REASONS } from '../../src/contract/message/reasons.ts'

export function reasonWords(code: string): string {
  const known = Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS] : undefined
  return known === undefined ? code : `${code}: ${known.text}`
}
