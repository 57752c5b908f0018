// STEPPING IN: a person holds a conversation in the agent's place. The row decides on every node. This file sends the
// holder's messages to the outlet and stops running work when a place is taken. It also ends a hold whose holder went
// silent or lost the right.
import {
  type Address,
  type Cancel,
  type Clock,
  DEFAULT_TAKEOVER,
  formatAddress,
  heldByText,
  type Logger,
  type SendResult,
  type Settings,
  type StoreBesideOutlet,
  SwitchboardError,
  type TakeoverRow,
  type TakeResult,
} from '../../contract/index.ts'
import { keepDoing } from '../keep-doing.ts'
import { isOneWay, type Links } from '../links.ts'
import type { Outlet } from '../outbound/outlet.ts'

export interface TakeoversDeps {
  readonly store: StoreBesideOutlet
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly links: Pick<Links, 'get'>
  readonly outlet: Pick<Outlet, 'running' | 'rows' | 'putHeld' | 'confirmed'>
  /** Whether the person with this ledger name may hold a conversation now. */
  readonly mayHold: (holder: string) => Promise<boolean>
  /** Stops running work for these turns and withdraws their questions. The store has already cancelled them. */
  readonly onTaken: (agent: string, turns: readonly string[]) => void
}

export interface SayWish {
  readonly text: string
  readonly idempotencyKey?: string
  readonly waitMs?: number
}

export interface Takeovers {
  /** Throws `not_found` for a place without messages, and `conflict` where no message can be sent. */
  take(at: Address, by: string, force: boolean): Promise<TakeResult>
  /** Throws `held` if another person holds the place, and `not_held` if it is not held. */
  say(at: Address, by: string, wish: SayWish): Promise<SendResult>
  /** Throws the same, unless `force` is set. */
  give(at: Address, by: string, force: boolean): Promise<TakeoverRow>
  /** Ends holds whose holder lost the right or was silent for too long. */
  sweep(): Promise<void>
  start(): Cancel
}

const LOOK_EVERY_MS = 5_000
const SWITCHBOARD = 'switchboard'

export function createTakeovers(deps: TakeoversDeps): Takeovers {
  const { store, settings } = deps

  const sweep = async () => {
    for (const row of await store.takeovers({ state: 'held' })) {
      const { at, id, holder, lastWordAt } = row
      const { takeoverTimeoutMs } = settings().tunables
      if (holder !== null && !(await deps.mayHold(holder)))
        await store.endTakeover({ at, id, by: SWITCHBOARD, how: 'right_lost' })
      else if (lastWordAt !== null && takeoverTimeoutMs > 0 && isOver(lastWordAt + takeoverTimeoutMs))
        await store.endTakeover({ at, id, lastWordAt, by: SWITCHBOARD, how: 'timeout' })
    }
  }
  const isOver = (at: number) => at <= deps.clock.now()

  const known = async (at: Address) => {
    while (await store.gatherConversations());
    const found = await store.conversation(at)
    if (found) return found
    throw new SwitchboardError('not_found', `nothing was ever said at ${formatAddress(at)}`, {
      hint: 'list conversations with: switchboard conversations list',
    })
  }

  return {
    async take(at, by, force) {
      const { platform, agent } = await known(at)
      if (isOneWay(deps.links, at.integration) || !isConfigured(settings(), at.integration))
        throw new SwitchboardError(
          'conflict',
          `nobody can write at ${formatAddress(at)}: integration "${at.integration}" takes no messages`,
        )
      const taken = await store.takeOver({ at, platform, agent, by, name: holderName(by), force })
      for (const of of new Set(taken.running.map((turn) => turn.agent)))
        deps.onTaken(
          of,
          taken.running.filter((turn) => turn.agent === of).map(({ id }) => id),
        )
      return taken
    },
    async say(at, by, { text, idempotencyKey, waitMs }) {
      if (text.trim() === '') throw new SwitchboardError('input_invalid', 'text must not be empty')
      deps.outlet.running(at.integration)
      const { as } = settings().takeover ?? DEFAULT_TAKEOVER
      const words = as === 'name' ? `${holderName(by)}: ${text}` : text
      const key = idempotencyKey === undefined ? {} : { idempotencyKey: `takeover:${idempotencyKey}` }
      const sends = deps.outlet.rows({
        ...{ to: at, text: words, cause: 'takeover', agent: null, session: null, turn: null },
        ...key,
      })
      const said = await deps.outlet.putHeld(sends, { at, by })
      if (said.outcome === 'not_holder') throw notHolder(at, said.takeover)
      const ids = said.sends.map(({ id }) => id)
      return (await deps.outlet.confirmed(ids, waitMs)).result
    },
    async give(at, by, force) {
      const ended = await store.endTakeover({ at, by, how: 'given' })
      if (ended.outcome === 'ended') return ended.takeover
      if (!force || !ended.takeover) throw notHolder(at, ended.takeover)
      const forced = await store.endTakeover({ at, by, how: 'forced' })
      if (forced.outcome === 'ended') return forced.takeover
      throw notHolder(at, forced.takeover)
    },
    sweep,
    start: () =>
      keepDoing(deps.clock, LOOK_EVERY_MS, sweep, (thrown) =>
        deps.log.warn({ error: String(thrown) }, 'takeovers could not be looked at'),
      ),
  }
}

const isConfigured = ({ integrations }: Settings, id: string) => integrations.some((one) => one.id === id)

function notHolder(at: Address, takeover: TakeoverRow | null): SwitchboardError {
  if (takeover?.state === 'held')
    return new SwitchboardError('held', `${formatAddress(at)} is ${heldByText(takeover)}`, {
      hint: 'take it from them with --force',
    })
  return new SwitchboardError('not_held', `nobody holds ${formatAddress(at)}`, {
    hint: 'take it over first: switchboard conversations take ADDRESS',
  })
}

const OF_USER = 'user:'

/** The name of a holder as people read it. */
function holderName(by: string): string {
  return by.startsWith(OF_USER) ? by.slice(OF_USER.length) : by
}

/** Returns the user behind a ledger name; null: the operator's own credential. */
export function userOfHolder(by: string): string | null {
  return by.startsWith(OF_USER) ? by.slice(OF_USER.length) : null
}
