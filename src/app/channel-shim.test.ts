// The shim's own end, in one process: a host that goes away while no daemon has answered yet.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { dataFolderAt } from '../config/data-folder.ts'
import { runChannelShim } from './channel-shim.ts'

afterEach(() => vi.useRealTimers())

it('[S6.ch-clean-end] the end of input ends the wait for a daemon, also behind what was said before', async () => {
  // No wait ends by itself here.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const data = mkdtempSync(join(tmpdir(), 'swb-shim-'))
  const input = new PassThrough()
  const ended = runChannelShim({
    agent: 'kate',
    dialect: 'claude',
    folder: dataFolderAt({ data, env: {} }),
    configFile: null,
    env: {},
    program: [],
    input,
    output: new PassThrough(),
    logLevel: 'fatal',
    remote: null,
    revive: false,
    onSignal: () => () => undefined,
  })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  input.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  expect(await ended).toBe(0)
  rmSync(data, { recursive: true, force: true })
})
