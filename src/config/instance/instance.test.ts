// Which file and which folder a command speaks of.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type InstanceRequest, locateInstance } from './instance.ts'
import { isKnownFile, knownInstanceAt, knownInstances, recordInstance } from './known-instances.ts'

let dir = ''
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'swb-instance-')))
  for (const folder of ['home', 'home/work/repo/.git', 'home/work/repo/deep/er', 'outside/in'])
    mkdirSync(join(dir, folder), { recursive: true })
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const place = (path: string) => join(dir, path)
const put = (path: string) => writeFileSync(place(path), 'integrations: []\n')
const located = (cwd: string, more: Partial<InstanceRequest> = {}) =>
  locateInstance({ cwd: place(cwd), ...more, env: { HOME: place('home'), ...more.env } })

describe('the data folder', () => {
  it('[I14.data-order] is --data, else --name, else SWITCHBOARD_DATA, else beside the file, else the home folder', () => {
    const env = { SWITCHBOARD_DATA: place('env') }
    expect(located('home/work/repo')).toMatchObject({
      name: 'default',
      config: null,
      data: { path: place('home/.switchboard'), from: 'home' },
    })
    put('home/work/repo/switchboard.yaml')
    expect(located('home/work/repo')).toMatchObject({
      name: 'repo',
      data: { path: place('home/work/repo/.switchboard'), from: 'beside' },
    })
    expect(located('home/work/repo', { env }).data).toEqual({ path: place('env'), from: 'environment' })
    expect(located('home/work/repo', { env, name: 'two' })).toMatchObject({
      name: 'two',
      data: { path: place('home/.switchboard/instances/two'), from: 'name' },
    })
    expect(located('home/work/repo', { env, name: 'two', data: '../d' }).data).toEqual({
      path: place('home/work/d'),
      from: 'flag',
    })
  })

  it.each(['..', '../x', 'a/b', '', '.x', `${'n'.repeat(65)}`])('refuses the name "%s"', (name) => {
    expect(() => located('home', { name })).toThrow('is not a name')
  })
})

describe('the file', () => {
  it('[I14.file-found] is looked for from the working folder up to the root of the repository', () => {
    put('home/work/switchboard.yaml')
    expect(located('home/work/repo/deep/er').config).toBeNull()
    put('home/work/repo/switchboard.yaml')
    expect(located('home/work/repo/deep/er').config).toEqual({
      file: place('home/work/repo/switchboard.yaml'),
      from: 'found',
    })
    put('home/work/repo/deep/switchboard.yaml')
    expect(located('home/work/repo/deep/er').config?.file).toBe(place('home/work/repo/deep/switchboard.yaml'))
  })

  it('[I14.file-found] is looked for up to the home folder, and outside of it only in the working folder', () => {
    writeFileSync(place('switchboard.yaml'), '')
    put('outside/switchboard.yaml')
    expect(located('home/work').config).toBeNull()
    expect(located('outside/in').config).toBeNull()
    expect(located('outside').config?.file).toBe(place('outside/switchboard.yaml'))
    put('home/switchboard.yaml')
    expect(located('home/work').config?.file).toBe(place('home/switchboard.yaml'))
    mkdirSync(place('home/work/switchboard.yaml'))
    expect(located('home/work').config?.file).toBe(place('home/switchboard.yaml'))
  })

  it('is the one of the flag before that of the environment, with links followed', () => {
    put('outside/switchboard.yaml')
    symlinkSync(place('outside/switchboard.yaml'), place('home/link.yaml'))
    const env = { SWITCHBOARD_CONFIG: place('home/other.yaml') }
    expect(located('home', { env }).config).toEqual({ file: place('home/other.yaml'), from: 'environment' })
    const linked = located('home', { env, config: 'link.yaml' })
    expect(linked.config).toEqual({ file: place('outside/switchboard.yaml'), from: 'flag' })
    expect(linked.data.path).toBe(place('outside/.switchboard'))
  })
})

describe('the record of known files', () => {
  it('[I14.known-files] knows a file by its real path and its owner', () => {
    const env = { HOME: place('home') }
    put('outside/switchboard.yaml')
    const file = place('outside/switchboard.yaml')
    expect(isKnownFile(file, env)).toBe(false)
    recordInstance({ data: place('outside/.switchboard'), config: file }, env, 0)
    symlinkSync(file, place('home/link.yaml'))
    expect(isKnownFile(place('home/link.yaml'), env)).toBe(true)
    expect(isKnownFile(file, { HOME: place('outside') })).toBe(false)
    expect(knownInstanceAt(place('outside/.switchboard'), env)?.config).toBe(file)
    put('outside/in/switchboard.yaml')
    expect(isKnownFile(place('outside/in/switchboard.yaml'), env)).toBe(false)
  })

  it('forgets nothing when the same folder is recorded again, and reads over what is torn', () => {
    const env = { HOME: place('home') }
    for (const data of ['a', 'b', 'a']) recordInstance({ data: place(data), config: null }, env, 0)
    writeFileSync(place('home/.switchboard/known/torn.json'), '{"data":')
    expect(
      knownInstances(env)
        .map(({ data }) => data)
        .sort(),
    ).toEqual([place('a'), place('b')])
  })
})
