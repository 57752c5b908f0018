// Stopping a daemon that is not ready: told, waited for with an end, and never called absent while it holds its folder.
import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { type HolderNote, writeDaemonNote } from '../config/instance/daemon-note.ts'
import { dataFolderAt, prepareDataFolder } from '../config/instance/data-folder.ts'
import { lockDataFolder } from '../daemon/data-folder-lock.ts'
import { endUnready, type UnreadyDeps } from './end-unready.ts'
import { command, freshFolder } from './fixtures/fake-daemon.ts'

const { path, data } = freshFolder()

const SILENT: HolderNote = { state: 'silent', note: null }
const startingAs = (pid: number): HolderNote => ({ state: 'starting', note: { pid } })
const READY: HolderNote = {
  state: 'ready',
  note: { pid: 7, url: 'http://127.0.0.1:1', startedAt: 0, version: '1' },
}

/** A folder that is held for `forMs` of a clock that runs by pauses. */
function held(holder: HolderNote, forMs: number, over: Partial<UnreadyDeps> = {}) {
  const signals: [number, string | number][] = []
  const told: string[] = []
  let now = 0
  const deps: UnreadyDeps = {
    data: '/data',
    logFile: '/data/daemon.log',
    holder: () => (now < forMs ? holder : null),
    demandMeant: () => undefined,
    signal: (pid, name) => {
      if (name !== 0) signals.push([pid, name])
      return now < forMs
    },
    now: () => now,
    pause: async () => {
      now += 50
    },
    tell: (text) => void told.push(text),
    ...over,
  }
  return { ended: endUnready(deps), signals, told, waited: () => now }
}

it('[I18.stop] one that starts is told once to stop, and waited for', async () => {
  const { ended, signals, told } = held(startingAs(7), 9_000)
  expect(await ended).toEqual({ pid: 7 })
  expect(signals).toEqual([[7, 'SIGTERM']])
  expect(told).toEqual(['the daemon (process 7) is not ready yet: it is told to stop; waiting at most 45 s'])
})

it('[I18.stop] a note that is another’s a moment later is not believed: nobody else is told to stop', async () => {
  let looks = 0
  const holder = () => {
    looks += 1
    if (looks === 1) return startingAs(424_242)
    return looks < 9 ? startingAs(7) : null
  }
  const { ended, signals } = held(startingAs(7), 9_000, { holder })
  expect(await ended).toEqual({ pid: 7 })
  expect(signals).toEqual([[7, 'SIGTERM']])
})

it('[I18.stop] one that never gets ready ends the wait with its pid and a remedy', async () => {
  const { ended, waited } = held(startingAs(7), Number.POSITIVE_INFINITY)
  await expect(ended).rejects.toMatchObject({
    code: 'execution_failed',
    message: 'the daemon (process 7) is still starting, and has not stopped',
    hint: expect.stringContaining('kill -9 7'),
  })
  expect(waited()).toBe(45_000)
})

it('[I18.stop] of one that is ready, or has become so and drains, nobody says that it is starting', async () => {
  const deaf = held(READY, Number.POSITIVE_INFINITY)
  const text = 'the daemon (process 7) was told to stop, and has not ended within 45 s'
  await expect(deaf.ended).rejects.toMatchObject({
    ...{ code: 'execution_failed', message: text },
    hint: expect.stringContaining('kill -9 7'),
  })
  expect([deaf.signals, deaf.told]).toEqual([
    [[7, 'SIGTERM']],
    ['the daemon (process 7) is told to stop; waiting at most 45 s'],
  ])
  let looks = 0
  const holder = () => (looks++ < 9 ? startingAs(7) : SILENT)
  const drains = held(SILENT, Number.POSITIVE_INFINITY, { holder })
  await expect(drains.ended).rejects.toMatchObject({ message: text })
})

it('[I18.stop] one that drains already is waited for and not told again; what goes on holding is told', async () => {
  const drains = held(SILENT, 3_000)
  expect([await drains.ended, drains.signals, drains.told.length]).toEqual([null, [], 1])
  await expect(held(SILENT, Number.POSITIVE_INFINITY).ended).rejects.toMatchObject({
    code: 'execution_failed',
    message: '/data is still held, and by no daemon that answers',
  })
})

it('[I18.stop] nobody is told to stop whose file is another', async () => {
  const demandMeant = () => {
    throw new Error('it runs another file')
  }
  const { ended, signals } = held(startingAs(7), 9_000, { demandMeant })
  await expect(ended).rejects.toThrow('it runs another file')
  expect(signals).toEqual([])
})

it('[I18.stop] by command: what holds the folder is ended, and not what an earlier daemon said of itself', async () => {
  const folder = dataFolderAt({ data: path(), env: {} })
  prepareDataFolder(folder)
  // Killed: it left its note behind, and its pid is another process by now.
  writeDaemonNote(folder, { pid: process.pid, url: 'http://127.0.0.1:1', startedAt: 0, version: '1' })
  const starting = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })
  onTestFinished(() => void starting.kill('SIGKILL'))
  const lock = lockDataFolder(folder, { pid: starting.pid as number, config: '/a.yaml' })
  starting.once('exit', () => lock?.release())

  const stopped = await command(['stop', ...data()])
  expect(stopped).toMatchObject({
    code: 0,
    out: expect.stringContaining(`ended (process ${starting.pid})`),
  })
  expect(stopped.err).toContain('is not ready yet')
  expect((await command(['stop', '--json', ...data()])).lines).toMatchObject([{ stopped: false, pid: null }])
})
