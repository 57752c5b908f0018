// The channel connector. Turns go to processes that attached for the agent (Claude Code and other hosts of MCP
// channels) and come back as tool calls. The dialects differ only in the prefix of their method names.
import {
  type AgentConnector,
  type AgentOutlet,
  type AttachedHost,
  type Cancel,
  type ConnectorDeps,
  createBoundedMap,
  type Delivery,
  type HostSeat,
  SwitchboardError,
} from '../../contract/index.ts'
import { createHostAsks } from './asks.ts'
import { createHostCalls } from './calls.ts'
import { eventOf } from './event.ts'
import { filesOf, type Held } from './evidence.ts'
import { type FileMeta, fetchFirstFile, hasFirstFile } from './first-file.ts'
import { createHostRecords, type Host, type Line, lineOf } from './hosts.ts'
import { attachLine, broughtBy } from './lines.ts'
import { createMoves } from './moves.ts'

/** Turns of one session in flight. A host works through them in its own order. */
const WINDOW = 256
/**
 * A full line counts as having room again at this many free places, or at half. One commit per place would be too many.
 */
const ROOMY = 64
/** One-way turns of one host without evidence. They wait for no answer, so many at once do no harm. */
const ONE_WAY_WINDOW = 1_024
/** A one-way turn at a host that calls no tool leaves the window after this time. */
const ONE_WAY_MS = 24 * 3_600_000
const FILES_REMEMBERED = 1_000
const SESSIONS_REMEMBERED = 10_000
const NOT_TAKEN = {
  claude:
    'the session gate of Claude Code is likely closed: start it with --dangerously-load-development-channels server:switchboard (as a plugin: plugin:switchboard@switchboard); its other gates are listed below',
  nexo: 'the host does not take this server as a channel: look at its own list of channels',
}
/** A session that went back for another node is left to it this long: longer than a lane rests and a sweep takes. */
const LEFT_TO_OTHERS_MS = 10_000

export function createChannelConnector(deps: ConnectorDeps): AgentConnector {
  const { agent, clock, log } = deps
  const dialect = agent.connector.options.dialect === 'nexo' ? 'nexo' : 'claude'
  const start =
    dialect === 'claude'
      ? 'start Claude Code with --dangerously-load-development-channels server:switchboard'
      : `start a host that runs: switchboard channel --agent ${agent.id} --dialect nexo`
  const hosts = createHostRecords(start, clock)
  // Sessions whose turns are going back to the queue. A newer turn must not overtake them.
  const returning = new Set<string>()
  const leftToOthers = createBoundedMap<string, number>(FILES_REMEMBERED)
  const files = createBoundedMap<string, FileMeta>(FILES_REMEMBERED)
  /** Sessions whose newest turn is one-way. */
  const oneWaySessions = createBoundedMap<string, true>(SESSIONS_REMEMBERED)
  let cancelOld: Cancel | null = null
  let outlet: AgentOutlet | null = null
  let stopAdmitting: () => void = () => undefined
  let stopping = false

  const changed = () => {
    outlet?.presence(hosts.all().length > 0, hosts.describe())
    outlet?.roomy()
  }

  const absent = () =>
    new SwitchboardError('agent_absent', `${agent.id}: ${hosts.describe()}`, { retryAfterMs: 0 })

  const placeFor = (session: string) => {
    const until = leftToOthers.get(session) ?? 0
    if (returning.has(session) || (until > clock.now() && deps.isElsewhere?.())) return null
    return hosts.choose(session)
  }

  /**
   * The host's pipe took these one-way turns. They leave the window, and a later call of that host is their evidence.
   */
  const letRest = (host: Host, turns: readonly Held[]) => {
    if (turns.length === 0) return
    for (const one of turns) {
      host.oneWay.delete(one)
      host.held.remove(one)
      host.slid.set(one.turn, true)
    }
    accept({ kind: 'rests', turns: turns.map(({ turn }) => turn) })
      .catch((thrown) => log.warn({ error: String(thrown) }, 'one-way turns are waited for on'))
      .finally(() => outlet?.roomy())
  }

  /** Makes room in the window of one-way turns. Old turns leave it, and the oldest ones that the pipe took. */
  const slideOn = () => {
    const old = clock.now() - ONE_WAY_MS
    for (const host of hosts.all()) {
      const tooMany = host.oneWay.size - (ONE_WAY_WINDOW - ROOMY)
      const taken = [...host.oneWay].filter((one) => one.confirmed)
      letRest(
        host,
        taken.filter((one, at) => at < tooMany || one.writtenAt <= old),
      )
    }
    if (cancelOld !== null || hosts.all().every(({ oneWay }) => oneWay.size === 0)) return
    cancelOld = clock.after(ONE_WAY_MS, () => {
      cancelOld = null
      slideOn()
    })
  }

  /** Throws if the host cannot be handed the turn. Otherwise the turn is being written when this returns. */
  const write = (held: Held, line: Line, delivery: Delivery) => {
    const full = line.link.room() <= 1
    held.lines.push(line)
    held.writtenAt = clock.now()
    held.confirmed = false
    const written = line.link.deliver(eventOf(delivery, line.link.local ? held.file : {}))
    line.full ||= full
    line.underway += 1
    void written
      .then(
        (outcome) => {
          if (held.lines.at(-1) !== line) return
          held.confirmed = outcome === 'relayed'
          if (held.oneWay && held.confirmed) slideOn()
        },
        (thrown) => log.warn({ host: line.link.id, error: String(thrown) }, 'a message was not taken'),
      )
      .then(() => {
        line.underway -= 1
        if (!line.full || line.link.room() < Math.min(ROOMY, line.underway)) return
        line.full = false
        outlet?.roomy()
      })
  }

  const hand = (host: Host, delivery: Delivery, file: FileMeta) => {
    const line = lineOf(host)
    if (!line) throw absent()
    const { turn, session, chatId, messageId } = delivery
    const held: Held = {
      ...{ turn, session, chatId, messageId, file, delivery },
      ...{ phase: 'open', seen: false, fetched: false, counted: false, answering: false, confirmed: false },
      oneWay: delivery.oneWay === true,
      ...{ files: filesOf(delivery), lines: [], writtenAt: clock.now() },
    }
    // Added before it is written, because the host may answer at once.
    host.held.add(held)
    if (held.oneWay) host.oneWay.add(held)
    try {
      write(held, line, delivery)
    } catch (thrown) {
      // The host never had it, so no later call is about it.
      host.held.remove(held)
      host.oneWay.delete(held)
      throw thrown
    }
    if (held.oneWay) oneWaySessions.set(session, true)
    else oneWaySessions.delete(session)
    host.used = true
    hosts.stick(session, host)
    moves.written()
  }

  const marked = (delivery: Delivery): Delivery => ({ ...delivery, repeat: true })

  const moves = createMoves({
    clock,
    hosts,
    isElsewhere: () => deps.isElsewhere?.() ?? false,
    down(_host, held, line) {
      const { delivery } = held
      if (delivery) write(held, line, marked(delivery))
      else held.lines.push(line)
    },
    over(to, turns) {
      for (const held of turns) {
        try {
          if (held.delivery) hand(to, marked(held.delivery), held.file)
        } catch (thrown) {
          held.delivery = null
          log.warn({ turn: held.turn, error: String(thrown) }, 'a turn could not be moved to the next host')
        }
      }
    },
    away(host, turns) {
      for (const { session } of turns) leftToOthers.set(session, clock.now() + LEFT_TO_OTHERS_MS)
      void giveBack(host, turns, false, 'the host gave no sign of having seen it within 30 s')
    },
    tried: changed,
  })

  const giveBack = async (from: Host, turns: readonly Held[], counted: boolean, detail: string) => {
    const sessions = [...new Set(turns.map((one) => one.session))]
    for (const one of turns) {
      from.held.change(one, { phase: 'brought' })
      from.oneWay.delete(one)
    }
    for (const session of sessions) returning.add(session)
    try {
      if (turns.length > 0)
        await outlet?.accept({
          kind: 'returned',
          turns: turns.map(({ turn }) => turn),
          counted,
          detail,
          // The daemon is stopping. The host keeps running and will return the turn.
          ...(stopping ? { kept: true } : {}),
        })
    } catch (thrown) {
      log.warn({ error: String(thrown) }, 'turns are found again when their lane is taken')
    } finally {
      for (const session of sessions) returning.delete(session)
      changed()
    }
  }

  const tools = () => {
    if (!deps.tools) throw new SwitchboardError('internal', 'the connector was given no tools')
    return deps.tools()
  }

  const accept = async (output: Parameters<AgentOutlet['accept']>[0]) => {
    await outlet?.accept(output)
  }

  const calls = createHostCalls({
    agent: agent.id,
    ...{ clock, log, tools, accept },
    proven: changed,
    hosts: hosts.all,
    freed: () => outlet?.roomy(),
  })
  const asks = createHostAsks({ log, accept, hosts: hosts.all, proven: changed })

  /** A line ended. If the host has another line, only what never reached the host's pipe is written again. */
  const detach = (host: Host, line: Line) => {
    if (!host.lines.includes(line)) return
    host.lines = host.lines.filter((one) => one !== line)
    log.info({ host: line.link.id, held: host.held.size }, 'a host detached')
    const twin = lineOf(host)
    if (twin) {
      for (const held of host.held) {
        const lost = held.phase === 'open' && !held.seen && !held.confirmed && held.lines.at(-1) === line
        if (lost && held.delivery) write(held, twin, marked(held.delivery))
      }
      moves.look()
      return changed()
    }
    hosts.remove(host)
    moves.look()
    const others = new Set(
      hosts
        .all()
        .flatMap(({ held }) => [...held].flatMap(({ turn, phase }) => (phase === 'open' ? [turn] : []))),
    )
    const left = [...host.held].filter((one) => one.phase === 'open' && !others.has(one.turn))
    // A listing of servers attaches as an unproven host for a second and must use up no attempts. But a one-way turn
    // that was offered a second time without evidence is not offered again.
    const spent = left.filter((one) => one.oneWay && !one.seen && one.delivery?.repeat === true)
    letRest(host, spent)
    const detail = stopping ? 'the daemon ended the attachment' : 'the host went away'
    const again = left.filter((one) => !spent.includes(one))
    void giveBack(host, again, host.proven, detail)
  }

  const admit = (link: AttachedHost): HostSeat => {
    const host = hosts.at(link) ?? hosts.add(link)
    const { line, replaced } = attachLine(host, link, clock.now())
    for (const held of broughtBy(host, line, { replaced, now: clock.now() })) {
      if (held.delivery) write(held, line, marked(held.delivery))
    }
    for (const { session } of link.facts.held) hosts.stick(session, host)
    replaced?.link.close('another line of the same shim took its place')
    log.info({ host: link.id, client: link.facts.client, proven: host.proven }, 'a host attached')
    moves.look()
    changed()
    void asks.comeBack(host, link)
    return {
      call: (call, proves) => calls.call(host, line, call, proves),
      ask: (given) => asks.ask(host, line, given),
      detached: () => detach(host, line),
    }
  }

  return {
    // A turn that a departed host had seen and not acknowledged is offered again, marked, because another host does not
    // know it.
    redelivery: {
      handed: 'again',
      seen: 'again',
      acknowledged: 'rest',
      afterTimeout: false,
      unseenTold: true,
    },
    window: WINDOW,
    holdsDecisions: false,
    async start(given) {
      outlet = given
      stopping = false
      if (!deps.hosts) throw new SwitchboardError('internal', 'the connector was given no door for hosts')
      stopAdmitting = deps.hosts.open(agent.id, { dialect, admit })
      changed()
    },
    room(session) {
      const place = placeFor(session)
      if (!place || !oneWaySessions.has(session)) return place?.room ?? 0
      return Math.max(0, Math.min(place.room, ONE_WAY_WINDOW - place.host.oneWay.size))
    },
    windowOf: (session) => (oneWaySessions.has(session) ? ONE_WAY_WINDOW : WINDOW),
    crowded: () => crowdedBy(hosts.all()),
    async prepare(delivery) {
      const near = hosts.all().some(({ lines }) => lines.some(({ link }) => link.local))
      if (!near || !hasFirstFile(delivery)) return
      files.set(delivery.turn, await fetchFirstFile(delivery, { agent: agent.id, clock, log, tools }))
    },
    async deliver(delivery) {
      const holder = hosts.holderOf(delivery.turn)
      if (holder) {
        await calls.takeUp(holder.host, holder.held, delivery)
        return moves.look()
      }
      const place = outlet ? placeFor(delivery.session) : null
      if (!place || place.room <= 0) throw absent()
      hand(place.host, delivery, files.get(delivery.turn) ?? {})
      files.delete(delivery.turn)
    },
    takeUp(delivery, seen) {
      const holder = hosts.holderOf(delivery.turn)
      if (holder) {
        calls.resumeInFlight(holder.host, holder.held, delivery, seen)
        moves.look()
      }
      return holder !== null
    },
    whereIs(turn) {
      const { host } = hosts.holderOf(turn) ?? {}
      const facts = host?.lines.at(-1)?.link.facts
      return host ? { host: `${facts?.client ?? 'a host'} (${host.key})`, proven: host.proven } : null
    },
    unseenBecause: NOT_TAKEN[dialect],
    verdict: (verdict) => asks.verdict(verdict),
    async stop() {
      stopping = true
      stopAdmitting()
      stopAdmitting = () => undefined
      moves.stop()
      cancelOld?.()
      cancelOld = null
      const last = outlet
      outlet = null
      last?.presence(false, 'stopped')
    },
  }
}

/** Returns the full windows in words; null: none is full. */
function crowdedBy(hosts: readonly Host[]): string | null {
  for (const { held, oneWay } of hosts) {
    if (oneWay.size >= ONE_WAY_WINDOW)
      return `the window of one-way messages is full: its host did not take ${oneWay.size} of them`
    const open = new Map<string, number>()
    for (const one of held) {
      if (one.phase !== 'open' || one.oneWay) continue
      const many = (open.get(one.session) ?? 0) + 1
      if (many >= WINDOW)
        return `the window of a conversation is full: ${many} messages were handed over and neither answered nor acknowledged`
      open.set(one.session, many)
    }
  }
  return null
}
