// /metrics in the Prometheus text format, written by hand: a dozen families do not need a library.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Counter, HttpReply, StatusReport, UsageRow } from '../contract/index.ts'
import type { ServerDeps } from './deps.ts'

export interface Metrics {
  reply(): Promise<HttpReply>
  /** Counts a hook request that was answered with this status. */
  countHook(status: number): void
  /** Counts a connection over the limit. */
  countDropped(): void
  stop(): void
}

type Labels = Readonly<Record<string, string>>
interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly { readonly labels?: Labels; readonly value: number }[]
}

export function createMetrics(
  deps: Pick<ServerDeps, 'status' | 'metrics'>,
  wrong: ReadonlyMap<string, number>,
): Metrics {
  let dropped = 0
  const hooks = new Map<number, number>()
  // The delay is sampled only after the first scrape, so that an idle daemon runs no timer.
  let delay: IntervalHistogram | null = null
  return {
    async reply() {
      if (delay === null) {
        delay = monitorEventLoopDelay({ resolution: 50 })
        delay.enable()
      }
      const status = await deps.status()
      const counters = (await deps.metrics?.counters?.()) ?? null
      const families = [
        ...stateFamilies(status, counters),
        ...tokenFamilies((await deps.metrics?.usage?.()) ?? []),
        ...processFamilies(status, delay, deps.metrics?.commits?.()),
        hookFamily(hooks),
        wrongFamily(wrong),
        counter('switchboard_connections_dropped_total', 'Connections over the cap of a listener.', dropped),
      ]
      delay.reset()
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
        body: families.map(format).join(''),
      }
    },
    countHook(status) {
      hooks.set(status, (hooks.get(status) ?? 0) + 1)
    },
    countDropped() {
      dropped += 1
    },
    stop() {
      delay?.disable()
    },
  }
}

function stateFamilies(status: StatusReport, counters: readonly Counter[] | null): readonly Family[] {
  const turns =
    counters === null ? summed(status.counts) : counters.filter((c) => !c.name.includes(':')).map(sample)
  const sends =
    counters === null ? summed(status.outbox) : counters.filter((c) => c.name.startsWith('send:')).map(sample)
  return [
    gauge('switchboard_ready', 'Whether messages can be taken.', status.ready ? 1 : 0),
    {
      name: 'switchboard_turns',
      type: 'gauge',
      help: 'Turns by state; received counts all.',
      samples: turns,
    },
    { name: 'switchboard_sends', type: 'gauge', help: 'Outbox rows by state.', samples: sends },
    gauge('switchboard_approvals_pending', 'Approvals that wait for a person.', status.approvals.pending),
    {
      name: 'switchboard_agent_queued',
      type: 'gauge',
      help: 'Turns waiting for an agent.',
      samples: status.agents.map((agent) => ({ labels: { agent: agent.id }, value: agent.queued })),
    },
    {
      name: 'switchboard_agent_attached',
      type: 'gauge',
      help: 'Whether turns can be handed to an agent.',
      samples: status.agents.map((agent) => ({ labels: { agent: agent.id }, value: agent.attached ? 1 : 0 })),
    },
    {
      name: 'switchboard_link_up',
      type: 'gauge',
      help: 'Whether the link of an integration is up.',
      samples: status.integrations.map((one) => ({
        labels: { integration: one.id, platform: one.platform },
        value: one.link === 'up' ? 1 : 0,
      })),
    },
    {
      name: 'switchboard_late_messages_total',
      type: 'counter',
      help: 'Messages that were missed, and found in a history.',
      samples: (counters ?? [])
        .filter((c) => c.name === 'found:late')
        .map((c) => ({ labels: { integration: c.integration }, value: c.count })),
    },
    {
      name: 'switchboard_complete_until_seconds',
      type: 'gauge',
      help: 'Everything said before this was received or refused; absent where it cannot be checked.',
      samples: status.integrations.flatMap(({ id, platform, complete }) =>
        complete.until === null
          ? []
          : [{ labels: { integration: id, platform }, value: Date.parse(complete.until) / 1_000 }],
      ),
    },
    {
      name: 'switchboard_complete',
      type: 'gauge',
      help: 'How far nothing was missed: the state that holds is 1.',
      samples: status.integrations.flatMap(({ id, platform, complete }) =>
        (['complete', 'behind', 'unchecked'] as const).map((state) => ({
          labels: { integration: id, platform, state },
          value: complete.state === state ? 1 : 0,
        })),
      ),
    },
    {
      name: 'switchboard_channel_server_up',
      type: 'gauge',
      help: 'Whether a hosted channel server is connected.',
      samples: (status.servers ?? []).map((one) => ({
        labels: { server: one.name },
        value: one.state === 'up' ? 1 : 0,
      })),
    },
    {
      name: 'switchboard_channel_server_restarts_total',
      type: 'counter',
      help: 'How often a hosted channel server was started again.',
      samples: (status.servers ?? []).map((one) => ({ labels: { server: one.name }, value: one.restarts })),
    },
  ]
}

/** Sums over all days, because a counter never decreases. */
function tokenFamilies(usage: readonly UsageRow[]): readonly Family[] {
  const sums = new Map<string, { readonly labels: Labels; value: number }>()
  const add = (labels: Labels, value: number) => {
    const key = JSON.stringify(labels)
    const known = sums.get(key)
    if (known) known.value += value
    else sums.set(key, { labels, value })
  }
  let cost = 0
  for (const { agent, model, input, output, cacheRead, cacheWrite, costMicros = 0 } of usage) {
    const kinds = {
      input: input - cacheRead - cacheWrite,
      output,
      cache_read: cacheRead,
      cache_write: cacheWrite,
    }
    for (const [kind, value] of Object.entries(kinds)) add({ agent, model, kind }, value)
    cost += costMicros
  }
  if (usage.length === 0) return []
  return [
    {
      name: 'switchboard_llm_tokens_total',
      type: 'counter',
      help: 'Tokens that models used, by agent, model and kind.',
      samples: [...sums.values()],
    },
    counter('switchboard_llm_cost_total', 'What they cost, where prices are configured.', cost / 1_000_000),
  ]
}

function summed(counts: Readonly<Record<string, number>>): Family['samples'] {
  return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }))
}

function sample(counter: Counter): Family['samples'][number] {
  const state = counter.name.replace(/^send:/, '')
  return { labels: { integration: counter.integration, state, reason: counter.reason }, value: counter.count }
}

function processFamilies(
  status: StatusReport,
  delay: IntervalHistogram,
  commits: number | undefined,
): readonly Family[] {
  const memory = process.memoryUsage()
  const cpu = process.cpuUsage()
  const seconds = (nanos: number) => (Number.isFinite(nanos) ? nanos / 1e9 : 0)
  return [
    gauge('switchboard_uptime_seconds', 'Since the start.', status.uptime_ms / 1000),
    gauge('process_resident_memory_bytes', 'Resident memory.', memory.rss),
    gauge('nodejs_heap_used_bytes', 'Used heap.', memory.heapUsed),
    counter('process_cpu_seconds_total', 'User and system time.', (cpu.user + cpu.system) / 1e6),
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      'Loop delay since the last scrape.',
      seconds(delay.percentile(99)),
    ),
    gauge('nodejs_eventloop_lag_max_seconds', 'Loop delay since the last scrape.', seconds(delay.max)),
    ...(commits === undefined
      ? []
      : [counter('switchboard_store_commits_total', 'Commits of the store.', commits)]),
  ]
}

function hookFamily(hooks: ReadonlyMap<number, number>): Family {
  const samples = [...hooks].map(([status, value]) => ({ labels: { status: String(status) }, value }))
  return { name: 'switchboard_hook_requests_total', type: 'counter', help: 'Answers under /hooks.', samples }
}

function wrongFamily(wrong: ReadonlyMap<string, number>): Family {
  const samples = [...wrong].map(([route, value]) => ({ labels: { route }, value }))
  const help = 'Wrong credentials, by route.'
  return { name: 'switchboard_wrong_credentials_total', type: 'counter', help, samples }
}

function gauge(name: string, help: string, value: number): Family {
  return { name, type: 'gauge', help, samples: [{ value }] }
}

function counter(name: string, help: string, value: number): Family {
  return { name, type: 'counter', help, samples: [{ value }] }
}

function format(family: Family): string {
  if (family.samples.length === 0) return ''
  const lines = family.samples.map(({ labels, value }) => `${family.name}${formatLabels(labels)} ${value}`)
  return `# HELP ${family.name} ${family.help}\n# TYPE ${family.name} ${family.type}\n${lines.join('\n')}\n`
}

function formatLabels(labels: Labels | undefined): string {
  const pairs = Object.entries(labels ?? {}).filter(([, value]) => value !== '')
  if (pairs.length === 0) return ''
  return `{${pairs.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
