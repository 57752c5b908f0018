// Reads an input of others in a worker, at most twice. A try is counted durably before it begins and forgotten when the input
// was read, so an input that breaks its worker, or takes the daemon down with it, is known after the restart and left.
import { createSerial, type InputTries } from '../../contract/index.ts'
import { type AnswerTask, type TaskWorker, WorkerBrokeError } from './task-worker.ts'

const MOST_TRIES = 2

/** It broke its worker twice, and is not tried again. */
export class UnreadableInputError extends Error {}

export type RunTask = (task: string, input: unknown, answer?: AnswerTask) => Promise<unknown>

/**
 * Does `work` for the input of this name. The first task of it counts as the try; work without a task counts none. Throws
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
  // One input at a time: what two readers begin at once would look like a try that broke.
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
          // A connection that ended or a store that is away says nothing of the input.
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
