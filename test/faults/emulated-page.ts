// Follows a platform's guide page from zero as a new user would. It takes the configuration and the commands from the
// text of the page. The emulator is a process of the built command line.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { BINARY, bareEnvironment } from './daemon.ts'
import type { createScene } from './scene.ts'
import { until } from './until.ts'

export interface EmulatedPage {
  /** The first block of this kind behind "From zero" that begins with this text. */
  block(kind: string, begins: string): string
  /** The variables that its export lines set. */
  environment(): Readonly<Record<string, string>>
  /** Starts the emulator on free ports and returns what it printed. */
  emulate(data: string, printed: RegExp): Promise<{ readonly url: string; readonly said: string }>
  readonly text: string
}

export function openPage(platform: string, scene: ReturnType<typeof createScene>): EmulatedPage {
  const text = readFileSync(new URL(`../../docs/platforms/${platform}.md`, import.meta.url), 'utf8')
  const block: EmulatedPage['block'] = (kind, begins) => {
    const section = text.slice(text.indexOf('## From zero'))
    const [, found = ''] = new RegExp(`\`\`\`${kind}\\n(${begins}[\\s\\S]*?)\`\`\``).exec(section) ?? []
    expect(found, `the page has no ${kind} with ${begins}`).not.toBe('')
    return found
  }
  return {
    text,
    block,
    environment: () =>
      Object.fromEntries(
        [...block('sh', 'export').matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [
          name,
          value,
        ]),
      ),
    async emulate(data, printed) {
      const child = spawn(process.execPath, [BINARY, 'emulate', platform, '--port', '0'], {
        cwd: data,
        env: bareEnvironment(),
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const ended = new Promise((resolve) => child.once('close', resolve))
      scene.onEnd(async () => {
        child.kill('SIGTERM')
        await ended
      })
      let said = ''
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk
      })
      await until('the emulator', () => printed.test(said))
      return { url: / is emulated at (\S+)/.exec(said)?.[1] ?? '', said }
    },
  }
}
