// The terminal as a value: what a command may read from and write to. Tests hand in their own.
import type { Prompts } from '../setup/asker.ts'
import { type Ask, createQuestions } from './questions.ts'

export interface Terminal {
  /** Resolves when the stream wants more, so that a long list never piles up in memory. */
  out(text: string): void | Promise<void>
  err(text: string): void
  /** All of standard input as text. */
  readInput(): Promise<string>
  /** One answered question; `hidden` keeps the answer off the screen. Null when the input ended. */
  readonly ask: Ask
  /** The questions of the wizard, loaded when something is asked. */
  prompts(): Promise<Prompts>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The working folder, in which `switchboard.yaml` is looked for. */
  cwd(): string
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
    // Questions go to standard error, so that `switchboard init > log` still asks.
    ask: createQuestions({
      input: process.stdin,
      output: process.stderr,
      isTty: process.stdin.isTTY === true,
    }),
    prompts: async () => (await import('./wizard/clack-prompts.ts')).createClackPrompts(),
    env: process.env,
    cwd: () => process.cwd(),
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
