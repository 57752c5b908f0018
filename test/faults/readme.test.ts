// The README's own commands, taken from its text and run against the embedded default with the real curl.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createScene, run } from './scene.ts'
import { until } from './until.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const scene = createScene()

/** Every curl line of the README, in its order. */
const curls = [...README.matchAll(/^curl .*$/gm)].map(([line]) => line)

describe('the README', () => {
  it('[I2.readme-curl] its curl lines get an answer that shows on the event stream', async (context) => {
    if ((await run('sh', ['-c', 'command -v curl'], '.')).code !== 0)
      return context.skip('curl is not installed')
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const here = (line: string) => line.replaceAll('http://127.0.0.1:4747', daemon.url)
    const [listen = '', say = '', deploy = '', allow = ''] = curls.map(here)
    const stream = spawn('sh', ['-c', `exec ${listen}`], { stdio: ['ignore', 'pipe', 'ignore'] })
    scene.onEnd(() => void stream.kill('SIGTERM'))
    let heard = ''
    stream.stdout.setEncoding('utf8').on('data', (text: string) => {
      heard += text
    })
    await until('the stream is open', () => heard.includes(': connected'))

    const said = await run('sh', ['-c', say], data)
    expect(JSON.parse(said.stdout)).toMatchObject({ ok: true, state: 'queued' })
    await until('the answer is heard', () => heard.includes('data: You said: hello'))

    await run('sh', ['-c', deploy], data)
    const id = await until('the question is heard', () => /Reply "yes ([a-km-z]{5})"/.exec(heard)?.[1])
    const allowed = await run('sh', ['-c', allow.replace('abcde', id ?? '')], data)
    expect(allowed.stdout).toBe('verdict recorded')
    await until('the deploy is heard', () => heard.includes('data: 🚀 Deployed'))
  })
})
