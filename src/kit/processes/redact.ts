// Makes a server's output fit to be shown: secrets masked, control characters removed, short.
const SHOWN_CHARS = 500
const MASK = '[redacted]'

/** Returns a function that masks these values everywhere. A header's `Bearer x` also masks `x` alone. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const values = [...new Set(secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]))]
    // Shorter values are not secrets, and masking them would hide ordinary words.
    .filter((value) => value.length >= 4)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    let shown = text
    for (const value of values) shown = shown.replaceAll(value, MASK)
    const plain = shown.replace(/\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '').replace(/\p{Cc}+/gu, ' ')
    return plain.length > SHOWN_CHARS ? `${plain.slice(0, SHOWN_CHARS)}…` : plain
  }
}
