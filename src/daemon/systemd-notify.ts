// Notifies a service manager: ready, alive, reloading, stopping. systemd's NOTIFY_SOCKET is a datagram socket, which
// Node cannot write to, so `systemd-notify` does it.
import { execFile } from 'node:child_process'
import type { Cancel, Clock, Logger } from '../contract/index.ts'

export interface SystemdNotify {
  /** The unit, as `unitOf` returns it. */
  readonly unit: string | null
  ready(status: string): Promise<void>
  reloading(): Promise<void>
  stopping(): Promise<void>
}

const TOLD_WITHIN_MS = 5_000

/** Returns null if no service manager runs this process, else the unit, or an empty text if its name is unknown. */
export function unitOf(env: Readonly<Record<string, string | undefined>>): string | null {
  return env.NOTIFY_SOCKET ? (env.SWITCHBOARD_UNIT ?? '') : null
}

export function createSystemdNotify(deps: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
  /** Whether the daemon accepts messages. Otherwise the watchdog restarts it. */
  readonly alive: () => boolean
}): SystemdNotify {
  const { env, clock, log } = deps
  const unit = unitOf(env)
  if (unit === null) {
    const nothing = async () => undefined
    return { unit, ready: nothing, reloading: nothing, stopping: nothing }
  }
  let told = false
  let beat: Cancel = () => undefined
  const tell = (...words: readonly string[]): Promise<void> =>
    new Promise((resolve) => {
      execFile('systemd-notify', [...words], { env, timeout: TOLD_WITHIN_MS }, (problem) => {
        if (problem && !told) {
          told = true
          log.warn(
            { problem: problem.message },
            'the service manager could not be told: is systemd-notify installed?',
          )
        }
        resolve()
      })
    })
  // Two beats per interval, so that one late beat ends nothing.
  const everyMs = Math.floor(Number(env.WATCHDOG_USEC ?? 0) / 1_000 / 2)
  const mine = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === process.pid
  const beats = () => {
    beat = clock.after(everyMs, () => {
      if (deps.alive()) void tell('WATCHDOG=1')
      beats()
    })
  }
  return {
    unit,
    async ready(status) {
      await tell('--ready', `--status=${status}`)
      if (everyMs > 0 && mine) {
        beat()
        beats()
      }
    },
    reloading: () => tell('RELOADING=1'),
    async stopping() {
      beat()
      await tell('STOPPING=1')
    },
  }
}
