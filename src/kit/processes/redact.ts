// The words of a server, fit to be shown: its secrets masked, control characters gone, short.
const SHOWN_CHARS = 500
const MASK = '[redacted]'

/** A function that masks these values wherever they stand. A header's `Bearer x` also masks `x` alone. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const values = [...new Set(secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]))]
    // What is shorter than this is no secret, and masking it would blank out ordinary words.
    .filter((value) => value.length >= 4)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    let shown = text
    for (const value of values) shown = shown.replaceAll(value, MASK)
    const plain = shown.replace(/\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '').replace(/\p{Cc}+/gu, ' ')
    return plain.length > SHOWN_CHARS ? `${plain.slice(0, SHOWN_CHARS)}…` : plain
  }
}
