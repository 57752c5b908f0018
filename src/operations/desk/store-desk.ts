// The part of the desk that only reads the store: the same for the daemon and for a command without one.
import { isSecretName } from '../../config/secrets/secret-store.ts'
import {
  defined,
  iso,
  type ReadDesk,
  type Settings,
  type Store,
  SwitchboardError,
  type TurnRow,
  type TurnView,
} from '../../contract/index.ts'
import { listedRights } from '../../core/people/approvers.ts'
import { tokenViews } from '../../gateway/access/token-views.ts'
import { askedPlaces } from './asked-places.ts'
import { createConversationReads } from './desk-conversations.ts'
import { exportPerson, type FileBytes } from './people-data.ts'
import { turnSeries } from './turn-series.ts'
import { approvalView, notificationView, pairingView, turnView } from './views.ts'
import { sendViews } from './waiting-sends.ts'

/** Sends and questions of one turn that are told with it. */
const MOST_SHOWN = 100

export type StoreDesk = Omit<ReadDesk, 'status'>

/**
 * `bytesOf`: how the bytes of what people sent are had; absent: they are not. `isUnreachable`: no request reaches this agent,
 * so what is queued for it waits for that, tried or not.
 */
export function createStoreDesk(
  store: Store,
  settings: () => Settings,
  bytesOf: FileBytes = withoutDaemon,
  isUnreachable: (agent: string) => boolean = () => false,
): StoreDesk {
  const viewOf = (row: TurnRow): TurnView => {
    const waits = row.state === 'queued' && row.agent !== null && isUnreachable(row.agent)
    return waits ? { ...turnView(row), reason: 'agent_unreachable' } : turnView(row)
  }
  return {
    turns: async (filter) => (await store.turns(filter)).map(viewOf),
    async turn(id) {
      const row = await store.turn(id)
      if (!row) return null
      const { integration, conversation } = row
      const [events, sends, approvals] = await Promise.all([
        store.turnEvents(id),
        // By the place: the turn alone would be looked for in all of the outbox.
        store.sends({ integration, conversation, turn: id, oldestFirst: true, limit: MOST_SHOWN }),
        store.approvals({ turn: id, limit: MOST_SHOWN }),
      ])
      return {
        ...viewOf(row),
        events: events.map((one) => ({ ...one, at: iso(one.at) })),
        repeat: row.repeat,
        sends: await sendViews(store, sends),
        approvals: approvals.map((one) => {
          const { input: _input, description: _description, ...rest } = approvalView(one)
          return rest
        }),
      }
    },
    async turnPage(filter, span) {
      const [[last], [first]] = await Promise.all([
        store.turns({ limit: 1 }),
        store.turns({ limit: 1, oldestFirst: true }),
      ])
      if (!last || !first) return { items: [], next: null }
      const top = Math.min(filter.beforeSeq ?? Number.MAX_SAFE_INTEGER, last.seq + 1)
      const floor = Math.max(first.seq, top - span)
      const rows = await store.turns({ ...filter, beforeSeq: top, afterSeq: floor - 1 })
      const full = rows.length >= filter.limit ? (rows.at(-1)?.seq ?? null) : null
      return { items: rows.map(viewOf), next: full ?? (floor > first.seq ? floor : null) }
    },
    series: async (query) => turnSeries(await store.sampleTurns(query), query),
    sends: async (filter) => sendViews(store, await store.sends(filter)),
    async send(id) {
      const row = await store.send(id)
      return row ? ((await sendViews(store, [row]))[0] ?? null) : null
    },
    async approvals(states, limit, { id, before } = {}) {
      const wanted = states as Parameters<Store['approvals']>[0]['states'] | null
      const filter = {
        ...defined({ states: wanted ?? undefined, id, beforeSeq: before }),
      }
      const rows = await store.approvals({ ...filter, limit })
      if (id === undefined) return rows.map(approvalView)
      return Promise.all(
        rows.map(async (row) => ({ ...approvalView(row), asked: await askedPlaces(store, row) })),
      )
    },
    ...createConversationReads(store, settings),
    pairings: async () => (await store.pairings()).map(pairingView),
    async access() {
      const granted = (await store.grants()).map((grant) => ({
        integration: grant.integration,
        sender: grant.sender,
        right: grant.right,
        origin: `granted by ${grant.by}`,
        at: iso(grant.at),
      }))
      return [...configured(settings()), ...granted]
    },
    tokens: async ({ all = false } = {}) => tokenViews(store, all),
    secretNames: async () =>
      Object.keys(await store.secrets())
        .filter(isSecretName)
        .sort(),
    notifications: async (limit, before) =>
      (await store.notifications({ limit, ...defined({ before }) })).map(notificationView),
    verifyAudit: (expectHead) => store.verify(expectHead),
    auditHead: () => store.head(),
    exportPerson: (who, { files = false } = {}) =>
      exportPerson(who, settings(), store, files ? bytesOf : undefined),
    ledger: (afterSeq, limit) => store.ledger({ afterSeq, limit }),
  }
}

const withoutDaemon: FileBytes = async () => {
  throw new SwitchboardError('daemon_absent', 'files are fetched by a running daemon', {
    hint: 'start it with `switchboard up`, and export again',
  })
}

/** What the configuration gives, beside what was granted: together everybody whom the gates let talk or decide. */
function configured(settings: Settings) {
  return settings.integrations.flatMap((integration) =>
    listedRights(settings, integration).map(({ sender, right, key }) => ({
      integration: integration.id,
      sender,
      right,
      origin: key,
      at: null,
    })),
  )
}
