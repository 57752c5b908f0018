// The host's pipe. All writes of one event-loop turn go to it as one write, in order. Only callers that must know that
// the pipe took their text wait for a full pipe.
import { Writable } from 'node:stream'

export interface GatheredOutput {
  /** The same pipe as a stream, in order with `write`. */
  readonly stream: Writable
  /** Resolves when the pipe took it. */
  write(text: string): Promise<void>
}

export function gatherOutput(to: Writable): GatheredOutput {
  let texts: string[] = []
  let waiting: ((error: Error | null | undefined) => void)[] = []
  const flush = () => {
    const text = texts.join('')
    const told = waiting
    texts = []
    waiting = []
    to.write(text, (error) => {
      for (const tell of told) tell(error)
    })
  }
  const put = (text: string) => {
    // Runs after everything that began in this turn, including promises.
    if (texts.length === 0) process.nextTick(flush)
    texts.push(text)
  }
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      put(String(chunk))
      done()
    },
  })
  to.on('error', (error) => stream.destroy(error))
  return {
    stream,
    write: (text) =>
      new Promise((resolve, reject) => {
        waiting.push((error) => (error ? reject(error) : resolve()))
        put(text)
      }),
  }
}
