// A daemon that cannot be started is no end of whoever asked for it: the shim lives on, and asks again.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { dataFolderAt } from '../config/data-folder.ts'
import { createRecordingLog, createTestClock } from '../testing/index.ts'
import { createReviver } from './revive-daemon.ts'

function opened(spoil: (path: string) => void) {
  const path = mkdtempSync(join(tmpdir(), 'swb-revive-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const data = join(path, 'data')
  spoil(data)
  const clock = createTestClock()
  const log = createRecordingLog()
  const folder = dataFolderAt({ data, env: {} })
  const program = ['/no/such/program']
  const revive = createReviver({ folder, configFile: null, env: {}, program }, { clock, log })
  return { revive, clock, log }
}

it.each([
  ['its log file', (data: string) => mkdirSync(join(data, 'daemon.log'), { recursive: true })],
  ['the folder itself', (data: string) => writeFileSync(data, 'a file')],
])('[S6.ch-revives] where %s cannot be written it says so, and is tried again later', async (_, spoil) => {
  const { revive, clock, log } = opened(spoil)
  revive()
  revive()
  expect(log.lines).toHaveLength(1)
  expect(log.lines[0]).toMatch(/"error":"E\w+: .*no daemon could be started/)
  await clock.advance(3_000)
  revive()
  expect(log.lines).toHaveLength(2)
})
