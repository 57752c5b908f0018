// A module of others is imported first by a process of its own: one that hangs, loops or ends the process does so there.
// Only a trial like this can end a loop that never yields.
import { spawn } from 'node:child_process'

// It speaks on a pipe of its own: what the module prints while it is loaded is nobody's answer.
const TRIAL = `
import { writeSync } from 'node:fs'
const say = (text) => { try { writeSync(3, text) } catch {} }
try {
  await import(process.argv[1])
  say('+')
} catch (error) {
  say('-' + String(error?.message ?? error).slice(0, 1000))
}
process.exit()`

/** Resolves when it can be imported. Rejects with what went wrong, in words that follow the module's name. */
export function tryModule(url: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', TRIAL, url], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    let said = ''
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, timeoutMs)
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      if (said.length < 8_192) said += chunk.toString('utf8')
    })
    child.once('error', (problem) => {
      clearTimeout(timer)
      reject(new Error(`could not be tried: ${problem.message}`))
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      if (late) return reject(new Error(`was not loaded within ${timeoutMs / 1000} s`))
      if (said.startsWith('+')) return resolve()
      if (said.startsWith('-'))
        return reject(new Error(`threw while it was loaded: ${oneLine(said.slice(1))}`))
      // 13: an `await` at its top level that nothing will ever end.
      const why = code === 13 ? 'waits for something that never comes' : `ended the process (code ${code})`
      reject(new Error(`${why} while it was loaded`))
    })
  })
}

function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}
