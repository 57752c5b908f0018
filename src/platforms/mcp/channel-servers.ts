// The pool of channel servers: each connected once, however many agents it speaks to. A new configuration ends what is
// gone, begins what is new, starts anew what changed (its secrets included) and leaves the rest alone.
import { createHash } from 'node:crypto'
import {
  type ChannelServers,
  type Clock,
  createSerial,
  type LinkLease,
  type Logger,
  type McpServerSettings,
  type Random,
} from '../../contract/index.ts'
import { createGroupWatcher } from '../../kit/processes/index.ts'
import { DEFAULT_TIMINGS, type LaunchDeps, readLaunch, type Timings } from './config.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

export interface ChannelServersDeps extends LaunchDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Our own, as the servers are told. */
  readonly version: string
  /** Where several nodes share the configuration: one of them holds a server. */
  readonly lease?: (server: string) => LinkLease
  readonly timings?: Partial<Timings>
}

interface Held {
  readonly supervisor: Supervisor
  fingerprint: string
}

export function createChannelServers(deps: ChannelServersDeps): ChannelServers {
  const held = new Map<string, Held>()
  const watcher = createGroupWatcher({ log: deps.log, path: deps.environment.PATH ?? '/usr/bin:/bin' })
  const timings = { ...DEFAULT_TIMINGS, ...deps.timings }
  /** Holds of the whole pool or of newcomers, and how each server that came meanwhile is released again. */
  const holds = new Set<(() => void)[]>()

  const begin = (settings: McpServerSettings) => {
    const { lease, ...rest } = deps
    const supervisor = createSupervisor(settings, {
      ...rest,
      timings,
      guard: watcher.guard,
      ...(lease === undefined ? {} : { lease: lease(settings.name) }),
    })
    for (const hold of holds) hold.push(supervisor.server.hold())
    held.set(settings.name, { supervisor, fingerprint: fingerprintOf(settings, deps) })
  }

  // One change after another: a second one must not overtake the first half-way.
  const inOrder = createSerial()
  let stopped = false
  const applyNow = async (servers: readonly McpServerSettings[]) => {
    if (stopped) return
    const wanted = new Map(servers.map((server) => [server.name, server]))
    const ending: Promise<void>[] = []
    for (const [name, { supervisor }] of [...held]) {
      if (wanted.has(name)) continue
      held.delete(name)
      ending.push(supervisor.stop())
    }
    for (const server of servers) {
      const present = held.get(server.name)
      if (present === undefined) {
        begin(server)
        continue
      }
      const fingerprint = fingerprintOf(server, deps)
      if (present.fingerprint === fingerprint) continue
      present.fingerprint = fingerprint
      ending.push(present.supervisor.replace(server))
    }
    await Promise.all(ending)
  }

  return {
    get: (name) => held.get(name)?.supervisor.server,
    all: () => [...held.values()].map(({ supervisor }) => supervisor.server),
    hold(whom) {
      const present = whom === 'newcomers' ? [] : [...held.values()]
      const releases = present.map(({ supervisor }) => supervisor.server.hold())
      holds.add(releases)
      return () => {
        if (!holds.delete(releases)) return
        for (const release of releases) release()
      }
    },
    apply: (servers) => inOrder(() => applyNow(servers)),
    async stop() {
      stopped = true
      // They stay known until they have ended: what they say on their way out passes their gates.
      await Promise.all([...held.values()].map(({ supervisor }) => supervisor.stop()))
      held.clear()
      // A change half-way: what it was ending is gone by then too.
      await inOrder(async () => undefined)
      watcher.stop()
    },
  }
}

/** What a connection is made of. `access` is not: a changed list restarts nobody. Stays in memory. */
function fingerprintOf(settings: McpServerSettings, deps: LaunchDeps): string {
  const { access: _access, ...options } = settings.options
  const digest = createHash('sha256').update(JSON.stringify(options))
  try {
    digest.update(JSON.stringify(readLaunch(settings, deps)))
  } catch {
    // What it lacks may come: each try reads it anew.
  }
  return digest.digest('hex')
}
