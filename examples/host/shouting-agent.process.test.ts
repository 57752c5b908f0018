// The example, hosting the two-way webhook of the channels reference: a message around, an approval back.
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { until } from '../../test/faults/until.ts'
import { shoutingAgent } from './shouting-agent.ts'

const server = fileURLToPath(new URL('../../src/platforms/mcp/fixtures/two-way-webhook.mjs', import.meta.url))

it('[S9.library] the example hosts a channel server, answers and asks', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const host = await shoutingAgent({
    command: process.execPath,
    args: [server],
    env: { WEBHOOK_PORT: String(port) },
  })
  onTestFinished(() => host.stop())
  await until('it is registered', () => host.list().count === 1)
  const post = async (body: string) =>
    (await fetch(url, { method: 'POST', body, headers: { 'x-sender': 'dev' } })).text()
  const events = await until('it listens', () => fetch(`${url}events`).catch(() => null))
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
  onTestFinished(() => reader?.cancel())
  let seen = ''
  void (async () => {
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true }
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
})
