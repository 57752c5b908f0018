// File modes are judged by who else may read or write, and only our own files are fixed.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dataFolderAt } from '../config/index.ts'
import { type FileRole, fileFindings, lookAtFiles, mendFiles } from './file-modes.ts'

describe('[I14.doctor-security] modes', () => {
  it.each<[FileRole, number, string | null, string | null]>([
    ['folder', 0o700, null, null],
    ['folder', 0o755, 'medium', 'chmod 700 /x'],
    ['folder', 0o770, 'high', 'chmod 700 /x'],
    ['folder', 0o1777, 'high', 'chmod 700 /x'],
    ['key', 0o600, null, null],
    ['key', 0o640, 'high', 'chmod 600 /x'],
    ['kept', 0o600, null, null],
    ['kept', 0o644, 'medium', 'chmod 600 /x'],
    ['kept', 0o666, 'high', 'chmod 600 /x'],
    ['secret', 0o400, null, null],
    ['secret', 0o444, 'medium', null],
    ['secret', 0o620, 'high', null],
    ['config', 0o644, null, null],
    ['config', 0o664, 'medium', null],
    ['config', 0o666, 'high', null],
    ['config folder', 0o1777, null, null],
    ['config folder', 0o777, 'high', null],
  ])('%s with %i: %s', (role, mode, severity, fix) => {
    const [found] = fileFindings([{ path: '/x', role, mode, foreign: false }])
    expect(found?.severity ?? null).toBe(severity)
    expect(found?.fix ?? null).toBe(fix)
    if (severity !== null) expect(found?.key).toMatch(/^chmod (700|600|go-w) \/x$/)
  })

  it('[I35.b45-data-folder] a key of another user is known to that user, and is not ours to mend', () => {
    const key = { path: '/x', mode: 0o600, foreign: true } as const
    expect(fileFindings([{ ...key, role: 'key' }])).toEqual([
      {
        severity: 'high',
        what: expect.stringContaining('belongs to another user'),
        key: `chown ${process.getuid?.()} /x`,
      },
    ])
    expect(fileFindings([{ ...key, role: 'config' }])).toEqual([])
  })

  it('names the group only where others are kept out', () => {
    const whatOf = (mode: number) =>
      fileFindings([{ path: '/x', role: 'folder', mode, foreign: false }])[0]?.what
    expect(whatOf(0o775)).toBe('its group may write in the data folder /x (mode 775)')
    expect(whatOf(0o777)).toBe('others may write in the data folder /x (mode 777)')
    expect(whatOf(0o755)).toBe('others may look into the data folder /x (mode 755)')
  })
})

describe('[I14.doctor-fix] mending', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'swb-modes-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  function write(path: string, mode: number): string {
    writeFileSync(path, 'x')
    chmodSync(path, mode)
    return path
  }

  it('closes our own files and folders, says so, and leaves the operator’s alone', () => {
    const folder = dataFolderAt({ data: join(root, 'data'), env: {} })
    mkdirSync(folder.path)
    chmodSync(folder.path, 0o755)
    write(folder.keyFile, 0o644)
    write(folder.database, 0o644)
    write(join(root, 'foreign'), 0o644)
    // A link, or a file with a second name elsewhere, may not be ours.
    const elsewhere = write(join(root, 'elsewhere'), 0o644)
    symlinkSync(elsewhere, folder.ledgerKeyFile)
    linkSync(join(root, 'foreign'), folder.adminTokenFile)
    const config = write(join(root, 'switchboard.yaml'), 0o666)
    const secret = write(join(root, 'secret'), 0o644)
    const guarded = { config: [config], secrets: [secret], database: folder.database }

    const told = mendFiles(lookAtFiles(folder, guarded).files)
    expect(told.map(({ key, fixed }) => [key, fixed])).toEqual([
      [`chmod 700 ${folder.path}`, true],
      [`chmod 600 ${folder.keyFile}`, true],
      [`chmod 600 ${folder.ledgerKeyFile}`, false],
      [`chmod 600 ${folder.adminTokenFile}`, false],
      [`chmod 600 ${folder.database}`, true],
      [`chmod 600 ${secret}`, undefined],
      [`chmod go-w ${config}`, undefined],
    ])
    expect([folder.path, folder.keyFile, folder.database].map(modeOf)).toEqual(['700', '600', '600'])
    const foreign = [join(root, 'foreign'), elsewhere, config, secret]
    expect(foreign.map(modeOf)).toEqual(['644', '644', '666', '644'])
    const after = fileFindings(lookAtFiles(folder, guarded).files).map(({ key }) => key)
    expect(after).not.toContain(`chmod 700 ${folder.path}`)
  })

  it('says what it could not look at', () => {
    const folder = dataFolderAt({ data: join(root, 'data'), env: {} })
    const below = join(write(join(root, 'file'), 0o600), 'below')
    const { files, unseen } = lookAtFiles(folder, { config: [], secrets: [`${below}\0`], database: null })
    expect(files).toEqual([])
    expect(unseen).toEqual([expect.stringContaining('the mode of')])
  })
})
