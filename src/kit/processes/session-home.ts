// Where a session lives. Its transcript and folder are on the node that began it, so it stays there. Another node that
// is offered one of its turns leaves it to that node. If that node is gone, the person is told, and `/new` begins
// elsewhere.
import {
  type ConnectorDeps,
  createBoundedMap,
  type Delivery,
  SwitchboardError,
  type TurnJournal,
} from '../../contract/index.ts'

interface SessionHome {
  isHere(delivery: Delivery): Promise<boolean>
  /**
   * Throws `agent_absent` while its node lives, so that the turn goes there, and `execution_failed` when it is gone.
   */
  demandHere(delivery: Delivery): Promise<void>
  /** It is known to be on another node. */
  isElsewhere(session: string): boolean
  /** For `doctor`; null: nothing is wrong. */
  trouble(): string | null
}

const REMEMBERED = 10_000
const LOOKED_BACK = 20
const ELSEWHERE_MS = 1_000

export function createSessionHome(
  deps: Pick<ConnectorDeps, 'nodes'> & {
    readonly journal: TurnJournal
    /** What this machine keeps of a session; null: nothing. */
    readonly notes: { get(session: string): unknown }
  },
): SessionHome {
  const { nodes } = deps
  const homes = createBoundedMap<string, string>(REMEMBERED)

  /** Our own files come first, then the notes of the last turns. Without either, the session begins here. */
  const homeOf = async ({ session, turn }: Delivery): Promise<string> => {
    const self = nodes?.self ?? ''
    const known = homes.get(session)
    if (known !== undefined) return known
    const found = deps.notes.get(session) === null ? await notedHome(session, turn) : self
    if (found === null) await noteHome(turn, self)
    homes.set(session, found ?? self)
    return found ?? self
  }
  /** Noted before the session begins, so that the next node finds it even if this one dies at once. */
  const noteHome = async (turn: string, self: string) => {
    if (nodes === undefined) return
    const n = (await deps.journal.steps(turn)).length + 1
    await deps.journal.add({ turn, n, kind: 'call', body: { node: self } })
  }
  const notedHome = async (session: string, turn: string): Promise<string | null> => {
    const past = (await deps.journal.past(session, turn, LOOKED_BACK)).flatMap(({ steps }) => steps)
    for (const { body } of [...(await deps.journal.steps(turn)), ...past]) {
      const { node } = (body ?? {}) as { node?: unknown }
      if (typeof node === 'string') return node
    }
    return null
  }

  return {
    isHere: async (delivery) => nodes === undefined || (await homeOf(delivery)) === nodes.self,
    async demandHere(delivery) {
      if (nodes === undefined) return
      const home = await homeOf(delivery)
      if (home === nodes.self) return
      if (nodes.isAlive(home))
        throw new SwitchboardError('agent_absent', `its session is on node ${home}`, {
          retryAfterMs: ELSEWHERE_MS,
        })
      throw new SwitchboardError(
        'execution_failed',
        `its conversation lies on node ${home}, which is gone: /new begins another one`,
      )
    },
    // Only while its node lives. Otherwise this node takes the turn and reports the loss.
    isElsewhere(session) {
      const home = homes.get(session)
      return home !== undefined && nodes !== undefined && home !== nodes.self && nodes.isAlive(home)
    },
    trouble() {
      if (nodes === undefined) return null
      const gone = [...homes.values()].filter((home) => home !== nodes.self && !nodes.isAlive(home))
      return gone.length === 0
        ? null
        : `${gone.length} sessions are on nodes that are gone (${[...new Set(gone)].slice(0, 5).join(', ')}): /new begins others`
    },
  }
}
