// The host's pipe: one write per turn of the event loop, in order. Callers learn when the pipe took their part.
import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { gatherOutput } from './gathered-output.ts'

/** A pipe that takes nothing until it is released. */
function slowPipe() {
  const writes: string[] = []
  let take: (error?: Error) => void = () => undefined
  const pipe = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      writes.push(String(chunk))
      take = done
    },
  })
  return { pipe, writes, take: (error?: Error) => take(error) }
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve))

it('[I23.evidence-together] a window of events is one write, in order with answers, and nobody listens to the pipe for it', async () => {
  const { pipe, writes, take } = slowPipe()
  const output = gatherOutput(pipe)
  let taken = 0
  const written = Array.from({ length: 256 }, (_, n) => output.write(`${n} `).then(() => (taken += 1)))
  output.stream.write('answer ')
  const last = output.write('last')
  await aTurn()
  expect(writes).toEqual([`${Array.from({ length: 256 }, (_, n) => `${n} `).join('')}answer last`])
  expect([taken, pipe.listenerCount('drain'), output.stream.listenerCount('drain')]).toEqual([0, 0, 0])
  take()
  await Promise.all([...written, last])
  expect(taken).toBe(256)
})

it('[S6.ch-not-twice] what a broken pipe did not take is not said to be written, and whoever serves it hears of it', async () => {
  const { pipe, take } = slowPipe()
  const output = gatherOutput(pipe)
  const broken = new Promise<Error>((resolve) => output.stream.once('error', resolve))
  const written = output.write('event')
  await aTurn()
  take(new Error('EPIPE'))
  await expect(written).rejects.toThrow('EPIPE')
  expect((await broken).message).toBe('EPIPE')
})
