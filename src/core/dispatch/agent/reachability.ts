// Tracks agents that cannot be reached. One request at a time tries such an agent, with growing delays, however many
// conversations wait. The first answer releases all of them. The roster holds the state, where `status`, `doctor` and
// other nodes read it.
import type { AgentTrouble, Clock } from '../../../contract/index.ts'
import { createKeyedTimers } from '../../keyed-timers.ts'
import type { AgentPost, Roster } from '../../roster.ts'

export interface Reachability {
  /** A request did not reach the agent. `retryAfterMs`: the delay the agent asked for. */
  failed(agent: string, detail: string, retryAfterMs?: number): void
  /**
   * The agent was tried and did not take a turn, which will be retried. The trouble is shown, and other conversations
   * try by themselves.
   */
  refused(agent: string, state: AgentTrouble['state'], detail: string): void
  /** The agent answered. `failing`: why its answers are unusable; null: they are usable; absent: unknown so far. */
  reached(agent: string, failing?: string | null): void
  /** The agent took a turn and never answered. It counts as failing until it answers one. */
  silent(agent: string, detail: string): void
  answered(agent: string): void
  /** Sets the trouble that its turns recorded before this start; null: none. It counts until the agent responds. */
  recall(agent: string, trouble: AgentTrouble | null): void
  isUnreachable(agent: string): boolean
  /** No turn waits for the agent any more. It was unreachable, and its present state is unknown. */
  over(agent: string): void
  /** Whether the known trouble dates from before this start. */
  isRecalled(agent: string): boolean
  /** Whether the agent is unreachable and its next try is not due. Then no turn is taken for it. */
  isClosed(agent: string): boolean
  /** A turn is being taken for the agent. No other is taken until that one ends or the next try is due. */
  tried(agent: string): void
  stop(): void
}

interface Tries {
  count: number
  notBefore: number
  underWay: boolean
}

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

export function createReachability(deps: {
  readonly clock: Clock
  readonly roster: Pick<Roster, 'get'>
  /** Called when lanes that wait for the agent should be checked. */
  readonly roomy: (agent: string) => void
}): Reachability {
  const { clock, roster } = deps
  const timers = createKeyedTimers(clock)
  const triesOf = new WeakMap<AgentPost, Tries>()
  /** Agents that responded since the start, and agents whose trouble dates from before it. */
  const heardOf = new WeakSet<AgentPost>()
  const recalled = new WeakSet<AgentPost>()
  const silentOnes = new WeakSet<AgentPost>()
  const triedAt = new WeakMap<AgentPost, number>()
  const isUnreachable = ({ trouble }: AgentPost) =>
    trouble?.state === 'unreachable' && trouble.past === undefined

  const troubled = (post: AgentPost, state: AgentTrouble['state'], detail: string) => {
    const known = post.trouble
    const goesOn = known !== null && known.past === undefined && (known.state === state || recalled.has(post))
    triedAt.set(post, clock.now())
    silentOnes.delete(post)
    post.trouble = { state, detail, since: goesOn ? known.since : clock.now() }
    heard(post)
  }

  const heard = (post: AgentPost) => {
    heardOf.add(post)
    recalled.delete(post)
  }

  const later = (agent: string, tries: Tries, ms: number) => {
    tries.notBefore = clock.now() + ms
    timers.set(agent, ms, () => deps.roomy(agent))
  }
  const pauseMs = ({ count }: Tries) => Math.min(FIRST_MS * 2 ** (count - 1), LONGEST_MS)

  return {
    failed(agent, detail, retryAfterMs = 0) {
      const post = roster.get(agent)
      if (!post) return
      const known = triesOf.get(post)
      troubled(post, 'unreachable', detail)
      // Of several requests that failed together, only the first counts.
      if (known && !known.underWay) return
      const tries = known ?? { count: 0, notBefore: 0, underWay: false }
      triesOf.set(post, tries)
      tries.count += 1
      tries.underWay = false
      later(agent, tries, Math.max(pauseMs(tries), Math.min(retryAfterMs, LONGEST_MS)))
    },
    refused(agent, state, detail) {
      const post = roster.get(agent)
      if (post) troubled(post, state, detail)
    },
    reached(agent, failing) {
      const post = roster.get(agent)
      if (!post) return
      const wasClosed = triesOf.delete(post)
      if (failing) troubled(post, 'failing', failing)
      else if (failing === null || post.trouble?.state === 'unreachable' || recalled.has(post))
        post.trouble = null
      heard(post)
      if (!wasClosed) return
      timers.cancel(agent)
      deps.roomy(agent)
    },
    silent(agent, detail) {
      const post = roster.get(agent)
      // An unreachable agent is already known to fail.
      if (!post || isUnreachable(post)) return
      troubled(post, 'failing', detail)
      silentOnes.add(post)
    },
    answered(agent) {
      const post = roster.get(agent)
      if (post && silentOnes.delete(post)) post.trouble = null
    },
    recall(agent, trouble) {
      const post = roster.get(agent)
      if (!post) return
      if (!heardOf.has(post)) {
        post.trouble = trouble
        if (trouble) recalled.add(post)
        else recalled.delete(post)
      } else if (post.trouble && trouble && trouble.since < post.trouble.since)
        post.trouble = { ...post.trouble, since: trouble.since }
    },
    isUnreachable(agent) {
      const post = roster.get(agent)
      return post !== undefined && isUnreachable(post)
    },
    over(agent) {
      const post = roster.get(agent)
      if (!post?.trouble || !isUnreachable(post)) return
      post.trouble = { ...post.trouble, past: triedAt.get(post) ?? post.trouble.since }
      // The next message is tried at once.
      triesOf.delete(post)
      timers.cancel(agent)
    },
    isRecalled(agent) {
      const post = roster.get(agent)
      return post !== undefined && recalled.has(post)
    },
    isClosed(agent) {
      const post = roster.get(agent)
      const tries = post && triesOf.get(post)
      return tries !== undefined && clock.now() < tries.notBefore
    },
    tried(agent) {
      const post = roster.get(agent)
      const tries = post && triesOf.get(post)
      if (!tries) return
      tries.underWay = true
      later(agent, tries, pauseMs(tries))
    },
    stop: timers.clear,
  }
}
