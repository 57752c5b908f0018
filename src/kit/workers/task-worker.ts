// A worker thread for external formats that are not small and linear (a mail, HTML). Reading them there takes neither
// the main thread's time nor its memory. A task has 10 s of processor time (up to a minute on a busy machine) and 512
// MB. The thread starts with the first task. It ends after an idle time, which frees its memory.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { type Cancel, createSerial, SwitchboardError } from '../../contract/index.ts'
import { threadTimeMs } from './thread-time.ts'
import type { FromWorker, ToWorker } from './wire.ts'

export interface TaskLimits {
  readonly ms: number
  readonly mb: number
}

const TASK_LIMITS: TaskLimits = { ms: 10_000, mb: 512 }
const YOUNG_MB = 64
const IDLE_MS = 30_000
/** The time to load a worker's code, also on a busy machine. */
const START_MS = 60_000
/** A busy machine may take this many times as long for the same work. */
const MOST_WAIT = 6
const LOOK_AGAIN_MS = 250

/** The input was too much: the task took too long, needed too much memory, ended the thread or threw. */
export class WorkerBrokeError extends Error {}

/** Answers a task's question. An error is thrown in the task, with its `code`. */
export type AnswerTask = (question: unknown) => Promise<unknown>

export interface TaskWorker {
  /** Tasks run one after the other. Throws `WorkerBrokeError`; the next task gets a new thread. */
  run(task: string, input: unknown, answer?: AnswerTask): Promise<unknown>
  close(): void
}

/**
 * Returns the file of a built-in worker, such as `platforms/email/mail/mail-worker`. In `src/` this file lies two
 * folders below the root, and in `dist/` its chunk lies one below.
 */
export function workerFile(name: string): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? `../../${name}.ts` : `../${name}.js`, import.meta.url)
}

export function createTaskWorker({
  file,
  limits = TASK_LIMITS,
}: {
  readonly file: URL
  readonly limits?: TaskLimits
}): TaskWorker {
  const inOrder = createSerial()
  let thread: Worker | null = null
  /** Its folder under /proc. */
  let folder: string | null = null
  let closed = false
  let ending: Cancel = () => undefined

  const end = () => {
    ending()
    void thread?.terminate()
    thread = null
  }

  const start = (): Promise<Worker> => {
    const made = openThread(file, {
      // The worker needs no secret of the environment and no command-line flag.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.mb - YOUNG_MB, maxYoungGenerationSizeMb: YOUNG_MB },
    })
    made.unref()
    thread = made
    return converse(made, null, START_MS, async () => undefined).then(
      () => made,
      (thrown: Error) => {
        // The thread failed before it read an input.
        throw new SwitchboardError('internal', `a worker did not start: ${thrown.message}`)
      },
    )
  }

  /** Runs until the worker says that it is ready or done. */
  const converse = (
    made: Worker,
    order: ToWorker | null,
    ms: number,
    answer: AnswerTask,
  ): Promise<unknown> => {
    let cancel: Cancel = () => undefined
    return new Promise<unknown>((resolve, reject) => {
      const broke = (why: string) => {
        if (thread === made) thread = null
        void made.terminate()
        reject(new WorkerBrokeError(why))
      }
      const watch = () => {
        const began = { at: performance.now(), used: threadTimeMs(folder) }
        const look = () => {
          const used = threadTimeMs(folder)
          const leftMs = began.used === null || used === null ? 0 : ms - (used - began.used)
          if (leftMs <= 0 || performance.now() - began.at >= MOST_WAIT * ms)
            broke(`it took longer than ${Math.round(ms / 1_000)} s`)
          else cancel = after(Math.max(LOOK_AGAIN_MS, leftMs), look)
        }
        cancel = after(ms, look)
      }
      made.on('error', (thrown: Error & { code?: string }) =>
        broke(
          thrown.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? `it needed more than ${limits.mb} MB`
            : `the worker failed: ${thrown.message.slice(0, 200)}`,
        ),
      )
      made.on('exit', () => broke('the worker ended'))
      made.on('message', (message: FromWorker) => {
        if (message.kind === 'ask') {
          // The time of a DNS lookup does not count for the input.
          cancel()
          answer(message.question).then(
            (value) => {
              watch()
              made.postMessage({ kind: 'answer', value } satisfies ToWorker)
            },
            (thrown: Error & { code?: string }) => {
              watch()
              const failed = {
                message: thrown.message,
                ...(thrown.code === undefined ? {} : { code: thrown.code }),
              }
              made.postMessage({ kind: 'answer', failed } satisfies ToWorker)
            },
          )
        } else if (message.kind === 'failed') reject(new WorkerBrokeError(message.message))
        else if (message.kind === 'done') resolve(message.value)
        else {
          folder = message.thread
          resolve(undefined)
        }
      })
      watch()
      if (order !== null) made.postMessage(order)
    }).finally(() => {
      cancel()
      for (const event of ['error', 'exit', 'message']) made.removeAllListeners(event)
      // Between tasks its end does not matter.
      made.on('error', () => undefined)
      made.on('exit', () => {
        if (thread === made) thread = null
      })
    })
  }

  return {
    run: (task, input, answer = async () => undefined) =>
      inOrder(async () => {
        if (closed) throw new Error('the worker is closed')
        ending()
        const made = thread ?? (await start())
        try {
          return await converse(made, { kind: 'task', task, input }, limits.ms, answer)
        } finally {
          if (closed) end()
          else ending = after(IDLE_MS, end)
        }
      }),
    close() {
      closed = true
      end()
    },
  }
}

/** Uses real time, because a thread does, whatever clock drives the rest. */
function after(ms: number, run: () => void): Cancel {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** A source file is loaded with the loader of the tests. */
function openThread(file: URL, options: WorkerOptions): Worker {
  if (!file.pathname.endsWith('.ts')) return new Worker(file, options)
  const found = createRequire(import.meta.url).resolve('tsx/esm/api')
  const loader = pathToFileURL(found.replace(/\.cjs$/, '.mjs')).href
  const code = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(file.href)}) })`
  return new Worker(code, { ...options, eval: true })
}
