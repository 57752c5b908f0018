// The host's pipe: what is said in one turn of the loop goes to it in one write, in order, whoever says it. A pipe that is
// full is waited for by whoever has to know that it took something, and by nobody else.
import { Writable } from 'node:stream'

export interface GatheredOutput {
  /** For whoever needs a stream; in order with `write`. */
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
    // After everything that was begun in this turn, promises included.
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
