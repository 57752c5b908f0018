// Proves the data folder: names, modes, the socket's length limit, the admin token.
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readPrivate } from '../secrets/private-file.ts'
import { adminToken, dataFolderAt, prepareDatabase, prepareDataFolder } from './data-folder.ts'
import { readEnvironment } from './environment.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sb-data-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const mode = (path: string) => statSync(path).mode & 0o777

describe('the data folder', () => {
  it('is --data, else SWITCHBOARD_DATA, else ~/.switchboard', () => {
    expect(dataFolderAt({ env: { HOME: '/home/k' } })).toMatchObject({
      path: '/home/k/.switchboard',
      database: '/home/k/.switchboard/switchboard.db',
      defaultStore: 'sqlite:/home/k/.switchboard/switchboard.db',
      socket: '/home/k/.switchboard/switchboard.sock',
    })
    expect(dataFolderAt({ env: { HOME: '/home/k', SWITCHBOARD_DATA: '/srv/sb' } }).path).toBe('/srv/sb')
    expect(dataFolderAt({ data: '/x/y', env: { SWITCHBOARD_DATA: '/srv/sb' } }).path).toBe('/x/y')
  })

  it('is made for its owner alone, again and again', () => {
    const folder = dataFolderAt({ data: join(dir, 'a', 'b'), env: {} })
    prepareDataFolder(folder)
    prepareDataFolder(folder)
    expect(mode(folder.path)).toBe(0o700)
    expect(mode(folder.attachments)).toBe(0o700)
  })

  it('files in a folder that others can read are still not theirs to read', () => {
    const data = join(dir, 'shared')
    mkdirSync(data)
    chmodSync(data, 0o755)
    const folder = dataFolderAt({ data, env: {} })
    writeFileSync(folder.database, '')
    chmodSync(folder.database, 0o644)
    prepareDataFolder(folder)
    prepareDatabase(folder.defaultStore)
    prepareDatabase(`sqlite:${join(data, 'other.db')}`)
    expect(mode(folder.database)).toBe(0o600)
    expect(mode(folder.lockFile)).toBe(0o600)
    expect(mode(join(data, 'other.db'))).toBe(0o600)
  })

  it('[I14.folder-mode] a folder that a group can write to is refused, also as one inside; one inside of it is our own', () => {
    const data = join(dir, 'shared')
    mkdirSync(data)
    chmodSync(data, 0o770)
    expect(() => prepareDataFolder(dataFolderAt({ data, env: {} }))).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: `the data folder ${data} can be written by its group`,
        hint: expect.stringContaining(`chmod 700 ${data}`),
      }),
    )
    prepareDataFolder(dataFolderAt({ data: join(data, 'own'), env: {} }))
    expect(mode(join(data, 'own'))).toBe(0o700)
    chmodSync(join(data, 'own', 'attachments'), 0o720)
    expect(() => prepareDataFolder(dataFolderAt({ data: join(data, 'own'), env: {} }))).toThrow('its group')
    chmodSync(data, 0o750)
    prepareDataFolder(dataFolderAt({ data, env: {} }))
  })

  it('a folder that everybody can write to is refused', () => {
    const data = join(dir, 'open')
    mkdirSync(data)
    chmodSync(data, 0o777)
    expect(() => prepareDataFolder(dataFolderAt({ data, env: {} }))).toThrow('written by everybody')
  })

  it('[I35.b45-data-folder] the sticky bit changes nothing: others may still put files there before us', () => {
    const data = join(dir, 'sticky')
    mkdirSync(data)
    chmodSync(data, 0o1777)
    expect(() => prepareDataFolder(dataFolderAt({ data, env: {} }))).toThrow('written by everybody')
    prepareDataFolder(dataFolderAt({ data: join(data, 'own'), env: {} }))
  })

  it('[I35.b45-data-folder] an admin token, or a key, that another user made is refused', (context) => {
    if (process.getuid?.() !== 0) context.skip('needs root: a file is given to another user')
    const folder = dataFolderAt({ data: join(dir, 'planted'), env: {} })
    prepareDataFolder(folder)
    writeFileSync(folder.adminTokenFile, `${'a'.repeat(48)}\n`, { mode: 0o600 })
    expect(adminToken(folder, {}, null).token).toBe('a'.repeat(48))
    chownSync(folder.adminTokenFile, 65_534, 65_534)
    expect(() => adminToken(folder, {}, null)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: `${folder.adminTokenFile} belongs to another user (uid 65534)`,
      }),
    )
    expect(() => readPrivate(folder.adminTokenFile)).toThrow('belongs to another user')
  })

  it('[I35.b45-data-folder] a folder or a database of another user is refused, whatever their modes', (context) => {
    if (process.getuid?.() !== 0) context.skip('needs root: a folder is given to another user')
    const data = join(dir, 'theirs')
    mkdirSync(data, { mode: 0o755 })
    chownSync(data, 65_534, 65_534)
    expect(() => prepareDataFolder(dataFolderAt({ data, env: {} }))).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: `the data folder ${data} belongs to another user (uid 65534)`,
        hint: expect.stringContaining(`chown ${process.getuid?.()} ${data}`),
      }),
    )
    const planted = join(dir, 'planted.db')
    writeFileSync(planted, '', { mode: 0o600 })
    prepareDatabase(`sqlite:${planted}`)
    chownSync(planted, 65_534, 65_534)
    expect(() => prepareDatabase(`sqlite:${planted}`)).toThrow(
      `${planted} belongs to another user (uid 65534)`,
    )
  })

  it('a path that is a file, or lies where none can be, is a clear error', () => {
    writeFileSync(join(dir, 'file'), '')
    const nowhere = process.platform === 'linux' ? ['/proc/switchboard', '/proc/switchboard/data'] : []
    for (const data of [join(dir, 'file'), join(dir, 'file', 'x'), ...nowhere]) {
      expect(() => prepareDataFolder(dataFolderAt({ data, env: {} }))).toThrow('cannot be made')
    }
  })

  it('a socket path that is too long moves to a short private folder, the same each time', () => {
    const data = join(dir, 'long'.repeat(40))
    const folder = dataFolderAt({ data, env: { TMPDIR: dir } })
    expect(Buffer.byteLength(folder.socket)).toBeLessThanOrEqual(103)
    expect(dataFolderAt({ data, env: { TMPDIR: dir } }).socket).toBe(folder.socket)
    expect(dataFolderAt({ data: `${data}2`, env: { TMPDIR: dir } }).socket).not.toBe(folder.socket)
    prepareDataFolder(folder)
    expect(mode(dirname(folder.socket))).toBe(0o700)
    const far = dataFolderAt({ data, env: { TMPDIR: join(dir, 'far'.repeat(40)) } })
    expect(far.socket.startsWith('/tmp/swb-')).toBe(true)
  })

  it('a short folder that is open to others is refused', () => {
    const folder = dataFolderAt({ data: join(dir, 'long'.repeat(40)), env: { TMPDIR: dir } })
    mkdirSync(dirname(folder.socket))
    chmodSync(dirname(folder.socket), 0o777)
    expect(() => prepareDataFolder(folder)).toThrow('open to others')
  })
})

describe('the admin token', () => {
  it('is made once for loopback use, 0600, and does not count as configured', () => {
    const folder = dataFolderAt({ data: dir, env: {} })
    const first = adminToken(folder, {}, null)
    expect(first).toEqual({ token: expect.stringMatching(/^[0-9a-f]{48}$/), configured: false })
    expect(adminToken(folder, {}, null)).toEqual(first)
    expect(mode(folder.adminTokenFile)).toBe(0o600)
    chmodSync(folder.adminTokenFile, 0o640)
    expect(() => adminToken(folder, {}, null)).toThrow('can be read by others')
  })

  it('from the environment or the file it counts as configured, and must not be short', () => {
    const folder = dataFolderAt({ data: dir, env: {} })
    const long = 'abcdefghijklmnopqrst'
    expect(adminToken(folder, { SWITCHBOARD_ADMIN_TOKEN: long }, 'something-else-entirely')).toEqual({
      token: long,
      configured: true,
    })
    expect(adminToken(folder, {}, long)).toEqual({ token: long, configured: true })
    expect(() => adminToken(folder, {}, 'short')).toThrow('shorter than 16')
    expect(() => adminToken(folder, {}, 'one that has spaces in it')).toThrow('white space')
  })
})

describe('the environment', () => {
  it('is read in one place', () => {
    expect(
      readEnvironment({ NO_COLOR: '1', SWITCHBOARD_LOG: 'warn', SWITCHBOARD_CONFIG: 'a.yaml' }),
    ).toMatchObject({
      noColor: true,
      logLevel: 'warn',
      config: 'a.yaml',
      data: null,
    })
    expect(readEnvironment({ NO_COLOR: '', SWITCHBOARD_LOG: 'loud' })).toMatchObject({
      noColor: false,
      logLevel: null,
    })
  })
})
