// A worker thread against tasks that never end, fill the memory, exit or throw, and the count of tries around it.
import { existsSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import type { InputTries } from '../../contract/index.ts'
import { createCarefulReader, UnreadableInputError } from './read-carefully.ts'
import { createTaskWorker, type TaskWorker, WorkerBrokeError } from './task-worker.ts'

const workers: TaskWorker[] = []
afterEach(() => {
  for (const worker of workers.splice(0)) worker.close()
})
function open(limits = { ms: 10_000, mb: 512 }) {
  const file = new URL('./fixtures/hostile-worker.mjs', import.meta.url)
  const worker = createTaskWorker({ file, limits })
  workers.push(worker)
  return worker
}

/** Counts as the store does. */
function countedTries() {
  const counts = new Map<string, number>()
  const tries: InputTries = {
    async begin(input) {
      counts.set(input, (counts.get(input) ?? 0) + 1)
      return counts.get(input) ?? 0
    },
    end: async (input) => void counts.delete(input),
  }
  return { counts, tries }
}

describe('a task in a worker', () => {
  it('[I35.b9] one that never ends, leaves or throws breaks, and the next task is done', async () => {
    const worker = open({ ms: 300, mb: 512 })
    await expect(worker.run('spin', null)).rejects.toThrow(WorkerBrokeError)
    await expect(worker.run('leave', null)).rejects.toThrow('the worker ended')
    await expect(worker.run('fail', null)).rejects.toThrow('no such thing')
    expect(await worker.run('echo', 'still here')).toBe('still here')
  })

  it('[I35.b9] one that gets no processor time is no broken input, until six times as long has passed', async (context) => {
    if (!existsSync('/proc/thread-self')) context.skip('needs /proc')
    const worker = open({ ms: 300, mb: 512 })
    expect(await worker.run('sleep', 700)).toBe('slept')
    await expect(worker.run('sleep', 10_000)).rejects.toThrow(WorkerBrokeError)
  })

  it('[I35.b9] one that fills the memory ends its thread alone', async () => {
    const worker = open({ ms: 60_000, mb: 96 })
    await expect(worker.run('fill', null)).rejects.toThrow('it needed more than 96 MB')
    await expect(worker.run('keep', 300)).rejects.toThrow('it needed more than 96 MB')
    expect(await worker.run('keep', 8)).toBe(8)
    expect(await worker.run('echo', 1)).toBe(1)
  })
})

describe('an input that breaks its worker', () => {
  it('[I35.b9] is tried twice, counted before each try, and never again', async () => {
    const { counts, tries } = countedTries()
    const read = createCarefulReader(open(), tries)
    const seen: number[] = []
    const broken = read('mail', (run) => {
      seen.push(counts.get('mail') ?? 0)
      return run('fail', null)
    })
    await expect(broken).rejects.toThrow(UnreadableInputError)
    expect(seen).toEqual([0, 1, 2])
    await expect(read('mail', (run) => run('echo', 1))).rejects.toThrow(UnreadableInputError)
    expect(await read('another', (run) => run('echo', 1))).toBe(1)
    expect(counts.has('another')).toBe(false)
  })

  it('[I35.b9] is known by its count where the daemon died twice meanwhile; once is forgiven', async () => {
    const { counts, tries } = countedTries()
    const dying = { run: () => new Promise<never>(() => undefined) }
    for (const life of [1, 2]) {
      void createCarefulReader(dying, tries)('mail', (run) => run('echo', 1))
      await expect.poll(() => counts.get('mail')).toBe(life)
    }
    const read = createCarefulReader(open(), tries)
    await expect(read('mail', (run) => run('echo', 1))).rejects.toThrow(
      'an earlier try ended with the daemon',
    )
    void createCarefulReader(dying, tries)('once', (run) => run('echo', 1))
    await expect.poll(() => counts.get('once')).toBe(1)
    expect(await read('once', (run) => run('echo', 1))).toBe(1)
    expect(counts.has('once')).toBe(false)
  })

  it('is not to blame for a connection that ended', async () => {
    const { counts, tries } = countedTries()
    const read = createCarefulReader(open(), tries)
    const cut = read('mail', async (run) => {
      await run('echo', 1)
      throw new Error('the connection ended')
    })
    await expect(cut).rejects.toThrow('the connection ended')
    expect(counts.size).toBe(0)
  })
})
