// Facts from the store that the steps need about an event. They are read before the steps run, because the steps are
// pure.
import {
  type Address,
  type ApprovalRow,
  everyRow,
  type InboundVerdict,
  type Store,
} from '../../contract/index.ts'
import type { MessageForm } from './message-form.ts'

const DECIDED_STAYS_KNOWN_MS = 24 * 3_600_000

/** Returns the approval that a message names. A decided approval counts for 24 hours. */
export async function namedApproval(
  store: Pick<Store, 'approval'>,
  form: MessageForm | null,
  now: number,
): Promise<ApprovalRow | null> {
  if (form?.kind !== 'verdict' && form?.kind !== 'show') return null
  const row = await store.approval(form.id)
  if (!row) return null
  const endedAt = row.state === 'pending' ? now : (row.decidedAt ?? row.expiresAt)
  return now - endedAt <= DECIDED_STAYS_KNOWN_MS ? row : null
}

/**
 * Returns the holder of the place. Only a command or a claim needs it; for other messages the commit itself checks.
 */
export async function holderAt(
  store: Pick<Store, 'takeoverAt'>,
  form: MessageForm | null,
  at: Address,
): Promise<string | null> {
  if (form?.kind !== 'command' && form?.kind !== 'claim') return null
  const live = await store.takeoverAt(at)
  return live?.state === 'held' ? (live.holderName ?? live.holder) : null
}

/**
 * Whether the request was written to the server's pipe, as far as is known. A waiting or failed request was never
 * shown to it.
 */
export async function wasAsked(
  store: Pick<Store, 'sends'>,
  { approval, conversation }: InboundVerdict,
  integration: string,
): Promise<boolean> {
  const states = ['sending', 'sent', 'unknown'] as const
  const prompts = { approval, integration, states }
  for await (const row of everyRow((page) => store.sends({ ...prompts, ...page })))
    if (row.op?.kind === 'prompt' && row.conversation === conversation) return true
  return false
}
