// The folder of an integration's files, with and without a mirror: saves, fetches, refusals.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FileMirror, SwitchboardError } from '../../contract/index.ts'
import { createTestRandom } from '../../testing/test-clock.ts'
import { createSharedFolder, isPlainName } from './shared-folder.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'swb-folder-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function memoryMirror() {
  const files = new Map<string, Uint8Array>()
  const asked: string[] = []
  const mirror: FileMirror = {
    async put(name, bytes) {
      files.set(name, bytes)
    },
    async get(name) {
      asked.push(name)
      return files.get(name) ?? null
    },
  }
  return { files, asked, mirror }
}

const folderOf = (node: string, mirror?: FileMirror, onFetched?: (bytes: number) => void) =>
  createSharedFolder({
    dir: join(root, node),
    random: createTestRandom(node),
    mirror,
    ...(onFetched ? { onFetched } : {}),
  })

const hello = { name: 'a.txt', bytes: Buffer.from('hello') }

it('without a mirror it is a folder', async () => {
  const folder = folderOf('a')
  expect(await folder.find('a.txt')).toBeNull()
  await folder.save([hello])
  expect(await folder.find('a.txt')).toBe(join(root, 'a', 'a.txt'))
  expect(await folderOf('b').find('a.txt')).toBeNull()
})

it('[I6.files-shared] what one node saved another fetches, once, into its own folder and for nobody else to read', async () => {
  const { mirror, asked } = memoryMirror()
  await folderOf('a', mirror).save([hello])
  const fetched: number[] = []
  const there = folderOf('b', mirror, (bytes) => fetched.push(bytes))
  const paths = await Promise.all([there.find('a.txt'), there.find('a.txt'), there.find('a.txt')])
  const path = join(root, 'b', 'a.txt')
  expect(paths).toEqual([path, path, path])
  expect(await there.find('a.txt')).toBe(path)
  expect(asked).toEqual(['a.txt'])
  expect(fetched).toEqual([5])
  expect(readFileSync(path, 'utf8')).toBe('hello')
  expect(readdirSync(join(root, 'b'))).toEqual(['a.txt'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(root, 'b')).mode & 0o777).toBe(0o700)
})

it('what nobody has is asked for again the next time, and leaves no folder behind', async () => {
  const { mirror, files } = memoryMirror()
  const folder = folderOf('a', mirror)
  expect(await folder.find('late.txt')).toBeNull()
  expect(existsSync(join(root, 'a'))).toBe(false)
  files.set('late.txt', Buffer.from('here'))
  expect(await folder.find('late.txt')).not.toBeNull()
})

it('[I6.files-shared] the last file of several is the last in the mirror', async () => {
  const { mirror, files } = memoryMirror()
  await folderOf('a', mirror).save([hello, { name: 'a.json', bytes: Buffer.from('{}') }])
  expect([...files.keys()]).toEqual(['a.txt', 'a.json'])
})

describe('the mirror is away', () => {
  const away: FileMirror = {
    put: () => Promise.reject(new SwitchboardError('store_unavailable', 'the database is away')),
    get: () => Promise.reject(new SwitchboardError('store_unavailable', 'the database is away')),
  }

  it('[I6.files-truth] nothing is saved, and nothing is left', async () => {
    const folder = folderOf('a', away)
    await expect(folder.save([hello, { ...hello, name: 'b' }])).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    expect(readdirSync(join(root, 'a'))).toEqual([])
    const strange = folderOf('a', { ...away, put: () => Promise.reject(new Error('what?')) })
    await expect(strange.save([hello])).rejects.toMatchObject({ code: 'store_unavailable' })
    await folderOf('a').save([hello])
  })

  it('[I6.files-truth] what is here is found; of what is not, nobody says that there is none', async () => {
    await folderOf('a').save([hello])
    const folder = folderOf('a', away)
    expect(await folder.find('a.txt')).toBe(join(root, 'a', 'a.txt'))
    await expect(folder.find('b.txt')).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

describe('names', () => {
  const BAD = [
    ...['', '.', '..', '.hidden', '../a.txt', 'b/../../a.txt', '/etc/passwd', 'a/b', 'a\\b', '..\\a.txt'],
    ...['a\0b', 'a\nb', 'a\u202Eb', 'a\u200Bb', `${'ä'.repeat(128)}`, 'x'.repeat(256)],
  ]

  it.each(BAD)('[I6.files-names] %j is neither asked for nor found', async (name) => {
    const { mirror, asked } = memoryMirror()
    writeFileSync(join(root, 'a.txt'), 'secret')
    expect(isPlainName(name)).toBe(false)
    expect(await folderOf('a', mirror).find(name)).toBeNull()
    expect(asked).toEqual([])
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  it.each(['a', 'a.txt', '0f-Grüße an alle.pdf', 'a..b', '…', '名前.png'])('%j is one', async (name) => {
    const { mirror } = memoryMirror()
    await folderOf('a', mirror).save([{ name, bytes: Buffer.from('1') }])
    expect(readFileSync((await folderOf('b', mirror).find(name)) ?? '', 'utf8')).toBe('1')
  })
})
