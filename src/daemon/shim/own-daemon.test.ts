// A shim and the daemon of another file: the shim stays, sends nothing, and names both paths.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { LinkFailure } from '../../attach/frame-link.ts'
import { writeDaemonNote } from '../../config/instance/daemon-note.ts'
import { dataFolderAt } from '../../config/instance/data-folder.ts'
import { otherDaemon, ownLink } from './own-daemon.ts'

function folderOf(config: string | null | undefined) {
  const data = mkdtempSync(join(tmpdir(), 'swb-own-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  mkdirSync(data, { recursive: true })
  const folder = dataFolderAt({ data, env: {} })
  const note = { pid: 1, url: 'http://127.0.0.1:1', startedAt: 0, version: '0' }
  writeDaemonNote(folder, config === undefined ? note : { ...note, config })
  return folder
}

it('[I14.shim-mismatch] names both files, unless none was given or the daemon says nothing', () => {
  expect(otherDaemon(folderOf('/a.yaml'), '/b.yaml')).toMatch(
    /runs \/a\.yaml, and this session is for \/b\.yaml/,
  )
  expect(otherDaemon(folderOf(null), '/b.yaml')).toContain('runs the embedded default')
  expect(otherDaemon(folderOf('/a.yaml'), '/a.yaml')).toBeNull()
  expect(otherDaemon(folderOf('/a.yaml'), null)).toBeNull()
  expect(otherDaemon(folderOf(undefined), '/b.yaml')).toBeNull()
})

it('[I14.shim-mismatch] opens no link to a daemon of another file, and one as soon as it is its own', async () => {
  let foreign: string | null = 'another'
  const opened: string[] = []
  const link = { send: () => undefined, end: () => undefined, destroy: () => undefined }
  const open = ownLink(
    () => {
      opened.push('opened')
      return link
    },
    () => foreign,
  )
  const told: (LinkFailure | 'closed')[] = []
  const events = {
    ...{ opened: () => undefined, line: () => undefined },
    failed: (why: LinkFailure) => void told.push(why),
    closed: () => void told.push('closed'),
  }
  open(events)
  await Promise.resolve()
  expect([told, opened]).toEqual([[{ kind: 'refused', problem: 'another' }, 'closed'], []])
  foreign = null
  open(events)
  expect(opened).toEqual(['opened'])
})
