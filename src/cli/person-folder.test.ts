// A person as a folder: private, with the bytes of what they sent, and honest about what is missing.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writePersonFolder } from './person-folder.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sb-person-'))
})
afterEach(() => rmSync(base, { recursive: true }))

async function* chunks(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts
}

it('[I14.export-files] lines and files, private, whatever the names and however the stream is cut', async () => {
  const bytes = Buffer.from([0, 255, 10, 13])
  const lines = [
    { kind: 'turn', id: 't_1', body: { text: 'ünï\ncode' } },
    { kind: 'file', turn: 't_1', name: '../../etc/passwd', base64: bytes.toString('base64') },
    { kind: 'file', turn: 't_1', name: '\u001b[2J', base64: '' },
    { kind: 'file', turn: 't_1', name: 'gone.png', missing: 'it is gone' },
  ]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const cut = [...text].map((_, at) => text.slice(at * 7, at * 7 + 7)).filter((part) => part !== '')
  const to = join(base, 'ann')
  const written = await writePersonFolder(to, chunks(...cut))
  expect(written).toEqual({ folder: to, lines: 4, files: 2, files_missing: 1 })
  expect(readdirSync(base)).toEqual(['ann'])
  const kept = readFileSync(join(to, 'person.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(kept[0]).toEqual(lines[0])
  expect(kept[1]).toEqual({
    kind: 'file',
    turn: 't_1',
    name: '../../etc/passwd',
    path: 'files/1-.._.._etc_passwd',
  })
  expect(kept[3]).toEqual(lines[3])
  expect(readFileSync(join(to, kept[1].path))).toEqual(bytes)
  expect(readdirSync(join(to, 'files')).join()).not.toContain('\u001b')
  for (const path of [to, join(to, 'files'), join(to, 'person.ndjson'), join(to, kept[1].path)])
    expect(statSync(path).mode & 0o077, path).toBe(0)
})

it('[I14.export-files] a folder that is there is left alone', async () => {
  await expect(writePersonFolder(base, chunks('{}\n'))).rejects.toMatchObject({ code: 'conflict' })
  expect(readdirSync(base)).toEqual([])
})
