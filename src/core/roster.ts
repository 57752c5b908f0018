// The agents of this node: their connectors, and whether a turn can be handed over now.
import type { AgentConnector, AgentSettings, AgentTrouble, Clock } from '../contract/index.ts'

export interface AgentPost {
  readonly settings: AgentSettings
  readonly connector: AgentConnector
  attached: boolean
  detail: string | undefined
  /** Start of the present outage; null while attached. */
  outageSince: number | null
  /** Why an attached agent does not answer; null: no trouble is known. */
  trouble: AgentTrouble | null
}

export interface Roster {
  get(agent: string): AgentPost | undefined
  all(): readonly AgentPost[]
  reachable(): readonly string[]
  add(settings: AgentSettings, connector: AgentConnector): AgentPost
  remove(agent: string): void
  presence(agent: string, attached: boolean, detail?: string): void
  onAttached(listen: (agent: string) => void): void
  /** Registers a listener for an agent that left. It no longer works on the turns in flight. */
  onDetached(listen: (agent: string) => void): void
}

export function createRoster(clock: Clock): Roster {
  const posts = new Map<string, AgentPost>()
  const attachedListeners: ((agent: string) => void)[] = []
  const detachedListeners: ((agent: string) => void)[] = []
  /** Null: computed on demand, once for many agents that come or go. */
  let reachable: readonly string[] | null = []

  const attachedOnes = () =>
    [...posts.values()].filter((post) => post.attached).map((post) => post.settings.id)

  return {
    get: (agent) => posts.get(agent),
    all: () => [...posts.values()],
    reachable() {
      reachable ??= attachedOnes()
      return reachable
    },
    add(settings, connector) {
      const post = {
        settings,
        connector,
        attached: false,
        detail: undefined,
        outageSince: clock.now(),
        trouble: null,
      }
      posts.set(settings.id, post)
      return post
    },
    remove(agent) {
      const post = posts.get(agent)
      posts.delete(agent)
      reachable = null
      if (post?.attached) for (const listen of detachedListeners) listen(agent)
    },
    presence(agent, attached, detail) {
      const post = posts.get(agent)
      if (!post) return
      post.detail = detail
      if (post.attached === attached) return
      post.attached = attached
      post.outageSince = attached ? null : clock.now()
      reachable = null
      for (const listen of attached ? attachedListeners : detachedListeners) listen(agent)
    },
    onAttached(listen) {
      attachedListeners.push(listen)
    },
    onDetached(listen) {
      detachedListeners.push(listen)
    },
  }
}
