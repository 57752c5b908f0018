// Counted nouns of English. Another language brings its own rule.

export interface Counted {
  readonly count: number
}

/** Returns `1 message` or `3 messages`. Without `other`, the plural adds an s. */
export function plural(count: number, one: string, other = `${one}s`): string {
  return `${count} ${count === 1 ? one : other}`
}

/** Makes a text of a counted noun. Large counts are grouped as the reader's system does. */
export function counted(one: string, other: string) {
  return ({ count }: Counted) => `${count.toLocaleString()} ${count === 1 ? one : other}`
}
