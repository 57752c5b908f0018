// Every example is on examples/README.md with one command, and that command runs it. test/faults/http-agents.test.ts
// runs those behind plain HTTP, and own-adapters has its own test.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../src/testing/free-port.ts'
import { until } from '../test/faults/until.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const page = readFileSync(join(HERE, 'README.md'), 'utf8')
const commands = new Map(
  [...page.matchAll(/^\| `([^`]+)` \|.*\| `([^`]+)` \|$/gm)].map(([, name = '', command = '']) => [
    name,
    command,
  ]),
)

/** Runs the page's command in its folder, with some words replaced. */
function start(name: string, swaps: Readonly<Record<string, string>>) {
  let command = commands.get(name) ?? ''
  for (const [written, meant] of Object.entries(swaps)) command = command.replaceAll(written, meant)
  const child: ChildProcessWithoutNullStreams = spawn('sh', ['-c', `exec env ${command}`], {
    cwd: join(HERE, dirname(name)),
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { say: (line: string) => child.stdin.write(`${line}\n`), said: () => said, child, ended }
}

it('[I18.examples-main] every example stands on the page, and says itself how it is run', () => {
  const files = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(http|chorus|host)\/[\w-]+\.(mjs|py|sh)$/.test(name))
    .toSorted()
  expect(files.length).toBeGreaterThanOrEqual(7)
  expect([...commands.keys()].toSorted()).toEqual([...files, 'own-adapters/'].toSorted())
  for (const name of files) {
    const [, said = ''] = /Run it with:[\s#/]*(.+)$/m.exec(readFileSync(join(HERE, name), 'utf8')) ?? []
    const [program = ''] = said.split(/ COMMAND| http:/)
    expect(commands.get(name), name).toContain(program.trim())
    expect(program).not.toBe('')
  }
})

it('[I18.examples-main] [S8.library] the Chorus agent answers the adapter, each a program of its own', async () => {
  const [agentPort, adapterPort] = [String(await freePort()), String(await freePort())]
  const agent = start('chorus/weather-agent.mjs', { 8080: agentPort })
  const string = await until('it prints its connection string', () => /http:\S+/.exec(agent.said())?.[0])
  expect(commands.get('chorus/slack-adapter.mjs')?.replace('8080', agentPort)).toContain(string)
  const adapter = start('chorus/slack-adapter.mjs', { 8080: agentPort, 8081: adapterPort })
  adapter.say('hello')
  await until('it is greeted', () => adapter.said().includes('C04ABCDEF: Hello alice! Ask me about'))
  adapter.say('weather in Oslo?')
  await until('it is told', () =>
    adapter.said().includes('C04ABCDEF: The weather in Oslo is 3°C and cloudy.'),
  )
})

it('[I18.examples-main] [S9.library] the host answers what its channel server brings, asks, and ends with Ctrl-C', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const host = start('host/shouting-agent.mjs', { 'node shouting': `WEBHOOK_PORT=${port} node shouting` })
  const post = async (body: string) =>
    (await fetch(url, { method: 'POST', body, headers: { 'x-sender': 'dev' } })).text()
  await until('it hosts', () => host.said().includes('hosting node'))
  const events = await until('its server listens', () => fetch(`${url}events`).catch(() => null))
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
  onTestFinished(() => reader?.cancel().catch(() => undefined))
  let seen = ''
  void (async () => {
    for (;;) {
      const { value, done } = (await reader?.read().catch(() => null)) ?? { done: true }
      if (done) return
      seen += value
    }
  })()
  await post('hello there')
  await until('it shouts', () => seen.includes('Reply to 1: HELLO THERE'))
  await post('delete everything')
  const id = await until('it asks', () => /"yes ([a-km-z]{5})"/.exec(seen)?.[1])
  expect(await post(`Yes ${id.toUpperCase()}`)).toBe('verdict recorded')
  await until('it was allowed', () => seen.includes('Reply to 2: Deleted, as server:webhook said.'))
  host.child.kill('SIGINT')
  expect(await host.ended).toBe(0)
})
