// Acts beside the conversation: a reaction, the edit by which a question of ours is retired. They give way to what is said,
// and are given up soon: nobody waits for them.
import { conversationLane, sideLane, streamLane } from '../message/address.ts'
import type { NewSend, SendRow } from './send-records.ts'

type Act = Pick<NewSend, 'cause'> & { readonly op: NewSend['op'] | SendRow['op'] }

export function isSideAct({ op, cause }: Act): boolean {
  return op?.kind === 'react' || (op?.kind === 'edit' && cause === 'notice')
}

/** How long it is tried. A prompt whose edit is given up keeps its buttons, so that one is tried for longer. */
export function sideActLifeMs({ op }: Act): number {
  return op?.kind === 'react' ? 60_000 : 300_000
}

/** One message of a lane at a time, in order. */
export function sendLane(send: Act & Pick<NewSend, 'to' | 'turn'>): string {
  if (send.op?.kind === 'text' && send.op.partial && send.turn !== null) return streamLane(send.to, send.turn)
  return isSideAct(send) ? sideLane(send.to) : conversationLane(send.to)
}

/** The idempotency key of the row of an answer that is shown while it is written: one for each turn. */
export function streamKey(turn: string): string {
  return `stream:${turn}`
}
