// What a service manager is told: ready, alive, reloading, stopping. systemd gives a NOTIFY_SOCKET, which is a datagram socket
// that Node cannot write to; its own `systemd-notify` can.
import { execFile } from 'node:child_process'
import type { Cancel, Clock, Logger } from '../contract/index.ts'

export interface SystemdNotify {
  /** As `unitOf` says. */
  readonly unit: string | null
  ready(status: string): Promise<void>
  reloading(): Promise<void>
  stopping(): Promise<void>
}

const TOLD_WITHIN_MS = 5_000

/** Null: no service manager runs this process. Else the unit, empty where its name is not known. */
export function unitOf(env: Readonly<Record<string, string | undefined>>): string | null {
  return env.NOTIFY_SOCKET ? (env.SWITCHBOARD_UNIT ?? '') : null
}

export function createSystemdNotify(deps: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
  /** A daemon that takes no messages is not called alive: the watchdog starts it anew. */
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
  // Twice in the time that is given: one late beat is no end.
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
