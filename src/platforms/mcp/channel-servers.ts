// The pool of channel servers. Each is connected once, however many agents use it. A new configuration stops removed
// servers, starts new ones, restarts changed ones (also when a secret changed), and leaves the others running.
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
  /** Our version, which the servers receive. */
  readonly version: string
  /** If several nodes share the configuration, one of them holds each server. */
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
  /** The active holds of the pool. Each contains the releases of its servers, with those that were added meanwhile. */
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

  // Changes run one at a time, so that a second one cannot overtake the first.
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
      // They stay in the pool until they have ended, so that their last messages still pass the gates.
      await Promise.all([...held.values()].map(({ supervisor }) => supervisor.stop()))
      held.clear()
      // Waits for a change in progress, and so for the servers that it stops.
      await inOrder(async () => undefined)
      watcher.stop()
    },
  }
}

/**
 * A digest of a connection's settings, kept in memory. `access` is left out, because a changed list needs no restart.
 */
function fingerprintOf(settings: McpServerSettings, deps: LaunchDeps): string {
  const { access: _access, ...options } = settings.options
  const digest = createHash('sha256').update(JSON.stringify(options))
  try {
    digest.update(JSON.stringify(readLaunch(settings, deps)))
  } catch {
    // A missing part may appear later. Each try reads it again.
  }
  return digest.digest('hex')
}
