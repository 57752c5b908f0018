// The inside of a worker. It runs the tasks that `createTaskWorker` sends, one at a time.
import { parentPort } from 'node:worker_threads'
import { createSerial } from '../../contract/serial.ts'
import { thisThread } from './thread-time.ts'
import type { FromWorker, ToWorker } from './wire.ts'

/** Asks the main thread a question that only it can answer, such as a DNS lookup. */
export type Ask = (question: unknown) => Promise<unknown>
export type Task<Input = never> = (input: Input, ask: Ask) => unknown

/** Serves these tasks as long as the worker lives. Throws outside a worker. */
export function serveTasks(tasks: Readonly<Record<string, Task>>): void {
  const port = parentPort
  if (port === null) throw new Error('this module runs in a worker')
  const tell = (message: FromWorker) => port.postMessage(message)
  let settle: { answer(value: unknown): void; refuse(thrown: Error): void } | null = null
  const inOrder = createSerial()
  const ask: Ask = (question) =>
    inOrder(
      () =>
        new Promise((answer, refuse) => {
          settle = { answer, refuse }
          tell({ kind: 'ask', question })
        }),
    )
  const run = async (name: string, input: unknown) => {
    const task = tasks[name] as Task<unknown> | undefined
    if (task === undefined) throw new Error(`this worker has no task "${name}"`)
    return task(input, ask)
  }
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'answer') {
      if (message.failed === undefined) settle?.answer(message.value)
      else settle?.refuse(Object.assign(new Error(message.failed.message), message.failed))
      return
    }
    run(message.task, message.input).then(
      (value) => tell({ kind: 'done', value }),
      (thrown: unknown) => tell({ kind: 'failed', message: String(thrown).slice(0, 300) }),
    )
  })
  tell({ kind: 'ready', thread: thisThread() })
}
