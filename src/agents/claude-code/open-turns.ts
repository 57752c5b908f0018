// The turns of one session that Claude Code has, by turn id and by the uuid of their line. Claude Code may merge
// messages, so a result names the lines that it answers. A result without names answers all turns that were begun.
import { createHash } from 'node:crypto'
import type { Delivery } from '../../contract/index.ts'

export interface OpenTurn {
  readonly delivery: Delivery
  readonly uuid: string
  /** Claude Code works on it. */
  started: boolean
  /** Its result came and is being processed. Later output belongs to another turn. */
  over: boolean
}

export interface OpenTurns {
  add(delivery: Delivery, uuid: string): OpenTurn
  remove(turn: string): OpenTurn | undefined
  get(turn: string): OpenTurn | undefined
  byUuid(uuid: string): OpenTurn | undefined
  /** In the order in which they were written. */
  all(): readonly OpenTurn[]
  /** The turn that is being worked on; the first one, if others were merged into it. */
  current(): OpenTurn | undefined
  /** Marks the turns that a result answers as over, and returns them. */
  endedBy(uuids: readonly string[] | null): readonly OpenTurn[]
}

export function createOpenTurns(): OpenTurns {
  const open = new Map<string, OpenTurn>()
  const all = () => [...open.values()]
  const atWork = () => all().filter(({ over }) => !over)
  return {
    add(delivery, uuid) {
      const turn = { delivery, uuid, started: false, over: false }
      open.set(delivery.turn, turn)
      return turn
    },
    remove(turn) {
      const found = open.get(turn)
      open.delete(turn)
      return found
    },
    get: (turn) => open.get(turn),
    byUuid: (uuid) => all().find((one) => one.uuid === uuid),
    all,
    current: () => atWork().find(({ started }) => started) ?? atWork()[0],
    endedBy(uuids) {
      const begun = atWork().filter(({ started }) => started)
      const named = uuids === null ? null : atWork().filter(({ uuid }) => uuids.includes(uuid))
      const ended = named ?? (begun.length > 0 ? begun : atWork().slice(0, 1))
      for (const turn of ended) turn.over = true
      return ended
    },
  }
}

/** Returns the same uuid for the same text, also after a restart, so that a repeated line is recognised. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(`switchboard:${text}`).digest('hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Returns the uuids under which the turn or its continuations may have been written. */
export function uuidsOf({ turn, attempt }: Delivery): readonly string[] {
  return [
    uuidOf(turn),
    ...Array.from({ length: Math.min(attempt, 20) }, (_, at) => uuidOf(`${turn}:${at + 1}`)),
  ]
}
