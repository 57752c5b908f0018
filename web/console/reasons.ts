// The meaning of reason codes, in the words of the catalogue.
import { reasons } from '../../src/words/en/reasons.ts'

export function reasonWords(code: string): string {
  const known = Object.hasOwn(reasons, code) ? reasons[code as keyof typeof reasons] : undefined
  return known === undefined ? code : `${code}: ${known}`
}
