// The holder of a folder can be determined without taking the lock.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { isFolderLocked, takeFolderLock } from './folder-lock.ts'

it('[I18.stop] tells whether it is held, and holds it for nobody by that', () => {
  const folder = mkdtempSync(join(tmpdir(), 'swb-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'switchboard.lock')
  takeFolderLock(file)?.release()
  expect(isFolderLocked(file)).toBe(false)
  const lock = takeFolderLock(file)
  expect(lock).not.toBeNull()
  expect(isFolderLocked(file)).toBe(true)
  expect(takeFolderLock(file)).toBeNull()
  lock?.release()
  expect(isFolderLocked(file)).toBe(false)
  const again = takeFolderLock(file)
  expect(again).not.toBeNull()
  again?.release()
})
