// Ends families of processes when this process is killed, before they can continue alone. A small shell reads a pipe
// from us. Each line lists the live groups; when the pipe ends, the shell kills them at once. A second shell holds our
// ends of a child's pipes, so that the child does not notice our end first. A group is named by its leader's pid and
// start time, because pids are reused, and by a mark in its environment, which processes carry even if they left the
// group.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Logger } from '../../contract/index.ts'
import { MARK_NAME, startTimeOf } from './proc-table.ts'

/** A stream over one of our file descriptors, as Node makes one for each pipe of a child. */
export type Pipe = (Readable | Writable) & { readonly _handle?: { readonly fd?: number } | null }

export interface GroupWatcher {
  /** Announces the mark of a family before its first process starts, so that none is ever unwatched. */
  expect(mark: string): () => void
  /** `mark`: the value of MARK_NAME in its environment. Call the result when the family is gone. */
  watch(pid: number, mark?: string): () => void
  /**
   * Keeps our ends of its pipes open when we are killed. The child sees no end of its input and cannot write, until it
   * is ended. Call the result to let the pipes go.
   */
  hold(pid: number, pipes: readonly Pipe[]): () => void
  /** Both, for a process whose family ends with its pipes. */
  guard(pid: number, pipes: readonly Pipe[]): () => void
  stop(): void
}

const SCRIPT = `
trap '' INT TERM HUP
families=
while IFS= read -r line; do families=$line; done
[ -n "$families" ] || exit 0
marked() {
  [ "$mark" != - ] && grep -las "${MARK_NAME}=$mark" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ one _; do
    kill -s KILL "$one" 2>/dev/null
  done
}
is_ours() {
  [ "$pid" != - ] || return 1
  [ "$start" != - ] && [ -r "/proc/$pid/stat" ] || return 0
  read -r stat < "/proc/$pid/stat" 2>/dev/null || return 0
  set -- \${stat##*) }
  [ "\${20}" = "$start" ]
}
each() {
  for family in $families; do
    pid=\${family%%:*}; rest=\${family#*:}; start=\${rest%%:*}; mark=\${rest#*:}
    "$1"
  done
}
group() { is_ours && kill -s KILL -- "-$pid" 2>/dev/null; }
each group
each marked
# One that was being started, or forked, while we looked.
sleep 1
each group
each marked
`

/** Holds until the watcher has ended it, or for five seconds. */
const HOLD = `
trap '' INT TERM HUP
read -r _ && exit
looks=0
while [ $looks -lt 50 ] && kill -s 0 -- "-$0" 2>/dev/null; do sleep 0.1; looks=$((looks + 1)); done
`

export function createGroupWatcher(deps: { readonly log: Logger; readonly path: string }): GroupWatcher {
  const alive = new Set<string>()
  let shell: ChildProcess | null = null
  let absent = process.platform === 'win32'
  let stopped = false

  const tell = () => {
    shell?.stdin?.write(`${[...alive].join(' ')}\n`)
  }

  const start = () => {
    if (shell !== null || absent || stopped) return
    const started = spawn('sh', ['-c', SCRIPT], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: { PATH: deps.path },
    })
    started.once('error', (error: NodeJS.ErrnoException) => {
      if (shell === started) shell = null
      // Too many open files is temporary. A missing shell stays missing.
      absent = error.code === 'ENOENT'
      deps.log.warn(
        { problem: error.code },
        'there is no shell: processes may outlive a daemon that is killed',
      )
    })
    // Despite the types: without a free file descriptor there is no pipe, and `error` follows.
    if ((started.stdin as unknown) === undefined) return
    shell = started
    started.stdin.on('error', () => undefined)
    started.once('exit', () => {
      if (shell !== started) return
      shell = null
      // The shell was killed while groups are watched. The next one gets the whole list.
      if (alive.size > 0) {
        start()
        tell()
      }
    })
    // It must not keep this process from ending.
    started.unref()
    ;(started.stdin as unknown as { unref?: () => void }).unref?.()
  }

  const add = (family: string) => {
    alive.add(family)
    start()
    tell()
    return () => {
      if (alive.delete(family)) tell()
    }
  }

  const watcher: GroupWatcher = {
    expect: (mark) => add(`-:-:${mark}`),
    watch: (pid, mark) => add(`${pid}:${startTimeOf(pid)?.replace(/[^0-9]/g, '') || '-'}:${mark ?? '-'}`),
    hold(pid, pipes) {
      const fds = pipes.flatMap(({ _handle }) =>
        _handle?.fd !== undefined && _handle.fd >= 0 ? [_handle.fd] : [],
      )
      if (absent || fds.length === 0) return () => undefined
      const holder = spawn('sh', ['-c', HOLD, String(pid)], {
        stdio: ['pipe', 'ignore', 'ignore', ...fds],
        detached: true,
        env: { PATH: deps.path },
      })
      holder.once('error', () => undefined)
      if ((holder.stdin as unknown) === undefined) return () => undefined
      holder.stdin?.on('error', () => undefined)
      holder.unref()
      ;(holder.stdin as unknown as { unref?: () => void }).unref?.()
      return () => void holder.kill('SIGKILL')
    },
    guard(pid, pipes) {
      const unwatch = watcher.watch(pid)
      const release = watcher.hold(pid, pipes)
      return () => {
        unwatch()
        release()
      }
    },
    stop() {
      stopped = true
      shell?.stdin?.end()
      shell = null
    },
  }
  return watcher
}
