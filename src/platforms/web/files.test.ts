// Stored attachments: a folder that cannot grow beyond its quota.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createTestRandom } from '../../testing/test-clock.ts'
import { createFileStore } from './files.ts'

const dir = mkdtempSync(join(tmpdir(), 'swb-files-'))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const LIMITS = { senderBytes: 1_000, senderFiles: 3, totalBytes: 2_000, totalFiles: 4 }

it('[I14.upload-quota] keeps so much of a sender that no message names, over restarts, and lets it go after an hour', async () => {
  let now = 1_000_000
  const open = (seed: number) =>
    createFileStore({ dir, random: createTestRandom(seed), now: () => now, looseLimits: LIMITS })
  const upload = (sender: string, size: number) =>
    ({ sender, name: 'a.taken', mime: null, bytes: Buffer.alloc(size), loose: true }) as const
  const one = open(1)
  const first = await one.save(upload('anna', 600))
  const full = { code: 'rate_limited', message: 'too many of your files wait for a message' }
  await expect(one.save(upload('anna', 600))).rejects.toMatchObject(full)
  await one.save(upload('bert', 600))
  // A file that an agent sends is no upload.
  await one.save({ sender: '', name: 'b', mime: null, bytes: Buffer.alloc(5_000) })
  const two = open(2)
  const both = await Promise.allSettled([two.save(upload('anna', 300)), two.save(upload('anna', 300))])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  // A message takes the file, which makes room again. A refused message gives it back.
  expect(await two.take([first.id])).toEqual([first.id])
  expect(await two.take([first.id])).toEqual([])
  const next = await two.save(upload('anna', 600))
  await two.giveBack(await two.take([next.id]))
  await expect(two.save(upload('anna', 600))).rejects.toMatchObject(full)
  now += 3_600_000
  expect(await two.own('anna', next.id)).toBeNull()
  expect(await two.own('anna', first.id)).toMatchObject({ size: 600 })
  await two.save(upload('anna', 600))
  expect([await two.has(next.id), await two.has(first.id)]).toEqual([false, true])
  expect(await two.forget({ sender: 'anna', attachments: [] })).toBe(2)
  expect(readdirSync(dir).some((name) => name.startsWith(first.id))).toBe(false)
})

it('[I14.upload-share] whoever comes has a share: those with more than theirs give way, the oldest first, and nobody is cut below it', async () => {
  let now = 1_000_000
  const limits = { senderBytes: 1_000, senderFiles: 50, totalBytes: 4_000, totalFiles: 100 }
  const random = createTestRandom(7)
  const shelf = createFileStore({ dir, random, now: () => now++, looseLimits: limits })
  const upload = (sender: string, size: number) =>
    shelf.save({ sender, name: 'a', mime: null, bytes: Buffer.alloc(size), loose: true })
  const crowd = Array.from({ length: 12 }, (_, at) => `guest-${at}`)
  const said: Record<string, string[]> = {}
  for (const who of crowd)
    for (let at = 0; at < 10; at++) {
      const saved = await upload(who, 100).catch(() => null)
      if (saved) said[who] = [...(said[who] ?? []), saved.id]
    }
  // The owner comes last, as the thirteenth.
  const mine = await upload('owner', 300)
  expect(await shelf.own('owner', mine.id)).toMatchObject({ size: 300 })
  await expect(upload('owner', 300)).rejects.toMatchObject({
    code: 'rate_limited',
    message: 'files of 13 people wait for a message: your share is 307 bytes and 7 files',
    hint: expect.stringContaining('send the message'),
  })
  // Every sender still has the newest uploads that fit into a share.
  for (const who of crowd) {
    const left = await Promise.all((said[who] ?? []).map((id) => shelf.own(who, id)))
    const bytes = left.reduce((sum, file) => sum + (file?.size ?? 0), 0)
    expect(bytes, who).toBeGreaterThanOrEqual(200)
    expect(left.at(-1), who).not.toBeNull()
  }
  // A file of a message is never removed for an upload.
  const [taken] = (said['guest-3'] ?? []).slice(-1)
  await shelf.take([taken ?? ''])
  for (let at = 0; at < 3; at++) await upload(`late-${at}`, 200)
  expect(await shelf.own('guest-3', taken ?? '')).not.toBeNull()
  expect(await shelf.own('owner', mine.id)).not.toBeNull()
})

it('[I3.web-attachment-limit] keeps files up to its quota, counted over restarts', async () => {
  const upload = { sender: 'owner', name: 'a.txt', mime: 'text/plain', bytes: Buffer.alloc(400) }
  const first = createFileStore({ dir, random: createTestRandom(1), quotaBytes: 1_200 })
  await first.save(upload)
  const second = createFileStore({ dir, random: createTestRandom(2), quotaBytes: 1_200 })
  const both = await Promise.allSettled([second.save(upload), second.save(upload)])
  // Either upload may win.
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await expect(second.save(upload)).rejects.toMatchObject({ code: 'too_large' })
  // Removal by retention makes room.
  for (const name of readdirSync(dir)) rmSync(join(dir, name))
  await second.save(upload)
})
