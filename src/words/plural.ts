// Counted nouns of English. Another language brings its own rule.

/** Returns `1 message` or `3 messages`. Without `other`, the plural adds an s. */
export function plural(count: number, one: string, other = `${one}s`): string {
  return `${count} ${count === 1 ? one : other}`
}
