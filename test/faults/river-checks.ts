// What must hold after any fault. Everything acknowledged is there, settled, answered once, in order, and the ledger
// agrees. It asks through the command line, as an operator would.
import { expect } from 'vitest'
import type { Message } from './hook-client.ts'
import { askJson, askLines } from './scene.ts'
import { until } from './until.ts'

export interface Turn {
  readonly id: string
  readonly address: string
  readonly state: string
  readonly reason: string | null
  readonly attempts: number
  readonly message_id: string
  readonly text: string
}

export interface Send {
  readonly id: string
  readonly to: string
  readonly state: string
  readonly cause: string
  readonly turn: string | null
  readonly text: string
}

export interface Status {
  readonly ready: boolean
  readonly counts: Readonly<Record<string, number>>
  readonly outbox: Readonly<Record<string, number>>
  readonly approvals: { readonly pending: number }
  readonly config: { readonly problem: string | null }
  readonly store: { readonly kind: string; readonly durability: string; readonly problem?: string }
}

export interface Audit {
  readonly ok: boolean
  readonly entries: number
  readonly chain: string
  readonly conservation: { readonly received: number; readonly accounted: number; readonly ok: boolean }
}

interface LedgerLine {
  readonly kind: string
  readonly ref: string
  readonly to: string
}

export const AGAIN = 'delivered again'

/** Waits until no turn and no send is open. */
export function settled(data: string): Promise<Status> {
  return until('everything is settled', async () => {
    const status = await askJson<Status>(data, 'status')
    const { queued = 0, handed = 0, seen = 0 } = status.counts
    return queued + handed + seen + (status.outbox.queued ?? 0) === 0 ? status : null
  })
}

/** All turns, oldest first. */
export async function turnsOf(data: string): Promise<readonly Turn[]> {
  return (await askLines<Turn>(data, 'turns')).toReversed()
}

/** All sends, oldest first. */
export async function sendsOf(data: string): Promise<readonly Send[]> {
  return (await askLines<Send>(data, 'outbox')).toReversed()
}

/** Throws when the chain or the counts are wrong, or a send was `sent` twice. */
export async function expectLedgerHolds(data: string): Promise<void> {
  const audit = await askJson<Audit>(data, 'audit', 'verify')
  expect(audit).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
  const ledger = await askLines<LedgerLine>(data, 'audit', 'export')
  const sent = ledger.filter((line) => line.kind === 'send' && line.to === 'sent').map((line) => line.ref)
  expect(repeated(sent)).toEqual([])
}

/**
 * Expects every acknowledged echo under its first id, answered exactly once. It says so if it was handed over more than
 * once. Answers have the order in which the conversation was received.
 */
export async function expectAllAnswered(
  data: string,
  acknowledged: ReadonlyMap<string, { readonly id: string; readonly message: Message }>,
): Promise<void> {
  const turns = await turnsOf(data)
  const replies = (await sendsOf(data)).filter((send) => send.cause === 'reply')
  expect(turns.map((turn) => turn.message_id).toSorted()).toEqual([...acknowledged.keys()].toSorted())
  expect(turns.filter((turn) => turn.state !== 'answered')).toEqual([])
  expect(replies.filter((send) => send.state !== 'sent')).toEqual([])
  expect(repeated(replies.map((send) => send.turn ?? ''))).toEqual([])

  const replyTo = new Map(replies.map((send) => [send.turn, send]))
  for (const turn of turns) {
    const asked = acknowledged.get(turn.message_id)
    const said = replyTo.get(turn.id)?.text
    const mark = turn.attempts > 1 ? `\n(${AGAIN} after an interruption)` : ''
    expect({ id: turn.id, said }).toEqual({ id: asked?.id, said: `You said: ${asked?.message.text}${mark}` })
  }
  const answered = replies.map((send) => ({ place: send.to, text: bare(send.text) }))
  const received = turns.map((turn) => ({ place: turn.address, text: turn.text }))
  expect(byPlace(answered)).toEqual(byPlace(received))
}

/** The texts of each conversation, in order. */
function byPlace(items: readonly { readonly place: string; readonly text: string }[]) {
  const places: Record<string, string[]> = {}
  for (const { place, text } of items) {
    places[place] ??= []
    places[place].push(text)
  }
  return places
}

/** The words of an echo. */
export function bare(text: string): string {
  return text.replace('You said: ', '').replace(/\n\(delivered again.*\)$/, '')
}

export function repeated(items: readonly string[]): readonly string[] {
  return [...new Set(items.filter((item, at) => items.indexOf(item) !== at))]
}
