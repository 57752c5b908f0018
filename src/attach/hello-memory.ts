// What a shim says in its hello to every next daemon: the turns that its host holds, and the permission requests that
// it passed on. So nothing is handed over or asked twice.
import { createBoundedMap, type HeldTurn, MOST_HELD } from '../contract/index.ts'
import {
  ATTACH_VERSION,
  boundedName,
  type DaemonFrame,
  type HelloFrame,
  isTooLong,
  MAX_PLACE,
  type ShimFrame,
} from './frames.ts'

type AskFrame = Extract<ShimFrame, { t: 'ask' }>

export interface ShimIdentity {
  readonly agent: string
  readonly dialect: 'claude' | 'nexo'
  readonly routingKey: string | null
  /** Distinguishes this process from others of the same host. */
  readonly shim: string
  /** Where the host works. Left out if it is too long for a frame. */
  readonly folder?: string
}

export interface HelloMemory {
  hello(): HelloFrame
  handed(turn: HeldTurn): void
  /** Records from a call's answer which turns the host has seen and finished. */
  answered(result: Pick<Extract<DaemonFrame, { t: 'result' }>, 'proven' | 'seen' | 'done'>): void
  asking(frame: AskFrame): void
  /** The daemon has the request of that frame. */
  asked(frame: number): void
  /** Returns the requests that no daemon has confirmed. */
  unsentAsks(): readonly AskFrame[]
}

const ASKS_REMEMBERED = 500
/** This many turns fit into a hello, however long their ids are. */
const HELD_OF_ANY_LENGTH = 100

export function createHelloMemory(identity: ShimIdentity): HelloMemory {
  const { agent, dialect, routingKey, shim, folder } = identity
  const held = createBoundedMap<string, HeldTurn>(MOST_HELD)
  // Permission requests by the host's id. Null: a daemon has confirmed the request, so it is not sent again.
  const asks = createBoundedMap<string, AskFrame | null>(ASKS_REMEMBERED)
  let proven = false
  return {
    hello() {
      const frame: HelloFrame = {
        t: 'hello',
        v: ATTACH_VERSION,
        agent,
        dialect,
        routingKey: routingKey === null ? null : boundedName(routingKey),
        shim,
        held: [...held.values()],
        asks: [...asks].filter(([, unsent]) => unsent === null).map(([id]) => id),
        proven,
        ...(folder && folder.length <= MAX_PLACE ? { folder } : {}),
      }
      // With extremely long ids it may be too long. A repeated hand-over is better than no connection.
      return isTooLong(frame) ? { ...frame, held: frame.held.slice(-HELD_OF_ANY_LENGTH) } : frame
    },
    handed: (turn) => held.set(turn.turn, turn),
    answered(result) {
      proven = proven || result.proven
      for (const turn of result.seen) {
        const known = held.get(turn)
        if (known) held.update(turn, { ...known, seen: true })
      }
      for (const turn of result.done) held.delete(turn)
    },
    asking: (frame) => asks.set(frame.requestId, frame),
    asked(frame) {
      for (const [id, unsent] of asks) if (unsent?.id === frame) asks.update(id, null)
    },
    unsentAsks: () => [...asks.values()].filter((unsent) => unsent !== null),
  }
}
