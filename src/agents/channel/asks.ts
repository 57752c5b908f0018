// Permission requests of hosts. A request that arrives by several lines is one approval. The verdict goes to the host
// that asked. A host sends a request only if it took us as a channel, so a request proves its host.
import type {
  AgentConnector,
  AgentOutput,
  AttachedHost,
  HostAsk,
  Logger,
  OpenAtHost,
} from '../../contract/index.ts'
import { ASK_LIMIT, boundedAsk } from './bounded-ask.ts'
import type { Host, Line } from './hosts.ts'

export interface HostAsksDeps {
  readonly log: Logger
  readonly accept: (output: AgentOutput) => Promise<void>
  readonly hosts: () => readonly Host[]
  /** Called when a host was proven. */
  readonly proven: () => void
}

export interface HostAsks {
  ask(host: Host, line: Line, given: HostAsk): Promise<void>
  /** Passes on a verdict that was given while the host was away. */
  comeBack(host: Host, link: AttachedHost): Promise<void>
  verdict: NonNullable<AgentConnector['verdict']>
}

export function openAt({ held, used }: Host): OpenAtHost {
  return {
    used,
    // A getter, because the list may have thousands of entries and most calls never read it.
    get open() {
      return [...held].flatMap(({ turn, phase }) => (phase === 'open' ? [turn] : []))
    },
  }
}

export function createHostAsks({ log, accept, hosts, proven }: HostAsksDeps): HostAsks {
  const prove = (host: Host, line: Line) => {
    const known = host.proven && line.proven
    host.proven = line.proven = true
    host.silent = false
    if (!known) proven()
  }

  return {
    async ask(host, line, given) {
      const { requestId, toolName, description, inputPreview } = boundedAsk(given)
      prove(host, line)
      const by = host.asks.get(requestId) ?? []
      const asked = by.some((one) => one !== line && host.lines.includes(one))
      host.asks.set(requestId, [...by.filter((one) => one !== line), line])
      // The other line already brought this request. One request is one question.
      if (asked) return
      if (host.askBucket.take('', ASK_LIMIT).over) {
        log.warn(
          { host: line.link.id, request: requestId },
          'too many permission requests: this one is not asked',
        )
        return
      }
      // A guess, and no evidence: the last turn that the host acted on, else the newest one it has.
      const newest = host.held.newest()
      const about = host.current ?? (newest ? { session: newest.session, turn: newest.turn } : null)
      await accept({
        kind: 'ask',
        session: about?.session ?? host.key,
        ...(about ? { turn: about.turn, guessed: true } : {}),
        at: openAt(host),
        ask: { toolName, description, input: inputPreview, requestId, host: host.key },
      })
    },
    async comeBack({ key }, { id, facts }) {
      if (facts.asks.length === 0) return
      try {
        await accept({ kind: 'waits', host: key, requests: facts.asks })
      } catch (thrown) {
        log.warn({ host: id, error: String(thrown) }, 'what it waits for could not be looked at')
      }
    },
    async verdict({ ask, behavior, cause }) {
      const { requestId } = ask
      // The host has a dialog of its own. It stays open unless a person decided.
      if (requestId === undefined || cause !== 'person') return 'gone'
      // Only the host that asked may get the verdict: an approver looked at its request and at no other.
      const host = hosts().find(
        (one) => one.asks.has(requestId) && (ask.host === undefined || ask.host === one.key),
      )
      // One of the lines that brought the request is enough. The newest is tried first.
      const lines = (host?.asks.get(requestId) ?? []).filter((line) => host?.lines.includes(line))
      for (const { link } of lines.toReversed()) {
        if ((await link.verdict({ requestId, behavior })) !== 'relayed') continue
        host?.asks.delete(requestId)
        return 'relayed'
      }
      return 'gone'
    },
  }
}
