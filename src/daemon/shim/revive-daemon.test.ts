// A daemon that cannot be started does not end the shim. The shim stays and tries again.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { dataFolderAt } from '../../config/instance/data-folder.ts'
import { realPath } from '../../config/instance/instance.ts'
import { recordInstance } from '../../config/instance/known-instances.ts'
import { writeLastRun } from '../../config/instance/last-run.ts'
import { createRecordingLog, createTestClock } from '../../testing/index.ts'
import { createReviver } from './revive-daemon.ts'

function opened(spoil: (path: string) => void, program = ['/no/such/program']) {
  const path = mkdtempSync(join(tmpdir(), 'swb-revive-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const data = join(path, 'data')
  spoil(data)
  const clock = createTestClock()
  const log = createRecordingLog()
  const folder = dataFolderAt({ data, env: {} })
  const { revive, problem } = createReviver({ folder, configFile: null, env: {}, program }, { clock, log })
  return { revive, problem, folder, clock, log }
}

it.each([
  ['its log file', (data: string) => mkdirSync(join(data, 'daemon.log'), { recursive: true })],
  ['the folder itself', (data: string) => writeFileSync(data, 'a file')],
])('[S6.ch-revives] where %s cannot be written it says so, and is tried again later', async (_, spoil) => {
  const { revive, problem, clock, log } = opened(spoil)
  revive()
  revive()
  expect(log.lines).toHaveLength(1)
  expect(problem()).toMatch(/^The gateway could not be started: (E[A-Z]+|the data folder \S+ cannot be made)/)
  expect(log.lines[0]).toMatch(/"error":"(E\w+: |[^"]*cannot be made).*no daemon could be started/)
  await clock.advance(3_000)
  revive()
  expect(log.lines).toHaveLength(2)
})

const prints = (words: string) => [process.execPath, '-e', words]
const none = (data: string) => void mkdirSync(data, { recursive: true })

it('[I14.stopped-stays] one that was stopped is not revived until the next up, and the tools can say so', async () => {
  // A start fails before this returns, so every try is seen.
  const { revive, problem, folder, log } = opened((data) =>
    mkdirSync(join(data, 'daemon.log'), { recursive: true }),
  )
  writeLastRun(folder, { host: '127.0.0.1', port: 4747, end: 'stopped' })
  revive()
  expect(log.lines).toEqual([])
  expect(problem()).toMatch(/stopped by its operator.*switchboard up/)
  writeLastRun(folder, { host: '127.0.0.1', port: 4747, end: 'running' })
  expect(problem()).toBeNull()
  revive()
  expect(log.lines).toHaveLength(1)
  expect(problem()).toMatch(/could not be started/)
})

it.each(['running', 'idle'] as const)(
  '[I14.crash-revived] one that left "%s" is revived where it listened',
  async (end) => {
    const said = 'console.log(JSON.stringify({ error: process.argv.slice(1).join(" ") })); process.exit(1)'
    const { revive, problem, folder } = opened(none, [...prints(said), '--'])
    writeLastRun(folder, { host: '127.0.0.9', port: 4999, end })
    revive()
    await vi.waitFor(() => expect(problem()).toContain('--host 127.0.0.9 --port 4999'))
    expect(problem()).toContain(`--data ${folder.path}`)
  },
)

it('[I14.no-start-beside-old] the folder beside the file is not named, so that older data elsewhere is still asked for', async () => {
  const home = realPath(mkdtempSync(join(tmpdir(), 'swb-revive-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const configFile = join(home, 'switchboard.yaml')
  writeFileSync(configFile, '')
  const folder = dataFolderAt({ data: join(home, '.switchboard'), env: {} })
  const said = 'console.log(JSON.stringify({ error: process.argv.slice(1).join(" ") })); process.exit(1)'
  for (const [env, named] of [
    [{ HOME: home }, false],
    [{ HOME: home, SWITCHBOARD_DATA: '/elsewhere' }, true],
  ] as const) {
    recordInstance({ data: folder.path, config: configFile }, env, 0)
    const program = [...prints(said), '--']
    const { revive, problem } = createReviver(
      { folder, configFile, env, program },
      { clock: createTestClock(), log: createRecordingLog() },
    )
    revive()
    await vi.waitFor(() => expect(problem()).toContain(`--config ${configFile}`))
    expect(problem()?.includes('--data')).toBe(named)
  }
})

it('[I14.start-failure-told] why a start failed is the last that it wrote, with its hint, cut to a bound', async () => {
  const line = `{ error: "the port is taken".padEnd(9000, "x"), hint: "stop the other one" }`
  const { revive, problem } = opened(none, prints(`console.error(JSON.stringify(${line})); process.exit(1)`))
  revive()
  await vi.waitFor(() => expect(problem()).toMatch(/could not be started/))
  expect(problem()?.length).toBeLessThan(800)
})

it('[I14.known-files] no daemon is started for a file on which this user never ran init or up, and that is said', async () => {
  const home = mkdtempSync(join(tmpdir(), 'swb-known-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const file = join(home, 'switchboard.yaml')
  writeFileSync(file, 'integrations: []\n')
  const env = { HOME: home }
  const clock = createTestClock()
  const log = createRecordingLog()
  const folder = dataFolderAt({ data: join(home, 'data'), env })
  const options = { folder, configFile: file, env, program: prints('process.exit(3)') }
  const { revive, problem } = createReviver(options, { clock, log })
  revive()
  expect(problem()).toContain(`switchboard up --config ${file}`)
  expect(log.lines).toEqual([])
  recordInstance({ data: folder.path, config: file }, env, 0)
  revive()
  await vi.waitFor(() => expect(log.lines.join()).toContain('the daemon that was started has ended'))
})
