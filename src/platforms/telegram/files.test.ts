// Files fetched from Telegram: a folder with a quota, from which the oldest are removed first.
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createTestRandom } from '../../testing/test-clock.ts'
import type { TelegramClient } from './client.ts'
import { createFileStore } from './files.ts'

const dir = mkdtempSync(join(tmpdir(), 'swb-tg-files-'))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Every file exists and has 400 bytes. */
const client = {
  call: async () => ({ file_path: 'documents/a.txt', file_size: 400 }),
  file: async () => Buffer.alloc(400),
} as unknown as TelegramClient

it('[I14.download-quota] keeps so much of what was fetched; the oldest goes first, and what is to be sent stays', async () => {
  const files = createFileStore(
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
  // "one" made room for "three". "two" got its own place again.
  const left = names.filter((name) => name !== kept).map((name) => name.replace(/^[0-9a-f]{24}-/, ''))
  expect(left.sort()).toEqual(['three.txt', 'two.txt'])
  await files.download({ id: 'four', kind: 'file', name: 'four.txt', ref: 'four' })
  expect(readdirSync(dir).some((name) => name.endsWith('-three.txt'))).toBe(false)
  // A file above the quota is still there for its caller.
  const small = createFileStore(
    client,
    { filesDir: dir, random: createTestRandom(2) },
    { bytes: 10, files: 1 },
  )
  const { path } = await small.download({ id: 'five', kind: 'file', name: 'five.txt', ref: 'five' })
  expect(readdirSync(dir).filter((name) => name !== kept)).toEqual([path.slice(dir.length + 1)])
})

it('[I14.erase-files] forgets what was fetched of these attachments, by their platform’s names alone, and nothing else', async () => {
  const files = createFileStore(client, { filesDir: dir, random: createTestRandom(3) })
  const attachment = (ref: string) => ({ id: ref, kind: 'file', name: `${ref}.txt`, ref }) as const
  const kept = await files.keep({ name: 'report.pdf', mime: 'application/pdf', bytes: Buffer.alloc(10) })
  for (const ref of ['one', 'two']) await files.download(attachment(ref))
  // Another name of the same file, from an earlier fetch, and a file that was never fetched.
  await files.download({ ...attachment('one'), name: 'renamed.txt' })
  const { name: _, ...unnamed } = attachment('one')
  expect(await files.forget([unnamed, attachment('never')])).toBe(2)
  expect(await files.forget([unnamed])).toBe(0)
  const left = readdirSync(dir).filter((name) => name !== kept)
  expect(left.map((name) => name.replace(/^[0-9a-f]{24}-/, ''))).toEqual(['two.txt'])
  expect(readdirSync(dir)).toContain(kept)
})
