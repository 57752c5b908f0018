// Secrets that channel servers are given, and say again wherever they can: none is in a log line, a list, a page or a file.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { adminTokenOf, callApi } from '../daemon/admin.ts'
import { hostingConfig } from './hosted-seed.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const LEAKY = fileURLToPath(new URL('../../src/platforms/mcp/fixtures/leaky-server.mjs', import.meta.url))
const TOKEN = 'xoxb-PLANTED-0123456789abcdef'
const HEADER = 'PLANTED-header-0123456789abcdef'

/** Answers every request with the header that it came with. */
async function echo(): Promise<string> {
  const door = createServer((request, response) =>
    response
      .writeHead(401, { 'www-authenticate': String(request.headers.authorization) })
      .end(JSON.stringify({ error: `no: ${request.headers.authorization}` })),
  )
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  scene.onEnd(() => void door.close())
  return `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`
}

it('[S12.no-secret-printed] [S3.secret-not-logged] what a channel server was given is shown nowhere, however often it says it', async () => {
  const data = scene.folder()
  const program = (...args: string[]) => ({
    command: process.execPath,
    args: [LEAKY, ...args],
    env: { LEAKY_TOKEN: 'env:LEAKY_TOKEN' },
  })
  const servers = {
    leaky: program(),
    refuses: program('refuse'),
    echo: { url: await echo(), headers: { Authorization: 'env:LEAKY_HEADER' } },
  }
  const config = hostingConfig(data, servers)
  const env = { LEAKY_TOKEN: TOKEN, LEAKY_HEADER: `Bearer ${HEADER}` }
  const daemon = await scene.start({ data, config, env })
  await until('both answers failed', async () => {
    const rows = await askLines<{ state: string }>(data, 'outbox')
    return rows.filter(({ state }) => state === 'failed').length === 2
  })
  await until('the others are down', async () => {
    const { servers: rows } = await askJson<{ servers: { name: string; state: string }[] }>(data, 'status')
    return rows.filter(({ state }) => state === 'down').length === 2
  })

  const seen = [daemon.stderr()]
  for (const command of [
    ['status'],
    ['doctor'],
    ['outbox'],
    ['turns'],
    ['audit', 'export'],
    ['agents', 'list'],
  ])
    for (const form of [[], ['--json']]) {
      const { stdout, stderr } = await switchboard(data, ...command, ...form)
      seen.push(stdout, stderr)
    }
  const token = adminTokenOf(data)
  for (const path of ['/api/status', '/api/doctor', '/api/outbox', '/api/integrations', '/metrics'])
    seen.push((await callApi(daemon, token, 'GET', path)).text)
  await daemon.terminate()
  for (const file of readdirSync(data, { withFileTypes: true }))
    if (file.isFile()) seen.push(readFileSync(join(data, file.name), 'latin1'))
  const all = seen.join('\n')
  // It was said, and masked.
  expect(all).toContain('signed in with [redacted]')
  expect(all).toContain('401: [redacted] is no token')
  expect(all).not.toContain(TOKEN)
  expect(all).not.toContain(HEADER)
})
