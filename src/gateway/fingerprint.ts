// What a running part was started with: its settings, and the secrets behind them. A part is started anew when this
// changes, so a secret that was replaced reaches those that use it and nobody else.
import { createHash } from 'node:crypto'

const REFERENCE = /"((?:env|file|secret):[^"\\]+)"/g

/** Stays in memory: it is made of digests, but nobody needs to see it. */
export function fingerprintOf(meaning: unknown, secret: (reference: string) => string): string {
  const written = JSON.stringify(meaning)
  const digest = createHash('sha256')
  for (const [, reference = ''] of written.matchAll(REFERENCE))
    digest.update(`${reference}=${behind(reference, secret)}\n`)
  return `${written} ${digest.digest('hex')}`
}

/** One that leads nowhere keeps its part from starting; that is told there. */
function behind(reference: string, secret: (reference: string) => string): string {
  try {
    return secret(reference)
  } catch {
    return ''
  }
}
