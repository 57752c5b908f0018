// Reads an external input in a worker, at most twice. A try is stored before it begins and removed when the input was
// read. So an input that breaks its worker, or the daemon, is known after the restart and not tried again.
import { createSerial, type InputTries } from '../../contract/index.ts'
import { type AnswerTask, type TaskWorker, WorkerBrokeError } from './task-worker.ts'

const MOST_TRIES = 2

/** It broke its worker twice, and is not tried again. */
export class UnreadableInputError extends Error {}

export type RunTask = (task: string, input: unknown, answer?: AnswerTask) => Promise<unknown>

/**
 * Does `work` for the named input. Its first task counts as the try; work without a task counts as none. Throws
 * `UnreadableInputError` when the input was tried twice, now or before.
 */
export type ReadCarefully = <Result>(
  input: string,
  work: (run: RunTask) => Promise<Result>,
) => Promise<Result>

export function createCarefulReader(
  worker: Pick<TaskWorker, 'run'>,
  tries: InputTries = triesInMemory(),
): ReadCarefully {
  // One input at a time. Otherwise a second reader would take the open try of the first for a failed one.
  const inOrder = createSerial()
  return (input, work) =>
    inOrder(async () => {
      let why = 'an earlier try ended with the daemon'
      for (;;) {
        let isTried = false
        const run: RunTask = async (task, given, answer) => {
          if (!isTried && (await tries.begin(input)) > MOST_TRIES) throw new UnreadableInputError(why)
          isTried = true
          return worker.run(task, given, answer)
        }
        try {
          const result = await work(run)
          if (isTried) await tries.end(input)
          return result
        } catch (thrown) {
          if (thrown instanceof WorkerBrokeError) {
            why = thrown.message
            continue
          }
          // A broken connection or an unavailable store is not the input's fault.
          if (isTried) await tries.end(input).catch(() => undefined)
          throw thrown
        }
      }
    })
}

function triesInMemory(): InputTries {
  const counts = new Map<string, number>()
  return {
    async begin(input) {
      const count = (counts.get(input) ?? 0) + 1
      counts.set(input, count)
      return count
    },
    async end(input) {
      counts.delete(input)
    },
  }
}
