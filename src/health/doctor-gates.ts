// The gates of the live path for `doctor`: each with pass or the reason, and the key that changes it.

import {
  type AgentSettings,
  type Binding,
  CHANNEL_PLATFORM,
  type Counter,
  type DoctorReport,
  type GateView,
  type IntegrationSettings,
  type RecentRefusals,
} from '../contract/index.ts'
import { reasonIn, wordsIn } from '../words/index.ts'

/** The rights on an integration beyond its own list, and whether an agent listens. */
export interface Standing {
  /** The number admitted by pairing or by an operator. */
  readonly paired: number
  /** The number of approvers, from any source of the right. */
  readonly approvers: number
  /** An agent takes its messages. */
  readonly bound: boolean
}

/** For a missing integration. */
const NO_STANDING: Standing = { paired: 0, approvers: 0, bound: false }

/** Returns the gates before intake: enabled, policy readable, who may talk, who may decide. */
export function integrationGates(
  one: IntegrationSettings,
  { paired, approvers, bound }: Standing = NO_STANDING,
): readonly GateView[] {
  const key = `${one.origin}.access`
  const enabled = gate('enabled', one.enabled, one.enabled ? 'on' : 'switched off', `${one.origin}.enabled`)
  if (!one.access.readable)
    return [enabled, gate('policy', false, `unreadable, the door is closed: ${one.access.problem}`, key)]
  const { dm, allowFrom, groups } = one.access
  return [
    enabled,
    ...(bound || !one.enabled ? [] : [unboundGate(one)]),
    gate('direct messages', dm !== 'disabled', senderWords(dm, allowFrom, paired), `${key}.dm`),
    ...(allowFrom.includes('*')
      ? [flagged('allow_from', 'anybody may talk: "*" is listed', `${key}.allow_from`)]
      : []),
    ...Object.entries(groups).map(([id, group]) => {
      const at = `${key}.groups["${id}"]`
      const mention = group.requireMention ? ', when the agent is mentioned' : ''
      if (group.allowFrom.includes('*'))
        return flagged(`group ${id}`, `any member may talk${mention}: "*" is listed`, `${at}.allow_from`)
      const listed =
        group.allowFrom.length > 0 ? `${group.allowFrom.length} listed` : 'whoever may talk directly'
      return gate(`group ${id}`, true, `${listed}${mention}`, at)
    }),
    gate('approvers', true, approverWords(dm, approvers), `${key}.approvers`),
  ]
}

/** An agent named in the scope may send there without receiving. */
function unboundGate({ scope, origin }: IntegrationSettings): GateView {
  if (scope !== 'bound')
    return gate('binding', true, 'for sending only: no agent takes what arrives', `${origin}.scope`)
  return gate(
    'binding',
    false,
    'no agent takes what arrives, so it is refused; scope: all says that it is for sending only',
    'agents[].inbound_bindings',
  )
}

function approverWords(dm: string, approvers: number): string {
  if (approvers > 0) return `${approvers} may decide`
  return dm === 'pairing'
    ? 'nobody yet: pair somebody, or list them in access.approvers'
    : 'nobody yet: list them in access.approvers'
}

function senderWords(dm: string, allowFrom: readonly string[], paired: number): string {
  switch (dm) {
    case 'credential':
      return allowFrom.length > 0
        ? `credential, and one of ${allowFrom.length} listed`
        : 'whoever holds the credential'
    case 'allowlist':
      return `${allowFrom.length} listed, ${paired} granted`
    case 'pairing':
      return `${paired} paired or granted, and ${allowFrom.length} listed`
    default:
      return 'off'
  }
}

export interface Path {
  /** The index of the agent's binding. */
  readonly at: number
  readonly integration: IntegrationSettings | undefined
  readonly link: { readonly link: string; readonly detail?: string }
  readonly attached: boolean
  readonly detail: string | undefined
  readonly standing: Standing | undefined
  /** Gates of the adapters; those of a channel server are with its integration. */
  readonly own: readonly GateView[]
  /** The binding's channel server, if any. */
  readonly server: ServerStanding | null
}

/** A channel server as one agent has it: an integration with all of its gates. */
export interface ServerStanding {
  readonly integration: string
  readonly link: Path['link']
  readonly gates: readonly GateView[]
}

/** Returns the gates of the whole path from the platform to the agent. */
export function bindingGates(agent: AgentSettings, binding: Binding, path: Path): readonly GateView[] {
  const { integration, link } = path
  // A binding made for a channel server is not in the file.
  const at =
    integration?.platform === CHANNEL_PLATFORM
      ? integration.origin
      : `${agent.origin}.inbound_bindings[${path.at}]`
  const attached = gate(
    'agent',
    path.attached,
    path.detail ?? (path.attached ? 'attached' : 'nobody is attached'),
    `${agent.origin}.connector`,
  )
  // Its gates are shown once, with its integration. A written binding refers to the generated one.
  const limit = binding.senderLimit
  const limiting =
    binding.limitedBy === undefined ? at : `${agent.origin}.inbound_bindings[${binding.limitedBy}]`
  const limited = limit ? [gate('limit', true, limitWords(limit), `${limiting}.rate_limit`)] : []
  if (path.server && !integration) return [serverGate(path.server, at)]
  if (path.server) return [serverGate(path.server, at), ...path.own, ...limited, attached]
  if (!integration)
    return [gate('integration', false, `no integration "${binding.instance}"`, `${at}.instance`)]
  return [
    gate('integration', true, 'configured', `${at}.instance`),
    gate('link', link.link !== 'down', link.detail ?? link.link, integration.origin),
    ...integrationGates(integration, path.standing),
    ...path.own,
    ...limited,
    attached,
  ]
}

/** Open only if all of its gates are: a skipped server admits nothing. */
function serverGate({ integration, link, gates }: ServerStanding, at: string): GateView {
  const shut = gates.find((one) => !one.pass)
  if (shut) return gate('server', false, `skipped (${shut.gate}): see ${integration}`, shut.key)
  if (link.link === 'down') return gate('server', false, `${link.detail ?? 'down'}: see ${integration}`, at)
  return gate('server', true, `all its gates are open: see ${integration}`, at)
}

function limitWords({ rps, burst }: { readonly rps: number; readonly burst: number }): string {
  return rps === 0 || burst === 0 ? 'none' : `${rps} a second per sender, ${burst} at once`
}

/** The key of the newest refusal, by integration and reason. */
export type RecordedKeys = ReadonlyMap<string, string>

const recordedName = (integration: string, reason: string) => JSON.stringify([integration, reason])

export function recordedKeys(refused: readonly RecentRefusals[]): RecordedKeys {
  return new Map(
    refused.flatMap(({ integration, reason, key }) =>
      key === null ? [] : [[recordedName(integration, reason), key] as const],
    ),
  )
}

type Refusals = DoctorReport['integrations'][number]['refusals']

/** Returns the refusals so far, with the key of the newest one, else the key of the present gates. */
export function refusals(
  counters: readonly Counter[],
  one: IntegrationSettings,
  { recorded, own }: { readonly recorded: RecordedKeys; readonly own: readonly GateView[] },
): Refusals {
  const drawn = (reason: string) => recorded.get(recordedName(one.id, reason))
  return counters
    .filter((counter) => counter.name === 'refused' && counter.count > 0)
    .map(({ reason, count }) => ({
      reason,
      count,
      text: reasonIn(wordsIn(), reason) ?? '',
      key: drawn(reason) ?? ownKey(reason, own) ?? keyOf(reason, one),
    }))
    .toSorted((a, b) => b.count - a.count)
}

/** If the adapter has such a gate, that gate has the key. */
function ownKey(reason: string, own: readonly GateView[]): string | undefined {
  const name = reason === 'rate_limited' ? 'limit' : reason.replace(/^gate_/, '')
  return own.find((each) => each.gate === name)?.key
}

function keyOf(reason: string, { origin }: IntegrationSettings): string {
  const access = `${origin}.access`
  switch (reason) {
    case 'sender_not_allowed':
    case 'pairing_required':
      return `${access}.allow_from`
    case 'dm_disabled':
      return `${access}.dm`
    case 'group_not_listed':
      return `${access}.groups`
    case 'not_mentioned':
      return `${access}.groups[].require_mention`
    case 'not_approver':
      return `${access}.approvers`
    case 'policy_unreadable':
      return access
    case 'integration_disabled':
      return `${origin}.enabled`
    case 'no_binding':
      return 'agents[].inbound_bindings'
    case 'rate_limited':
      return 'tunables.sender_limit'
    case 'flood':
      return 'tunables.flood_limit'
    default:
      return '' // nothing in the configuration would change it
  }
}

function gate(name: string, pass: boolean, reason: string, key: string): GateView {
  return { gate: name, pass, reason, key }
}

function flagged(name: string, reason: string, key: string): GateView {
  return { gate: name, pass: true, flagged: true, reason, key }
}
