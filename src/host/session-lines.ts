// Messages on their way to the host's own code: in order within a session, sessions beside each other. When too many
// wait, the servers are held back.
export interface SessionLines {
  push(session: string, run: () => void | Promise<void>): void
  /** Resolves when what waits is done. */
  idle(): Promise<void>
}

const MOST_WAITING = 1_000

export function createSessionLines(deps: {
  readonly hold: () => () => void
  readonly failed: (thrown: unknown) => void
}): SessionLines {
  const lines = new Map<string, Promise<void>>()
  let waiting = 0
  let release: (() => void) | null = null

  return {
    push(session, run) {
      waiting++
      if (waiting >= MOST_WAITING) release ??= deps.hold()
      const before = lines.get(session) ?? Promise.resolve()
      const mine = before
        .then(run)
        .catch(deps.failed)
        .finally(() => {
          waiting--
          if (lines.get(session) === mine) lines.delete(session)
          if (waiting > MOST_WAITING / 2 || release === null) return
          const open = release
          release = null
          open()
        })
      lines.set(session, mine)
    },
    async idle() {
      while (lines.size > 0) await Promise.all(lines.values())
    },
  }
}
