// `status`: the gateway at a glance. Counts come from the counters, never from counting rows.
import type { Clock, Settings, StatusReport, Store } from '../contract/index.ts'
import type { Gateway } from './gateway.ts'
import { linkStateOf } from './link-reports.ts'
import { isoOrNull, totals } from './views.ts'

/** What the daemon knows about itself. */
export interface Standing {
  readonly ready: boolean
  readonly node: string
  readonly version: string
  readonly startedAt: number
  readonly configFile: string | null
  readonly configProblem: string | null
  readonly storeProblem: string | null
}

export interface StatusDeps {
  readonly store: Store
  readonly gateway: Gateway
  readonly clock: Clock
  readonly settings: () => Settings
  readonly standing: () => Standing
}

export function createStatus({
  store,
  gateway,
  clock,
  settings,
  standing,
}: StatusDeps): () => Promise<StatusReport> {
  return async () => {
    const now = settings()
    const me = standing()
    const [counters, open, pending, durability] = await Promise.all([
      store.counters(),
      store.openTurns(),
      store.approvals({ states: ['pending'], limit: 1_000 }),
      store.durability(),
    ])
    return {
      ready: me.ready,
      node: me.node,
      version: me.version,
      uptime_ms: clock.now() - me.startedAt,
      integrations: now.integrations.map((one) => {
        const link = gateway.links.get(one.id)
        return {
          id: one.id,
          platform: one.platform,
          ...linkState(gateway, one.id, one.enabled),
          last_in_at: isoOrNull(link?.lastInAt),
          last_out_at: isoOrNull(link?.lastOutAt),
        }
      }),
      agents: now.agents.map((one) => {
        const post = gateway.roster.get(one.id)
        const detail = gateway.problems().get(`agent:${one.id}`) ?? post?.detail
        return {
          id: one.id,
          connector: one.connector.type,
          attached: post?.attached ?? false,
          queued: open.reduce(
            (sum, row) => (row.agent === one.id && row.state === 'queued' ? sum + row.count : sum),
            0,
          ),
          ...(detail === undefined ? {} : { detail }),
        }
      }),
      ...totals(counters),
      approvals: { pending: pending.length },
      config: { digest: now.digest, file: me.configFile, problem: me.configProblem, warnings: now.warnings },
      store: {
        kind: durability.kind,
        durability: durability.detail,
        ...(me.storeProblem === null ? {} : { problem: me.storeProblem }),
      },
    }
  }
}

/** The state of an integration's link in one word, and why. */
export function linkState(gateway: Gateway, id: string, enabled: boolean): { link: string; detail?: string } {
  return linkStateOf(gateway.links, gateway.problems(), id, enabled)
}
