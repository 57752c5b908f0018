// Ends the families of processes when this process is killed without a word, before they can go on alone. A small shell
// holds a pipe from us: each line is the list of groups alive; when the pipe ends it kills them at once. Our ends of a
// child's own pipes are held by a second shell, so that the child does not even see that we are gone. A group is named by
// its leader's pid and start time, so that a number which somebody else got since is left alone, and by a mark in its
// environment, which those carry as well who left the group.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Logger } from '../../contract/index.ts'
import { MARK_NAME, startTimeOf } from './proc-table.ts'

/** A stream over a file descriptor of ours, as Node makes one for each pipe of a child. */
export type Pipe = (Readable | Writable) & { readonly _handle?: { readonly fd?: number } | null }

export interface GroupWatcher {
  /** A family begins with this mark: told before its first process starts, so that none is ever unwatched. */
  expect(mark: string): () => void
  /** `mark`: the value of MARK_NAME in its environment. Calling the result says that the family is gone. */
  watch(pid: number, mark?: string): () => void
  /**
   * Keeps our ends of its pipes open when we are killed: it reads no end of its input, and can say nothing, until it is
   * ended. Calling the result lets them go.
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

/** Until the watcher has ended it, or for five seconds. */
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
      // Too many open files pass; a shell that is not there does not come.
      absent = error.code === 'ENOENT'
      deps.log.warn(
        { problem: error.code },
        'there is no shell: processes may outlive a daemon that is killed',
      )
    })
    // Whatever the types say: with no file descriptor left there is no pipe, and `error` follows.
    if ((started.stdin as unknown) === undefined) return
    shell = started
    started.stdin.on('error', () => undefined)
    started.once('exit', () => {
      if (shell !== started) return
      shell = null
      // Somebody ended it while there is something to watch: the next one knows all of it.
      if (alive.size > 0) {
        start()
        tell()
      }
    })
    // It must not keep us from ending.
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
