// Questions at a terminal, one after the other. Several lines may be pasted at once: the later ones answer the next questions.
import type { Readable, Writable } from 'node:stream'

export type Ask = (question: string, options?: { readonly hidden?: boolean }) => Promise<string | null>

export function createQuestions(streams: {
  readonly input: Readable
  readonly output: Writable
  readonly isTty: boolean
}): Ask {
  const { input, output, isTty } = streams
  const ahead: string[] = []
  /** The incomplete line after the last complete one. */
  let begun = ''

  return async (question, { hidden = false } = {}) => {
    const [{ createInterface }, { Writable: Sink }] = await Promise.all([
      import('node:readline'),
      import('node:stream'),
    ])
    const known = ahead.shift()
    if (known !== undefined) {
      output.write(`${question}${hidden ? '' : known}\n`)
      return known
    }
    // A hidden answer is not echoed.
    const silent = new Sink({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({ input, output: hidden ? silent : output, terminal: isTty, prompt: '' })
    // Only now: from here on the terminal itself echoes nothing, also for a person who types quickly.
    output.write(question)
    return new Promise((resolve) => {
      let answer: string | null = null
      lines.on('line', (line) => {
        if (answer !== null) return void ahead.push(line)
        answer = line
        // Not at once: the other pasted lines arrive in the same tick.
        setImmediate(() => {
          begun = lines.line
          lines.close()
        })
      })
      lines.once('SIGINT', () => lines.close())
      lines.once('close', () => {
        if (hidden || answer === null) output.write('\n')
        resolve(answer)
      })
      if (begun !== '') lines.write(begun)
      begun = ''
    })
  }
}
