// Agents that cannot be reached. One request at a time tries them, later each time, however many conversations wait; with the
// first answer all of them go on. The state is kept in the roster, where `status`, `doctor` and the other nodes read it.
import type { AgentTrouble, Clock } from '../../../contract/index.ts'
import { createKeyedTimers } from '../../keyed-timers.ts'
import type { AgentPost, Roster } from './roster.ts'

export interface Reachability {
  /** A request did not reach the agent. `retryAfterMs`: when it asked to be tried again. */
  failed(agent: string, detail: string, retryAfterMs?: number): void
  /** It was tried and did not take a turn, which is tried again: it is shown, and other conversations try for themselves. */
  refused(agent: string, state: AgentTrouble['state'], detail: string): void
  /** It answered. `failing`: why its answers cannot be used; null: they can; absent: not known yet. */
  reached(agent: string, failing?: string | null): void
  /** It took a turn and never answered: it is failing until it answers one. */
  silent(agent: string, detail: string): void
  answered(agent: string): void
  /** What its turns tell of the tries before this start; null: nothing. It counts until the agent is heard of. */
  recall(agent: string, trouble: AgentTrouble | null): void
  isUnreachable(agent: string): boolean
  /** Nothing waits for it any more: it could not be reached, and whether it can be now is not known. */
  over(agent: string): void
  /** What is known of it is from before this start. */
  isRecalled(agent: string): boolean
  /** It cannot be reached, and the next try is not due: nothing is taken for it. */
  isClosed(agent: string): boolean
  /** A turn is taken for it: until that has ended, or the next try is due, no other is. */
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
  /** What waits for the agent is looked at. */
  readonly roomy: (agent: string) => void
}): Reachability {
  const { clock, roster } = deps
  const timers = createKeyedTimers(clock)
  const triesOf = new WeakMap<AgentPost, Tries>()
  /** Whether it was heard of since the start, or what is known is from before. */
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
      // Of several requests that failed together the first counts.
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
      // One that cannot be reached was seen to fail since.
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
