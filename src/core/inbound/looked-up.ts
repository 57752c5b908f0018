// What the steps must know of the store about an event, asked for before they run: they are pure.
import {
  type Address,
  type ApprovalRow,
  everyRow,
  type InboundVerdict,
  type Store,
} from '../../contract/index.ts'
import type { MessageForm } from './message-form.ts'

const DECIDED_STAYS_KNOWN_MS = 24 * 3_600_000

/** The one that a message is about: also one that was decided, for a while. */
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

/** Only what would change where the place leads asks for it: what is said there the commit itself looks at. */
export async function holderAt(
  store: Pick<Store, 'takeoverAt'>,
  form: MessageForm | null,
  at: Address,
): Promise<string | null> {
  if (form?.kind !== 'command' && form?.kind !== 'claim') return null
  const live = await store.takeoverAt(at)
  return live?.state === 'held' ? (live.holderName ?? live.holder) : null
}

/** Written to the server's pipe, as far as is known: one that waits or failed was never shown to it. */
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
