// Which of the options that an ACP agent offers is a person's yes or no. By kind alone: the order is the agent's, and several put
// "always" first. What was allowed is allowed for one call.
import type { PermissionOption, RequestPermissionOutcome } from '@agentclientprotocol/sdk'

/** None that fits: the agent is told that nobody chose. That is no permission, whatever it offers. */
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

/** Whether a yes could be said at all: where it could not, nobody is asked for one. */
export function canAllow(
  options: readonly PermissionOption[],
  { always }: { readonly always: boolean },
): boolean {
  return outcomeOf('allow', options, { always }).outcome === 'selected'
}
