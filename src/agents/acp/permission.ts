// Chooses the option of an ACP agent that means a person's yes or no. Only the kind counts: agents choose the order,
// and some put "always" first. A yes allows one call.
import type { PermissionOption, RequestPermissionOutcome } from '@agentclientprotocol/sdk'

/** No option fits. The agent hears that none was chosen, which is no permission. */
export const NOBODY_CHOSE: RequestPermissionOutcome = { outcome: 'cancelled' }

export function outcomeOf(
  behavior: 'allow' | 'deny',
  options: readonly PermissionOption[],
  { always }: { readonly always: boolean },
): RequestPermissionOutcome {
  const of = (kind: PermissionOption['kind']) => options.find((option) => option.kind === kind)
  const chosen =
    behavior === 'allow' ? (of('allow_once') ?? (always ? of('allow_always') : undefined)) : of('reject_once')
  return chosen ? { outcome: 'selected', optionId: chosen.optionId } : NOBODY_CHOSE
}

/** Whether a yes is possible. If not, no person is asked. */
export function canAllow(
  options: readonly PermissionOption[],
  { always }: { readonly always: boolean },
): boolean {
  return outcomeOf('allow', options, { always }).outcome === 'selected'
}
