// The attachments' shelf: a folder that cannot be filled beyond its quota.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createTestRandom } from '../../testing/test-clock.ts'
import { createFileShelf } from './files.ts'

const dir = mkdtempSync(join(tmpdir(), 'swb-files-'))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

it('[I3.web-attachment-limit] keeps files up to its quota, counted over restarts', async () => {
  const upload = { sender: 'owner', name: 'a.txt', mime: 'text/plain', bytes: Buffer.alloc(400) }
  const first = createFileShelf({ dir, random: createTestRandom(1), quotaBytes: 1_200 })
  await first.save(upload)
  const second = createFileShelf({ dir, random: createTestRandom(2), quotaBytes: 1_200 })
  const both = await Promise.allSettled([second.save(upload), second.save(upload)])
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  await expect(second.save(upload)).rejects.toMatchObject({ code: 'too_large' })
  // What retention removes makes room.
  for (const name of readdirSync(dir)) rmSync(join(dir, name))
  await second.save(upload)
})
