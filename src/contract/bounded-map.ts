// The map for data that others can fill. Above its size it forgets the entry that was set longest ago, so its content
// must be safe to forget.

export interface BoundedMap<Key, Value> extends Iterable<readonly [Key, Value]> {
  readonly size: number
  get(key: Key): Value | undefined
  has(key: Key): boolean
  /** Sets a value. A key that is set again becomes the newest. */
  set(key: Key, value: Value): void
  /** Changes a value and keeps its age. Does nothing for an absent key. */
  update(key: Key, value: Value): void
  delete(key: Key): boolean
  clear(): void
  /** Oldest first. */
  values(): Iterable<Value>
}

export function createBoundedMap<Key, Value>(most: number): BoundedMap<Key, Value> {
  const entries = new Map<Key, Value>()
  return {
    get size() {
      return entries.size
    },
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    set(key, value) {
      entries.delete(key) // A Map keeps the order of insertion.
      entries.set(key, value)
      if (entries.size <= most) return
      const oldest = entries.keys().next()
      if (!oldest.done) entries.delete(oldest.value)
    },
    update(key, value) {
      if (entries.has(key)) entries.set(key, value)
    },
    delete: (key) => entries.delete(key),
    clear: () => entries.clear(),
    values: () => entries.values(),
    [Symbol.iterator]: () => entries.entries(),
  }
}
