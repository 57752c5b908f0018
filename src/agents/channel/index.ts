// The channel connector: turns go to processes that attached for the agent (Claude Code and other hosts of MCP channels)
// and come back as tool calls. One implementation; the dialect is the prefix of its names on the host's pipe.
import {
  type AgentConnector,
  type AgentOutlet,
  type AttachedHost,
  type ConnectorDeps,
  type Delivery,
  type HostSeat,
  SwitchboardError,
} from '../../contract/index.ts'
import { ASK_LIMIT, boundedAsk } from './bounded-ask.ts'
import { createCallDesk } from './calls.ts'
import { eventOf } from './event.ts'
import { filesOf, type Held } from './evidence.ts'
import { type FileMeta, fetchFirstFile, hasFirstFile } from './first-file.ts'
import { createHostBook, type Host } from './hosts.ts'

/** How long an unproven host may take with its one turn. */
export const TRIAL_MS = 30_000
/** Turns of one session in flight. A host works through what piled up in its own order. */
const WINDOW = 256

export function createChannelConnector(deps: ConnectorDeps): AgentConnector {
  const { agent, clock, log } = deps
  const dialect = agent.connector.options.dialect === 'nexo' ? 'nexo' : 'claude'
  const start =
    dialect === 'claude'
      ? 'start Claude Code with --dangerously-load-development-channels server:switchboard'
      : `start a host that runs: switchboard channel --agent ${agent.id} --dialect nexo`
  const hosts = createHostBook(start, clock)
  // Sessions whose turns are on their way back to the queue: a newer one must not overtake them.
  const returning = new Set<string>()
  const waits = new Set<{ readonly session: string; overtaking: boolean }>()
  let waiting: (() => void)[] = []
  let outlet: AgentOutlet | null = null
  let closeDoor: () => void = () => undefined
  let stopping = false

  const changed = () => {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }
  const change = () => new Promise<void>((resolve) => waiting.push(resolve))

  const showPresence = () => outlet?.presence(hosts.reachable(), hosts.describe())

  const absent = () =>
    new SwitchboardError('agent_absent', `${agent.id}: ${hosts.describe()}`, { retryAfterMs: 0 })

  const hand = async (host: Host, delivery: Delivery, file: FileMeta) => {
    const event = eventOf(delivery, host.link.local ? file : {})
    const { turn, session, chatId, messageId } = event
    host.held = host.held.filter((one) => one.turn !== turn)
    const fresh = {
      seen: false,
      acked: false,
      answering: false,
      counted: false,
      flying: true,
      elsewhere: false,
    }
    const held: Held = { turn, session, chatId, messageId, files: filesOf(delivery), ...fresh }
    host.held.push(held)
    hosts.stick(session, host)
    tryOut(host)
    // A host that takes nothing confirms nothing: once the turn is given back nobody waits for that.
    const returned = new Promise<void>((resolve) => {
      held.letGo = resolve
    })
    try {
      await Promise.race([host.link.deliver(event), returned])
    } catch (thrown) {
      // It never had it: nothing it does is about this one.
      host.held = host.held.filter((one) => one !== held)
      if (!host.held.some(isTried)) {
        host.trial?.()
        host.trial = null
      }
      changed()
      throw thrown
    }
  }

  const isTried = (one: Held) => one.flying && !one.seen

  /** One that came back with a turn is no surer to act on it than one that was just handed it. */
  const tryOut = (host: Host) => {
    const gone = !hosts.all().includes(host)
    if (gone || host.proven || host.trial !== null || !host.held.some(isTried)) return
    host.trial = clock.after(TRIAL_MS, () => void giveUpTrial(host))
  }

  /** The next host is tried. What it has stays known: it may only have been busy, and still act on it. */
  const giveUpTrial = async (host: Host) => {
    host.trial = null
    host.silent = true
    const turns = host.held.filter(isTried)
    await giveBack(turns, false, 'the host gave no sign of having seen it within 30 s')
  }

  const giveBack = async (turns: Host['held'], counted: boolean, detail: string) => {
    const sessions = [...new Set(turns.map((one) => one.session))]
    for (const one of turns) {
      one.flying = false
      one.counted = counted
    }
    for (const session of sessions) returning.add(session)
    for (const wait of waits) if (returning.has(wait.session)) wait.overtaking = true
    for (const one of turns) one.letGo?.()
    try {
      if (turns.length > 0)
        await outlet?.accept({
          kind: 'returned',
          turns: turns.map(({ turn }) => turn),
          counted,
          detail,
          // By an end of ours: the host lives on, and comes back with it.
          ...(stopping ? { kept: true } : {}),
        })
    } catch (thrown) {
      log.warn({ error: String(thrown) }, 'turns are found again when their lane is taken')
    } finally {
      for (const session of sessions) returning.delete(session)
      showPresence()
      changed()
    }
  }

  const prove = (host: Host) => {
    const before = host.proven
    host.trial?.()
    host.trial = null
    host.proven = true
    host.silent = false
    if (!before) {
      showPresence()
      changed()
    }
  }

  const tools = () => {
    if (!deps.tools) throw new SwitchboardError('internal', 'the connector was given no tools')
    return deps.tools()
  }

  const calls = createCallDesk({
    agent: agent.id,
    clock,
    log,
    tools,
    accept: async (output) => {
      await outlet?.accept(output)
    },
    prove,
    hosts: hosts.all,
    freed: changed,
  })

  /** A verdict that was given while it was away is passed on now. */
  const comeBack = async ({ key, link }: Host) => {
    const requests = link.facts.asks
    if (requests.length === 0) return
    try {
      await outlet?.accept({ kind: 'waits', host: key, requests })
    } catch (thrown) {
      log.warn({ host: link.id, error: String(thrown) }, 'what it waits for could not be looked at')
    }
  }

  const admit = (link: AttachedHost): HostSeat => {
    const host = hosts.add(link)
    log.info({ host: link.id, client: link.facts.client, proven: host.proven }, 'a host attached')
    showPresence()
    changed()
    void comeBack(host)
    return {
      call: (call, proves) => calls.call(host, call, proves),
      async ask(given) {
        const { requestId, toolName, description, inputPreview } = boundedAsk(given)
        if (host.askBucket.take('', ASK_LIMIT).over) {
          log.warn(
            { host: link.id, request: requestId },
            'too many permission requests: this one is not asked',
          )
          return
        }
        host.asks.set(requestId, true)
        // The last turn that it acted on, else the newest it was handed: a guess, and no evidence.
        const newest = host.held.at(-1)
        const about = host.current ?? (newest ? { session: newest.session, turn: newest.turn } : null)
        await outlet?.accept({
          kind: 'ask',
          session: about?.session ?? host.key,
          ...(about ? { turn: about.turn, guessed: true } : {}),
          ask: { toolName, description, input: inputPreview, requestId, host: host.key },
        })
      },
      detached() {
        hosts.remove(host)
        log.info({ host: link.id, held: host.held.length }, 'a host detached')
        const left = host.held.filter((one) => one.flying)
        // An unproven host may be a listing of servers that lasts a second: it uses up nobody's attempts.
        void giveBack(left, host.proven, stopping ? 'the daemon ended the attachment' : 'the host went away')
      },
    }
  }

  return {
    // What a host that went away had seen and not acknowledged is offered again too, and marked: another host knows nothing
    // of it.
    redelivery: { handed: 'again', seen: 'again', acknowledged: 'rest', afterTimeout: false },
    window: WINDOW,
    holdsDecisions: false,
    async start(given) {
      outlet = given
      stopping = false
      if (!deps.hosts) throw new SwitchboardError('internal', 'the connector was given no door for hosts')
      closeDoor = deps.hosts.open(agent.id, { dialect, admit })
      showPresence()
    },
    async deliver(delivery) {
      const wait = { session: delivery.session, overtaking: returning.has(delivery.session) }
      waits.add(wait)
      let file: FileMeta | null = hasFirstFile(delivery) ? null : {}
      try {
        for (;;) {
          const holder = hosts.holderOf(delivery.turn)
          if (holder) {
            await calls.takeUp(holder.held, delivery)
            return tryOut(holder.host)
          }
          const back = !returning.has(delivery.session)
          if (wait.overtaking && back) throw absent()
          const host = back ? hosts.choose(delivery) : null
          if (host && file === null && host.link.local) {
            // While it is fetched hosts come and go: the choice is made anew.
            file = await fetchFirstFile(delivery, { agent: agent.id, clock, log, tools })
            continue
          }
          if (host) return await hand(host, delivery, file ?? {})
          if (back && (!outlet || !hosts.reachable())) throw absent()
          await change()
        }
      } finally {
        waits.delete(wait)
      }
    },
    takeUp(delivery, seen) {
      const holder = hosts.holderOf(delivery.turn)
      if (holder) {
        calls.goOn(holder.held, delivery, seen)
        tryOut(holder.host)
      }
      return holder !== null
    },
    async verdict({ ask, behavior, cause }) {
      const { requestId } = ask
      // The host has a dialog of its own, which stays open unless a person decided.
      if (requestId === undefined || cause !== 'person') return 'gone'
      // An allow that reached another host would allow what nobody looked at. Of one session the newest attachment: an
      // older one that still stands is a line that died without a word.
      const host = hosts
        .all()
        .findLast((one) => one.asks.has(requestId) && (ask.host === undefined || ask.host === one.key))
      if (!host) return 'gone'
      const told = await host.link.verdict({ requestId, behavior })
      if (told === 'relayed') host.asks.delete(requestId)
      return told
    },
    async stop() {
      stopping = true
      closeDoor()
      closeDoor = () => undefined
      const last = outlet
      outlet = null
      changed()
      last?.presence(false, 'stopped')
    },
  }
}
