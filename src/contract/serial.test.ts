// Serial work, and parallel lines by key.
import { describe, expect, it } from 'vitest'
import { createSerial, createSerialLines } from './serial.ts'

/** Work that ends on demand. */
function work(log: string[], name: string) {
  let end: (failed?: Error) => void = () => undefined
  const run = () => {
    log.push(`${name} begins`)
    return new Promise<string>((resolve, reject) => {
      end = (failed) => (failed ? reject(failed) : resolve(name))
    })
  }
  return { run, end: (failed?: Error) => end(failed) }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a serial', () => {
  it('begins one when the one before has ended, and what fails goes to whoever asked', async () => {
    const log: string[] = []
    const [first, second] = [work(log, 'first'), work(log, 'second')]
    const inOrder = createSerial()
    const failing = inOrder(first.run)
    const going = inOrder(second.run)
    await turn()
    expect(log).toEqual(['first begins'])
    first.end(new Error('no'))
    await expect(failing).rejects.toThrow('no')
    await turn()
    expect(log).toEqual(['first begins', 'second begins'])
    second.end()
    await expect(going).resolves.toBe('second')
    await expect(inOrder(() => 7)).resolves.toBe(7)
  })
})

describe('serial lines', () => {
  it('wait for their own key alone, and take no room when nothing is under way', async () => {
    const log: string[] = []
    const [a, again, b] = [work(log, 'a'), work(log, 'a again'), work(log, 'b')]
    const lines = createSerialLines<string>()
    const first = lines.run('a', a.run)
    const second = lines.run('a', again.run)
    const other = lines.run('b', b.run)
    await turn()
    expect(log).toEqual(['a begins', 'b begins'])
    expect([lines.isBusy('a'), lines.isBusy('c')]).toEqual([true, false])
    a.end(new Error('no'))
    await expect(first).rejects.toThrow('no')
    await turn()
    expect(log).toEqual(['a begins', 'b begins', 'a again begins'])
    let isIdle = false
    const idle = lines.idle().then(() => {
      isIdle = true
    })
    b.end()
    await other
    await turn()
    expect([isIdle, lines.isBusy('b')]).toEqual([false, false])
    again.end()
    await second
    await idle
    expect([isIdle, lines.isBusy('a')]).toEqual([true, false])
  })
})
