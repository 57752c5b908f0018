// Ends the children's families when this process is killed without a word. A child that only listens for the end of its
// input ends by itself; one that listens on a port of its own would live on and keep it. A small shell holds a pipe from
// us: each line is the list of groups alive; when the pipe ends it ends them.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Logger } from '../../contract/index.ts'

export interface Reaper {
  /** Calling the result says that the family is gone. */
  watch(pid: number): () => void
  stop(): void
}

const SCRIPT = `
trap '' INT TERM HUP
groups=
while IFS= read -r line; do groups=$line; done
[ -n "$groups" ] || exit 0
sleep 1
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
sleep 2
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`

export function createReaper(deps: { readonly log: Logger; readonly path: string }): Reaper {
  const alive = new Set<number>()
  let shell: ChildProcess | null = null
  let absent = process.platform === 'win32'

  const tell = () => {
    shell?.stdin?.write(`${[...alive].join(' ')}\n`)
  }

  const start = () => {
    if (shell !== null || absent) return
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
        'there is no shell: channel servers may outlive a daemon that is killed',
      )
    })
    // Whatever the types say: with no file descriptor left there is no pipe, and `error` follows.
    if ((started.stdin as unknown) === undefined) return
    shell = started
    started.stdin.on('error', () => undefined)
    started.once('exit', () => {
      if (shell === started) shell = null
    })
    // It must not keep us from ending.
    started.unref()
    ;(started.stdin as unknown as { unref?: () => void }).unref?.()
  }

  return {
    watch(pid) {
      alive.add(pid)
      start()
      tell()
      return () => {
        if (alive.delete(pid)) tell()
      }
    },
    stop() {
      shell?.stdin?.end()
      shell = null
    },
  }
}
