// Side acts: a reaction, or the edit that retires a question of ours. They have low priority and are given up soon,
// because nothing waits for them.
import { conversationLane, sideLane, streamLane } from '../message/address.ts'
import type { NewSend, SendRow } from './send-records.ts'

type Act = Pick<NewSend, 'cause'> & { readonly op: NewSend['op'] | SendRow['op'] }

export function isSideAct({ op, cause }: Act): boolean {
  return op?.kind === 'react' || (op?.kind === 'edit' && cause === 'notice')
}

/** Returns how long it is tried. A prompt whose edit is given up keeps its buttons, so an edit is tried longer. */
export function sideActLifeMs({ op }: Act): number {
  return op?.kind === 'react' ? 60_000 : 300_000
}

/** Returns the lane of a send. One message of a lane is sent at a time, in order. */
export function sendLane(send: Act & Pick<NewSend, 'to' | 'turn'>): string {
  if (send.op?.kind === 'text' && send.op.partial && send.turn !== null) return streamLane(send.to, send.turn)
  return isSideAct(send) ? sideLane(send.to) : conversationLane(send.to)
}

/** Returns the idempotency key of an answer that is shown while it is written: one per turn. */
export function streamKey(turn: string): string {
  return `stream:${turn}`
}
