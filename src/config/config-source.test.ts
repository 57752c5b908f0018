// Proves hot reload: swapped at once, the old one kept on error, files watched without storms.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Clock, Logger } from '../contract/index.ts'
import { openConfigSource, type ReloadResult } from './config-source.ts'
import { ADAPTERS, FILE } from './fixtures/load-text.ts'
import { watchFiles } from './watch.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

/** A clock that only moves when told to. */
function drivenClock(): Clock & { advance(ms: number): void } {
  let now = 0
  let timers: { at: number; run: () => void }[] = []
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((one) => one !== timer)
      }
    },
    advance(ms) {
      const until = now + ms
      for (;;) {
        const next = timers.filter((one) => one.at <= until).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        timers = timers.filter((one) => one !== next)
        now = next.at
        next.run()
      }
      now = until
    },
  }
}

async function sourceOf(first: string, files: Record<string, string> = {}) {
  const texts: Record<string, string> = { [FILE]: first, ...files }
  const source = await openConfigSource(
    { file: FILE, adapters: ADAPTERS, defaultStore: 'sqlite:/d' },
    {
      clock: drivenClock(),
      log: silent,
      readFile: (path) => {
        const text = texts[path]
        if (text === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' })
        return Buffer.from(text)
      },
    },
  )
  return { source, texts }
}

describe('the configuration in force', () => {
  it('[S3.reload-atomic] a good file is swapped at once and told with the one before', async () => {
    const { source, texts } = await sourceOf('agents: [{ id: a }]')
    const heard: string[] = []
    source.onChange((now, before) => {
      expect(source.current()).toBe(now)
      heard.push(`${before.agents[0]?.id} → ${now.agents[0]?.id}`)
    })
    texts[FILE] = 'agents: [{ id: b }]'
    expect((await source.reload()).outcome).toBe('changed')
    expect(heard).toEqual(['a → b'])
    expect((await source.reload()).outcome).toBe('unchanged')
    expect(heard).toHaveLength(1)
  })

  it('[S3.reload-keeps-old] a bad file keeps the old one in force and says where it is wrong', async () => {
    const { source, texts } = await sourceOf('agents: [{ id: a }]')
    const results: ReloadResult[] = []
    source.onReload((result) => results.push(result))
    const before = source.current()
    for (const bad of ['agnets: []', 'agents: [', '']) {
      texts[FILE] = bad
      const result = await source.reload()
      expect(result.outcome).toBe('invalid')
      expect(source.current()).toBe(before)
    }
    texts[FILE] = 'x:\n agnets: 1'
    const result = await source.reload()
    if (result.outcome !== 'invalid') throw new Error(`the reload was ${result.outcome}`)
    expect(result.text).toContain('switchboard.yaml:1:1 unknown key "x"')
    expect(source.problem()).toBe(result.text)
    delete texts[FILE]
    await source.reload()
    expect(source.problem()).toContain('there is no such file')
    texts[FILE] = 'agents: [{ id: a }]'
    await source.reload()
    expect(source.problem()).toBeNull()
    expect(results.map((result) => result.outcome)).toEqual([
      'invalid',
      'invalid',
      'invalid',
      'invalid',
      'invalid',
      'unchanged',
    ])
  })

  it('a messaging file that breaks denies all and counts as a change', async () => {
    const { source, texts } = await sourceOf('agents: [{ id: a, messaging: { file: m.json } }]', {
      '/etc/sb/m.json': '{"a":["*"]}',
    })
    expect(source.current().agents[0]?.messagingAllow).toEqual(['*'])
    texts['/etc/sb/m.json'] = '{'
    expect((await source.reload()).outcome).toBe('changed')
    expect(source.current().agents[0]?.messagingAllow).toEqual([])
  })

  it('one listener that throws does not keep the others from hearing', async () => {
    const { source, texts } = await sourceOf('agents: [{ id: a }]')
    let heard = false
    source.onChange(() => {
      throw new Error('deaf')
    })
    source.onChange(() => {
      heard = true
    })
    texts[FILE] = 'agents: []'
    await source.reload()
    expect(heard).toBe(true)
  })

  it('a first load that fails throws with exit code 2', async () => {
    await expect(sourceOf('x: 1')).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('opens from a file, or fails with the place', async () => {
    const deps = { clock: drivenClock(), log: silent, readFile: () => Buffer.from('agents: [{ id: a }]') }
    const config = { file: FILE, adapters: ADAPTERS, defaultStore: 'sqlite:/d' }
    expect((await openConfigSource(config, deps)).current().agents[0]?.id).toBe('a')
    const bad = openConfigSource(config, { ...deps, readFile: () => Buffer.from('x: 1') })
    await expect(bad).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('without a file the embedded default is in force', async () => {
    const source = await openConfigSource(
      { file: null, adapters: ADAPTERS, defaultStore: 'sqlite:/d/x.db', watch: true },
      { clock: drivenClock(), log: silent },
    )
    expect(source.current().agents[0]?.id).toBe('demo')
    expect((await source.reload()).outcome).toBe('unchanged')
    source.stop()
    const opened = await openConfigSource(
      { file: null, adapters: ADAPTERS, defaultStore: 'sqlite:/d/x.db' },
      { clock: drivenClock(), log: silent },
    )
    expect(opened.current()).toEqual(source.current())
  })
})

describe('watching', () => {
  function watched() {
    const clock = drivenClock()
    const state: Record<string, string> = { '/etc/a': '1', '/etc/sub/b': '1' }
    const events = new Map<string, () => void>()
    const errors = new Map<string, () => void>()
    let changes = 0
    let stats = 0
    const watch = watchFiles(() => changes++, {
      clock,
      signature: (path) => {
        stats++
        return state[path] ?? 'absent'
      },
      watchFolder: (folder, onEvent, onError) => {
        events.set(folder, onEvent)
        errors.set(folder, onError)
        return { close: () => events.delete(folder) }
      },
    })
    watch.follow(['/etc/a', '/etc/sub/b'])
    return { clock, state, events, errors, watch, changes: () => changes, stats: () => stats }
  }

  it('calls back once, after the file has come to rest', () => {
    const { clock, state, events, changes } = watched()
    state['/etc/a'] = '2'
    events.get('/etc')?.()
    clock.advance(150)
    state['/etc/a'] = '3'
    events.get('/etc')?.()
    clock.advance(60)
    expect(changes()).toBe(0)
    clock.advance(200)
    expect(changes()).toBe(1)
    clock.advance(10_000)
    expect(changes()).toBe(1)
  })

  it('noise in the folder costs a look per pause and no call', () => {
    const { clock, events, changes, stats } = watched()
    const before = stats()
    for (let i = 0; i < 10_000; i++) events.get('/etc')?.()
    clock.advance(1_000)
    expect(changes()).toBe(0)
    expect(stats() - before).toBeLessThanOrEqual(8)
  })

  it('a file that vanishes and comes back is a change; a folder that cannot be watched is tried again', () => {
    const { clock, state, events, errors, changes } = watched()
    delete state['/etc/sub/b']
    events.get('/etc/sub')?.()
    clock.advance(200)
    expect(changes()).toBe(1)
    errors.get('/etc/sub')?.()
    expect(events.has('/etc/sub')).toBe(false)
    state['/etc/sub/b'] = '5'
    clock.advance(5_000)
    clock.advance(200)
    expect(events.has('/etc/sub')).toBe(true)
    expect(changes()).toBe(2)
  })

  it('after stop nothing is heard', () => {
    const { clock, state, events, watch, changes } = watched()
    state['/etc/a'] = '2'
    events.get('/etc')?.()
    watch.stop()
    clock.advance(1_000)
    expect(changes()).toBe(0)
    expect(events.size).toBe(0)
  })
})

describe('on a real folder', () => {
  let dir = ''
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  it('[S3.reload-file] an editor that replaces the file by renaming is noticed', async () => {
    dir = mkdtempSync(join(tmpdir(), 'sb-watch-'))
    const file = join(dir, 'switchboard.yaml')
    writeFileSync(file, 'agents: [{ id: a }]')
    const clock: Clock = {
      now: () => Date.now(),
      after(delayMs, run) {
        const timer = setTimeout(run, delayMs)
        return () => clearTimeout(timer)
      },
    }
    const source = await openConfigSource(
      { file, adapters: ADAPTERS, defaultStore: 'sqlite:/d', watch: true },
      { clock, log: silent, watching: { debounceMs: 20 } },
    )
    const swapped = new Promise<string | undefined>((done) =>
      source.onChange((now) => done(now.agents[0]?.id)),
    )
    writeFileSync(`${file}.tmp`, 'agents: [{ id: b }]')
    renameSync(`${file}.tmp`, file)
    expect(await swapped).toBe('b')
    source.stop()
  })
})
