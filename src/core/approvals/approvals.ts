// APPROVALS: a tool call waits for a person's yes or no. One durable row, one winner by compare-and-set, and every
// surface hears how it ended. The connector learns of the verdict from the row, so any node may decide.
//   pending ──▶ decided ──▶ relayed | undeliverable        pending ──▶ expired (a denial) | withdrawn
import { hash } from 'node:crypto'
import {
  type Address,
  type ApprovalRow,
  type Ask,
  type Cancel,
  type Clock,
  formatAddress,
  type Logger,
  type NewSend,
  type Random,
  type Settings,
  type Store,
  type Verdict,
} from '../../contract/index.ts'
import type { Roster } from '../dispatch/roster.ts'
import { canSpeak, type Links } from '../outbound/links.ts'
import { createPatience } from '../patience.ts'
import { approverChats, type GrantBook, isApprover } from '../people/approvers.ts'
import { rowAddress } from '../signals.ts'
import { freshApprovalId, isApprovalId } from './approval-id.ts'
import { outcomeText, promptOp } from './prompt.ts'

export interface ApprovalsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly links: Links
  readonly grants: GrantBook
  /** Whether somebody is looking at a surface that is not a chat (console, event stream). */
  readonly watched: () => boolean
}

export interface AskOrder {
  readonly agent: string
  readonly session: string
  readonly turn: string | null
  readonly ask: Ask
  /** When the turn was handed over for the last time; null when it is not in flight here. */
  readonly handedAt: number | null
  /** Where the turn came from, and who sent it. */
  readonly origin: { readonly to: Address; readonly sender: string } | null
}

export interface Approvals {
  start(): Promise<void>
  /** Returns the approval's id. The same call of the same turn, asked again after a crash, is the same approval. */
  ask(order: AskOrder): Promise<string>
  /** Resolves when a decided approval was passed on, or could not be. */
  settle(id: string): Promise<void>
  /** The turns behind them were cancelled: nobody needs to answer any more. */
  withdraw(agent: string, turns: readonly string[]): Promise<void>
  stop(): void
}

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, clock, log } = deps
  const patience = createPatience(clock, log)
  const expiries = new Map<string, Cancel>()
  const settling = new Map<string, Promise<void>>()
  /** Approvals that a repeated call was joined to, by hand-over: an allow is for one call, so each is joined once. */
  const joined = new Set<string>()
  let stopped = false

  const ask = async (order: AskOrder): Promise<string> => {
    const inputHash = hash('sha256', JSON.stringify([order.ask.toolName, order.ask.input]))
    const known = await sameCall(order, inputHash)
    if (known) {
      if (known.state === 'pending') expectExpiry(known)
      else relayAgain(known)
      return known.id
    }
    const chats = surfaces(order)
    const expiresAt = clock.now() + deps.settings().tunables.approvalExpiryMs
    let wanted = order.ask.requestId && isApprovalId(order.ask.requestId) ? order.ask.requestId : undefined
    for (;;) {
      const id = wanted ?? freshApprovalId(deps.random)
      wanted = undefined
      const row = {
        id,
        hostId: order.ask.requestId ?? null,
        agent: order.agent,
        session: order.session,
        turn: order.turn,
        ask: order.ask,
        inputHash,
        expiresAt,
      }
      const outcome = await patience.persist('ask', () => store.ask(row, prompts(id, order, chats)))
      if (outcome === 'collision') continue
      await asked(id, order, chats.length, expiresAt)
      return id
    }
  }

  const asked = async (id: string, order: AskOrder, chats: number, expiresAt: number) => {
    const holds = deps.roster.get(order.agent)?.connector.holdsDecisions ?? false
    if (chats === 0 && holds && !deps.watched()) {
      await store.decide({
        id,
        behavior: 'deny',
        cause: 'unreachable',
        by: 'switchboard',
        via: 'switchboard',
      })
      return settle(id)
    }
    expectExpiry({ id, expiresAt })
  }

  /**
   * A turn that was interrupted asks again for the same call: it gets the same answer. Only what was asked before the
   * present hand-over counts; the same call twice in one run is two calls.
   */
  const sameCall = async (order: AskOrder, inputHash: string): Promise<ApprovalRow | null> => {
    const { turn, handedAt } = order
    if (!turn || handedAt === null) return null
    const rows = await store.approvals({ agent: order.agent, limit: 200 })
    const known = rows.find(
      (row) =>
        row.turn === turn &&
        row.inputHash === inputHash &&
        row.createdAt < handedAt &&
        !joined.has(`${row.id}@${handedAt}`),
    )
    if (known) joined.add(`${known.id}@${handedAt}`)
    return known ?? null
  }

  const surfaces = (order: AskOrder): readonly Address[] => {
    const settings = deps.settings()
    const found = new Map<string, Address>()
    const { origin } = order
    if (origin) {
      const who = { integration: origin.to.integration, sender: origin.sender, agent: order.agent }
      if (isApprover(settings, deps.grants, who)) found.set(formatAddress(origin.to), origin.to)
    }
    for (const chat of approverChats(settings, deps.grants, order.agent)) {
      // The chat where it was asked is enough for the one who asked.
      const same =
        origin && chat.integration === origin.to.integration && chat.conversation === origin.to.conversation
      if (!same || found.size === 0) found.set(formatAddress(chat), chat)
    }
    return [...found.values()].filter((chat) => canSpeak(deps.links, chat.integration))
  }

  const prompts = (id: string, order: AskOrder, chats: readonly Address[]): readonly NewSend[] =>
    chats.map((to) => {
      const link = deps.links.get(to.integration)
      return {
        to,
        platform: link?.platform ?? '',
        op: promptOp(id, order.agent, order.ask, link?.adapter.textLimit ?? 4096),
        cause: 'prompt' as const,
        agent: order.agent,
        session: order.session,
        turn: order.turn,
        approval: id,
      }
    })

  const expectExpiry = (row: Pick<ApprovalRow, 'id' | 'expiresAt'>) => {
    expiries.get(row.id)?.()
    const cancel = clock.after(Math.max(0, row.expiresAt - clock.now()), () => {
      expiries.delete(row.id)
      expire(row.id).catch((thrown) =>
        log.error({ approval: row.id, error: String(thrown) }, 'expiry failed'),
      )
    })
    expiries.set(row.id, cancel)
  }

  const expire = async (id: string) => {
    await patience.persist('expire an approval', () =>
      store.decide({ id, behavior: 'deny', cause: 'expired', by: 'switchboard', via: 'switchboard' }),
    )
    await settle(id)
  }

  /** Passes the verdict on to the asking host, then tells every surface how it ended. Two callers share one run. */
  const settle = (id: string): Promise<void> => {
    if (stopped) return Promise.resolve()
    const running = settling.get(id) ?? settleOnce(id).finally(() => settling.delete(id))
    settling.set(id, running)
    return running
  }

  const settleOnce = async (id: string) => {
    const row = await store.approval(id)
    if (row?.state === 'decided' || row?.state === 'expired') await relay(row)
  }

  const relay = async (row: ApprovalRow) => {
    expiries.get(row.id)?.()
    expiries.delete(row.id)
    const post = deps.roster.get(row.agent)
    if (!post) return // another node holds the agent
    const holds = post.connector.holdsDecisions
    // A host with a dialog of its own is told only what a person decided; its dialog stays open otherwise.
    const tell = row.cause === 'person' || holds
    // Such a host may be there although no turn can be handed to it: its connector knows.
    const there = post.attached || !holds
    const told = tell && there ? await (post.connector.verdict?.(verdictOf(row)) ?? 'gone') : 'gone'
    if (row.state !== 'decided') return retire(row, !holds)
    const settled = await patience.persist('settle an approval', () =>
      store.settleApproval(row.id, told === 'relayed' ? 'relayed' : 'undeliverable'),
    )
    if (settled) await retire(settled, !holds)
  }

  /** Edits the prompts where the platform can; elsewhere a line says how it ended. */
  const retire = async (row: ApprovalRow, passedOn: boolean) => {
    const shown = await store.sends({ approval: row.id, limit: 100 })
    const text = outcomeText(row, passedOn)
    const sends: NewSend[] = []
    for (const send of shown) {
      const link = deps.links.get(send.integration)
      if (!link || send.op?.kind !== 'prompt') continue
      const on = send.platformIds[0]
      sends.push({
        to: rowAddress(send),
        platform: send.platform,
        op:
          link.adapter.abilities.edits && on !== undefined
            ? { kind: 'edit', on, text }
            : { kind: 'text', text },
        cause: 'notice',
        agent: row.agent,
        session: row.session,
        turn: row.turn,
        idempotencyKey: `retire:${row.id}:${send.id}`,
      })
    }
    if (sends.length > 0) await store.enqueue(sends)
  }

  const relayAgain = (row: ApprovalRow) => {
    if (row.behavior === null) return
    clock.after(0, () => {
      const told = deps.roster.get(row.agent)?.connector.verdict?.(verdictOf(row))
      told?.catch((thrown) =>
        log.warn({ approval: row.id, error: String(thrown) }, 'verdict could not be passed on'),
      )
    })
  }

  store.onHint((hint) => {
    if (hint.kind !== 'approval' || stopped) return
    settle(hint.id).catch((thrown) =>
      log.error({ approval: hint.id, error: String(thrown) }, 'verdict not passed on'),
    )
  })

  return {
    ask,
    settle,
    async withdraw(agent, turns) {
      for (const row of await store.approvals({ agent, states: ['pending'], limit: 1_000 })) {
        if (row.turn === null || !turns.includes(row.turn)) continue
        const withdrawn = await store.settleApproval(row.id, 'withdrawn')
        if (withdrawn) await retire(withdrawn, false)
      }
    },
    async start() {
      for (const row of await store.approvals({ states: ['pending'], limit: 1_000 })) expectExpiry(row)
      for (const row of await store.approvals({ states: ['decided'], limit: 1_000 })) await settle(row.id)
    },
    stop() {
      stopped = true
      patience.stop()
      for (const cancel of expiries.values()) cancel()
      expiries.clear()
    },
  }
}

function verdictOf(row: ApprovalRow): Verdict {
  return {
    approval: row.id,
    session: row.session,
    turn: row.turn,
    behavior: row.behavior ?? 'deny',
    decidedBy: row.decidedBy ?? 'switchboard',
    cause: row.cause ?? 'person',
    ask: row.ask,
  }
}
