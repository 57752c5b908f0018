// A real terminal for a program under test: a pty by script(1), what it shows, and the keys that a person presses.
import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import type { Scene } from './scene.ts'
import { until } from './until.ts'

export interface TerminalScreen {
  /** Everything that was ever written to it. */
  shown(): string
  /** Waits for a text after the one that was waited for before. */
  sees(text: string | RegExp): Promise<void>
  press(keys: string): void
  readonly ended: Promise<number | null>
}

export const KEYS = { enter: '\r', down: '\x1b[B', space: ' ', ctrlC: '\x03' } as const

/** `command` is a line of sh. */
export function openTerminal(
  scene: Scene,
  command: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): TerminalScreen {
  const line = `stty cols 120 rows 60; exec ${command}`
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    cwd: options.cwd,
    env: { ...options.env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  scene.onEnd(() => void child.kill('SIGKILL'))
  let all = ''
  let read = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    all += text
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const plain = () => stripVTControlCharacters(all)
  return {
    shown: plain,
    async sees(text) {
      const found = await until(`the terminal shows ${text}`, () => {
        const rest = plain().slice(read)
        const at = typeof text === 'string' ? rest.indexOf(text) : rest.search(text)
        return at < 0 ? null : { at }
      }).catch((thrown: unknown) => {
        throw new Error(`${String(thrown)}\n${plain()}`)
      })
      read += found.at + 1
    },
    press: (keys) => void child.stdin.write(keys),
    ended,
  }
}
