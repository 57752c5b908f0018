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
interface Rights {
  /** The number admitted by pairing or by an operator. */
  readonly paired: number
  /** The number of approvers, from any source of the right. */
  readonly approvers: number
  /** An agent takes its messages. */
  readonly bound: boolean
}

/** Returns the gates before intake: enabled, policy readable, who may talk, who may decide. */
export function integrationGates(
  one: IntegrationSettings,
  { paired, approvers, bound }: Rights,
): readonly GateView[] {
  const key = `${one.origin}.access`
  const words = wordsIn().gates
  const enabled = gate(
    'enabled',
    one.enabled,
    one.enabled ? words.on : words.switchedOff,
    `${one.origin}.enabled`,
  )
  if (!one.access.readable) return [enabled, gate('policy', false, words.policyUnreadable(one.access), key)]
  const { dm, allowFrom, groups } = one.access
  return [
    enabled,
    ...(bound || !one.enabled ? [] : [unboundGate(one)]),
    gate('direct messages', dm !== 'disabled', senderWords(dm, allowFrom, paired), `${key}.dm`),
    ...(allowFrom.includes('*') ? [flagged('allow_from', words.anybody, `${key}.allow_from`)] : []),
    ...Object.entries(groups).map(([id, group]) => {
      const at = `${key}.groups["${id}"]`
      if (group.allowFrom.includes('*'))
        return flagged(`group ${id}`, words.group.anyMember(group), `${at}.allow_from`)
      const listed = words.group.listed({ ...group, count: group.allowFrom.length })
      return gate(`group ${id}`, true, listed, at)
    }),
    gate('approvers', true, approverWords(dm, approvers), `${key}.approvers`),
  ]
}

/** An agent named in the scope may send there without receiving. */
function unboundGate({ scope, origin }: IntegrationSettings): GateView {
  const { sendsOnly, refused } = wordsIn().gates.unbound
  if (scope !== 'bound') return gate('binding', true, sendsOnly, `${origin}.scope`)
  return gate('binding', false, refused, 'agents[].inbound_bindings')
}

function approverWords(dm: string, approvers: number): string {
  const words = wordsIn().gates.approvers
  if (approvers > 0) return words.some({ count: approvers })
  return dm === 'pairing' ? words.nonePairing : words.none
}

function senderWords(dm: string, allowFrom: readonly string[], paired: number): string {
  const words = wordsIn().gates.senders
  const counts = { listed: allowFrom.length, granted: paired }
  switch (dm) {
    case 'credential':
      return counts.listed > 0 ? words.credentialListed({ count: counts.listed }) : words.credential
    case 'allowlist':
      return words.allowlist(counts)
    case 'pairing':
      return words.pairing(counts)
    default:
      return words.off
  }
}

interface LinkView {
  readonly link: string
  readonly detail?: string
}

/** A channel server as one agent has it: an integration with all of its gates. */
export interface ServerStanding {
  readonly integration: string
  readonly link: LinkView
  readonly gates: readonly GateView[]
}

interface Path {
  /** The index of the agent's binding. */
  readonly at: number
  readonly integration: IntegrationSettings | undefined
  readonly link: LinkView
  readonly standing: { readonly attached: boolean; readonly detail?: string }
  /** Gates of the integration and the adapters. Those of a channel server are with its integration. */
  readonly own: readonly GateView[]
  /** The binding's channel server, if any. */
  readonly server: ServerStanding | null
}

/** Returns the gates of the whole path from the platform to the agent. */
export function bindingGates(agent: AgentSettings, binding: Binding, path: Path): readonly GateView[] {
  const { integration, link, standing, own, server } = path
  const words = wordsIn().gates
  // A binding made for a channel server is not in the file.
  const at =
    integration?.platform === CHANNEL_PLATFORM
      ? integration.origin
      : `${agent.origin}.inbound_bindings[${path.at}]`
  if (server && !integration) return [serverGate(server, at)]
  if (!integration)
    return [gate('integration', false, words.noIntegration({ id: binding.instance }), `${at}.instance`)]
  const { senderLimit: limit, limitedBy } = binding
  // Its gates are shown once, with its integration. A written binding refers to the generated one.
  const limiting = limitedBy === undefined ? at : `${agent.origin}.inbound_bindings[${limitedBy}]`
  const presence = standing.detail ?? (standing.attached ? words.attached : words.notAttached)
  return [
    ...(server
      ? [serverGate(server, at)]
      : [
          gate('integration', true, words.configured, `${at}.instance`),
          gate('link', link.link !== 'down', link.detail ?? link.link, integration.origin),
        ]),
    ...own,
    ...(limit ? [gate('limit', true, limitWords(limit), `${limiting}.rate_limit`)] : []),
    gate('agent', standing.attached, presence, `${agent.origin}.connector`),
  ]
}

/** Open only if all of its gates are: a skipped server admits nothing. */
function serverGate({ integration, link, gates }: ServerStanding, at: string): GateView {
  const words = wordsIn().gates.server
  const shut = gates.find((one) => !one.pass)
  if (shut) return gate('server', false, words.skipped({ gate: shut.gate, integration }), shut.key)
  if (link.link === 'down') return gate('server', false, words.down({ detail: link.detail, integration }), at)
  return gate('server', true, words.open({ integration }), at)
}

function limitWords({ rps, burst }: { readonly rps: number; readonly burst: number }): string {
  const words = wordsIn().gates.limit
  return rps === 0 || burst === 0 ? words.none : words.some({ rps, burst })
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

/** The key that changes each refusal. One that begins with a dot is below the integration. */
const REFUSAL_KEYS: Readonly<Record<string, string>> = {
  sender_not_allowed: '.access.allow_from',
  pairing_required: '.access.allow_from',
  dm_disabled: '.access.dm',
  group_not_listed: '.access.groups',
  not_mentioned: '.access.groups[].require_mention',
  not_approver: '.access.approvers',
  policy_unreadable: '.access',
  integration_disabled: '.enabled',
  no_binding: 'agents[].inbound_bindings',
  rate_limited: 'tunables.sender_limit',
  flood: 'tunables.flood_limit',
}

/** Empty: nothing in the configuration would change it. */
function keyOf(reason: string, { origin }: IntegrationSettings): string {
  const key = REFUSAL_KEYS[reason] ?? ''
  return key.startsWith('.') ? origin + key : key
}

function gate(name: string, pass: boolean, reason: string, key: string): GateView {
  return { gate: name, pass, reason, key }
}

function flagged(name: string, reason: string, key: string): GateView {
  return { gate: name, pass: true, flagged: true, reason, key }
}
