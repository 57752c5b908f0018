// `doctor`: the live path, not just the file. For each integration and binding every gate with pass or reason and the
// key that changes it; then what came last, what was dropped and why, and what waits.
import type {
  AgentSettings,
  Binding,
  Counter,
  DoctorReport,
  GateView,
  IntegrationSettings,
} from '../contract/index.ts'
import { linkState, type StatusDeps } from './status.ts'
import { iso, isoOrNull } from './views.ts'

export function createDoctor(deps: StatusDeps): () => Promise<DoctorReport> {
  const { store, gateway, settings, standing } = deps
  return async () => {
    const now = settings()
    const me = standing()
    const [counters, open, pending, durability] = await Promise.all([
      store.counters(),
      store.openTurns(),
      store.approvals({ states: ['pending'], limit: 1_000 }),
      store.durability(),
    ])
    const integrations = now.integrations.map((one) => {
      const link = gateway.links.get(one.id)
      const mine = counters.filter((counter) => counter.integration === one.id)
      return {
        id: one.id,
        platform: one.platform,
        ...linkState(gateway, one.id, one.enabled),
        gates: integrationGates(one),
        last_in_at: isoOrNull(link?.lastInAt),
        last_out_at: isoOrNull(link?.lastOutAt),
        drops: drops(mine),
        sends_waiting: sum(mine, 'send:queued') + sum(mine, 'send:sending'),
        sends_failed: sum(mine, 'send:failed') + sum(mine, 'send:unknown'),
      }
    })
    const agents = await Promise.all(
      now.agents.map(async (one) => {
        const post = gateway.roster.get(one.id)
        const [last] = await store.turns({ agent: one.id, limit: 1 })
        const detail = gateway.problems().get(`agent:${one.id}`) ?? post?.detail
        return {
          id: one.id,
          connector: one.connector.type,
          attached: post?.attached ?? false,
          ...(detail === undefined ? {} : { detail }),
          queued: open.reduce(
            (total, row) => (row.agent === one.id && row.state === 'queued' ? total + row.count : total),
            0,
          ),
          bindings: one.bindings.map((binding) => bindingView(one, binding, now.integrations)),
          last_message_at: last ? iso(last.receivedAt) : null,
          approvals_pending: pending.filter((row) => row.agent === one.id).length,
        }
      }),
    )
    const healthy =
      me.configProblem === null &&
      integrations.every((one) => one.link !== 'down' && one.gates.every((gate) => gate.pass)) &&
      agents.every(
        (one) => one.attached && one.bindings.every((binding) => binding.gates.every((gate) => gate.pass)),
      )
    return {
      ok: healthy,
      config: { file: me.configFile, digest: now.digest, problem: me.configProblem, warnings: now.warnings },
      store: { kind: durability.kind, durability: durability.detail },
      integrations,
      agents,
    }
  }
}

function integrationGates(one: IntegrationSettings): readonly GateView[] {
  const key = `${one.origin}.access`
  const enabled = gate('enabled', one.enabled, one.enabled ? 'on' : 'switched off', `${one.origin}.enabled`)
  if (!one.access.readable)
    return [enabled, gate('policy', false, `unreadable, the door is closed: ${one.access.problem}`, key)]
  const { dm, allowFrom, approvers, groups } = one.access
  const anyone = allowFrom.includes('*')
  const open = Object.entries(groups).filter(([, group]) => group.allowFrom.includes('*'))
  return [
    enabled,
    gate('direct messages', dm !== 'disabled', senderWords(dm, allowFrom), `${key}.dm`),
    ...(anyone ? [gate('allow_from', false, 'anybody may talk: "*" is listed', `${key}.allow_from`)] : []),
    ...open.map(([id]) =>
      gate(`group ${id}`, false, 'any member may talk: "*" is listed', `${key}.groups["${id}"].allow_from`),
    ),
    gate(
      'approvers',
      true,
      approvers.length > 0 ? `${approvers.length} listed` : 'the paired owner',
      `${key}.approvers`,
    ),
  ]
}

function senderWords(dm: string, allowFrom: readonly string[]): string {
  switch (dm) {
    case 'credential':
      return allowFrom.length > 0
        ? `credential, and one of ${allowFrom.length} listed`
        : 'whoever holds the credential'
    case 'allowlist':
      return `${allowFrom.length} listed`
    case 'pairing':
      return `paired senders, and ${allowFrom.length} listed`
    default:
      return 'off'
  }
}

function bindingView(agent: AgentSettings, binding: Binding, integrations: readonly IntegrationSettings[]) {
  const found = integrations.find((one) => one.id === binding.instance)
  const at = `${agent.origin}.inbound_bindings`
  return {
    integration: binding.instance,
    conversations: binding.conversations?.join(', ') ?? 'all others',
    gates: [
      gate(
        'integration',
        found !== undefined,
        found ? 'configured' : `no integration "${binding.instance}"`,
        at,
      ),
      ...(found
        ? [gate('enabled', found.enabled, found.enabled ? 'on' : 'switched off', `${found.origin}.enabled`)]
        : []),
    ],
  }
}

function gate(name: string, pass: boolean, reason: string, key: string): GateView {
  return { gate: name, pass, reason, key }
}

function drops(counters: readonly Counter[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const one of counters) {
    if (one.count > 0 && ['refused', 'failed', 'expired'].includes(one.name))
      found[one.reason || one.name] = (found[one.reason || one.name] ?? 0) + one.count
  }
  return found
}

function sum(counters: readonly Counter[], name: string): number {
  return counters.reduce((total, one) => (one.name === name ? total + one.count : total), 0)
}
