// Tries a third-party module in a process of its own first: imports it, and runs its schemas on the configured options.
// A module that hangs, loops or exits does so there. Only another process can end a loop that never yields.
import { spawn } from 'node:child_process'
import type { WantedOptions } from '../contract/index.ts'

// It writes one line per step to a pipe of its own, because the module may print to the others.
const TRIAL = `
import { readFileSync, writeSync } from 'node:fs'
const say = (text) => { try { writeSync(3, text + '\\n') } catch {} }
const entries = JSON.parse(readFileSync(0, 'utf8'))
try {
  const found = await import(process.argv[1])
  for (const { bank, name, options } of entries) {
    const list = found[bank + 's'] ?? found.default?.[bank + 's']
    const schema = Array.isArray(list) ? list.find((one) => one?.name === name)?.options?.['~standard'] : undefined
    if (schema === undefined) continue
    say('?' + bank + ' ' + JSON.stringify(name))
    // The result is judged in the daemon.
    try { schema.validate(options) } catch {}
  }
  say('+')
} catch (error) {
  say('-' + String(error?.message ?? error).slice(0, 1000).split(/[\\r\\n]+/).join(' '))
}
process.exit()`

/**
 * Resolves when it can be imported and its schemas return. Rejects with the problem, as words after the module's name.
 */
export function tryModule(
  url: string,
  timeoutMs: number,
  entries: readonly WantedOptions[] = [],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', TRIAL, url], {
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    })
    // If it ended before it read them, its end reports that.
    child.stdin?.on('error', () => undefined).end(JSON.stringify(entries))
    let said = ''
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, timeoutMs)
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      if (said.length < MOST_SAID) said += chunk.toString('utf8')
    })
    child.once('error', (problem) => {
      clearTimeout(timer)
      reject(new Error(`could not be tried: ${problem.message}`))
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      const last = said.trimEnd().split('\n').at(-1) ?? ''
      if (last === '+') return resolve()
      const asked = last.startsWith('?') ? oneLine(last.slice(1)) : null
      const doing = asked === null ? 'it was loaded' : `it checked the options of ${asked}`
      if (late) {
        const what = asked === null ? 'was not loaded' : `did not check the options of ${asked}`
        return reject(new Error(`${what} within ${timeoutMs / 1000} s`))
      }
      if (last.startsWith('-'))
        return reject(new Error(`threw while it was loaded: ${oneLine(last.slice(1))}`))
      // 13: a top-level `await` that never ends.
      const why = code === 13 ? 'waits for something that never comes' : `ended the process (code ${code})`
      reject(new Error(`${why} while ${doing}`))
    })
  })
}

/** The limit of its output: one line for each entry of the file. */
const MOST_SAID = 1 << 20

function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}
