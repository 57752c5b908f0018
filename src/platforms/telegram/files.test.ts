// Files fetched from Telegram: a folder with a quota, from which the oldest go first.
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createTestRandom } from '../../testing/test-clock.ts'
import type { TelegramClient } from './client.ts'
import { createFileShelf } from './files.ts'

const dir = mkdtempSync(join(tmpdir(), 'swb-tg-files-'))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Every file is there, with 400 bytes. */
const client = {
  call: async () => ({ file_path: 'documents/a.txt', file_size: 400 }),
  file: async () => Buffer.alloc(400),
} as unknown as TelegramClient

it('[I14.download-quota] keeps so much of what was fetched; the oldest goes first, and what is to be sent stays', async () => {
  const files = createFileShelf(
    client,
    { filesDir: dir, random: createTestRandom(1) },
    { bytes: 1_000, files: 10 },
  )
  const kept = await files.keep({ name: 'report.pdf', mime: 'application/pdf', bytes: Buffer.alloc(5_000) })
  for (const [index, ref] of ['one', 'two', 'three', 'two'].entries()) {
    const { path } = await files.download({ id: ref, kind: 'file', name: `${ref}.txt`, ref })
    utimesSync(path, index + 1, index + 1)
  }
  const names = readdirSync(dir)
  expect(names).toContain(kept)
  // "one" made room for "three"; "two" again took its own place.
  const left = names.filter((name) => name !== kept).map((name) => name.replace(/^[0-9a-f]{24}-/, ''))
  expect(left.sort()).toEqual(['three.txt', 'two.txt'])
  await files.download({ id: 'four', kind: 'file', name: 'four.txt', ref: 'four' })
  expect(readdirSync(dir).some((name) => name.endsWith('-three.txt'))).toBe(false)
  // One that is over the quota by itself is still there for who asked.
  const small = createFileShelf(
    client,
    { filesDir: dir, random: createTestRandom(2) },
    { bytes: 10, files: 1 },
  )
  const { path } = await small.download({ id: 'five', kind: 'file', name: 'five.txt', ref: 'five' })
  expect(readdirSync(dir).filter((name) => name !== kept)).toEqual([path.slice(dir.length + 1)])
})
