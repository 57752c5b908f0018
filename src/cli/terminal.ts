// The terminal as a value: what a command may read from and write to. Tests hand in their own.

export interface Terminal {
  /** Resolves when the stream wants more, so that a long list never piles up in memory. */
  out(text: string): void | Promise<void>
  err(text: string): void
  /** All of standard input as text. */
  readInput(): Promise<string>
  /** One answered question; `hidden` keeps the answer off the screen. Null when the input ended. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string | null>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly inputIsTty: boolean
  readonly outputIsTty: boolean
  readonly errorIsTty: boolean
  /** Null when no terminal is listening: nothing is cut. */
  readonly columns: number | null
  now(): number
}

/** The terminal of this process. A reader that goes away (`| head`) ends it quietly. */
export function createProcessTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (problem: NodeJS.ErrnoException) => {
      process.exit(problem.code === 'EPIPE' ? 0 : 1)
    })
  }
  return {
    out: (text) => {
      if (process.stdout.write(text)) return
      return new Promise((resolve) => process.stdout.once('drain', resolve))
    },
    err: (text) => {
      process.stderr.write(text)
    },
    readInput: readAll,
    ask: askOnce,
    env: process.env,
    inputIsTty: process.stdin.isTTY === true,
    outputIsTty: process.stdout.isTTY === true,
    errorIsTty: process.stderr.isTTY === true,
    columns: process.stdout.isTTY === true ? process.stdout.columns || 80 : null,
    now: Date.now,
  }
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function askOnce(
  question: string,
  options: { readonly hidden?: boolean } = {},
): Promise<string | null> {
  const { createInterface } = await import('node:readline')
  const { Writable } = await import('node:stream')
  // Questions go to standard error, so that `switchboard init > log` still asks; a hidden answer is echoed nowhere.
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: options.hidden === true ? silent : process.stderr,
    terminal: process.stdin.isTTY === true,
    prompt: '',
  })
  return new Promise((resolve) => {
    let answer: string | null = null
    lines.once('line', (line) => {
      answer = line
      lines.close()
    })
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => {
      if (options.hidden === true || answer === null) process.stderr.write('\n')
      resolve(answer)
    })
  })
}
