// Which files a local host may attach: never files of the state, under any name.

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defined } from '../../contract/index.ts'
import { createSendableFiles, statePlaces } from './sendable-files.ts'

let root = ''
let data = ''
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'swb-sendable-')))
  data = join(root, 'data')
  mkdirSync(join(data, 'attachments', 'tg'), { recursive: true })
  writeFileSync(join(data, 'ledger.key'), 'a key')
  writeFileSync(join(data, 'attachments', 'tg', 'came.png'), 'a picture')
  writeFileSync(join(root, 'report.PDF'), 'a report')
  writeFileSync(join(root, 'elsewhere.db-wal'), 'messages')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const files = (maxBytes?: number) =>
  createSendableFiles({
    never: () => [
      ...statePlaces(data, `sqlite:${join(root, 'elsewhere.db')}`),
      join(root, 'switchboard.yaml'),
      join(root, 'bot.token'),
    ],
    attachments: join(data, 'attachments'),
    roots: (hostFolder) => [root, ...(hostFolder === null ? [] : [hostFolder])],
    home: join(root, 'home'),
    ...defined({ maxBytes }),
  })

describe('a file that is to be attached', () => {
  it('is read with its name and type; what people sent may be passed on', async () => {
    expect(await files().read(join(root, 'report.PDF'))).toEqual({
      name: 'report.PDF',
      mime: 'application/pdf',
      bytes: Buffer.from('a report'),
    })
    expect(await files().read(join(data, 'attachments', 'tg', 'came.png'))).toMatchObject({
      mime: 'image/png',
    })
  })

  it('of the data folder or the database never leaves, not by a link and not by a detour', async () => {
    symlinkSync(join(data, 'ledger.key'), join(root, 'innocent.txt'))
    symlinkSync(data, join(root, 'folder'))
    for (const path of [
      join(data, 'ledger.key'),
      join(root, 'innocent.txt'),
      join(root, 'folder', 'ledger.key'),
      `${data}/attachments/../ledger.key`,
      join(root, 'elsewhere.db-wal'),
    ]) {
      await expect(files().read(path), path).rejects.toMatchObject({
        code: 'input_invalid',
        message: `refusing to send channel state: ${path}`,
      })
    }
  })

  it('of the state does not leave under another name either: a hard link is the file itself', async () => {
    const alias = join(root, 'alias.txt')
    linkSync(join(data, 'ledger.key'), alias)
    await expect(files().read(alias)).rejects.toThrow(`refusing to send channel state: ${alias}`)
    linkSync(join(root, 'elsewhere.db-wal'), join(root, 'wal.txt'))
    await expect(files().read(join(root, 'wal.txt'))).rejects.toThrow('refusing to send channel state')
    linkSync(join(root, 'report.PDF'), join(root, 'again.pdf'))
    expect(await files().read(join(root, 'again.pdf'))).toMatchObject({ name: 'again.pdf' })
  })

  it('is never what the kernel says of the daemon: its environment has secrets', async (context) => {
    if (!existsSync('/proc/self/environ')) context.skip('there is no /proc here')
    symlinkSync('/proc/self', join(root, 'me'))
    for (const path of ['/proc/self/environ', '/proc/self/cmdline', join(root, 'me', 'environ')])
      await expect(files().read(path), path).rejects.toThrow('refusing to send channel state')
  })

  it('is judged by what was opened: a folder that is exchanged for a link in between gives nothing away', async () => {
    const place = join(root, 'place')
    const swap = join(root, 'swap')
    mkdirSync(place)
    writeFileSync(join(place, 'ledger.key'), 'harmless')
    symlinkSync(data, swap)
    let going = true
    const swapping = (async () => {
      while (going) {
        renameSync(place, join(root, 'tmp'))
        renameSync(swap, place)
        renameSync(join(root, 'tmp'), swap)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const said = new Set<string>()
    for (let tries = 0; tries < 500; tries++) {
      const read = await files()
        .read(join(place, 'ledger.key'))
        .then(({ bytes }) => String(bytes))
        .catch((error: Error) => error.message)
      said.add(read)
    }
    going = false
    await swapping
    expect([...said]).not.toContain('a key')
  })

  it('[I14.send-roots] lies under a folder that may be sent from, the working folder of the host among them', async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'swb-outside-')))
    try {
      writeFileSync(join(outside, 'notes.txt'), 'notes')
      symlinkSync(join(outside, 'notes.txt'), join(root, 'link.txt'))
      for (const path of [join(outside, 'notes.txt'), join(root, 'link.txt'), `${root}-beside`]) {
        writeFileSync(`${root}-beside`, 'a neighbour with the same beginning')
        await expect(files().read(path), path).rejects.toMatchObject({
          code: 'input_invalid',
          message: `files: ${path} is outside of tunables.send_roots`,
          hint: `files may be sent from: ${root}`,
        })
      }
      expect(await files().read(join(outside, 'notes.txt'), outside)).toMatchObject({ name: 'notes.txt' })
    } finally {
      rmSync(outside, { recursive: true, force: true })
      rmSync(`${root}-beside`, { force: true })
    }
  })

  it('[I14.send-never] is never the configuration, a file: secret or what begins with a dot in the home', async () => {
    mkdirSync(join(root, 'home', '.ssh'), { recursive: true })
    writeFileSync(join(root, 'home', '.ssh', 'id'), 'a key')
    writeFileSync(join(root, 'home', '.netrc'), 'a password')
    writeFileSync(join(root, 'home', 'plain.txt'), 'mine to send')
    for (const name of ['switchboard.yaml', 'bot.token']) {
      writeFileSync(join(root, name), name)
      linkSync(join(root, name), join(root, `${name}.txt`))
      symlinkSync(join(root, name), join(root, `${name}.link`))
      for (const path of [name, `${name}.txt`, `${name}.link`])
        await expect(files().read(join(root, path)), path).rejects.toThrow('refusing to send channel state')
    }
    symlinkSync(join(root, 'home', '.ssh'), join(root, 'shown'))
    for (const path of ['home/.ssh/id', 'home/.netrc', 'shown/id', 'home/.ssh/../.ssh/id'])
      await expect(files().read(`${root}/${path}`), path).rejects.toThrow('dot-folder of your home')
    expect(await files().read(join(root, 'home', 'plain.txt'))).toMatchObject({ name: 'plain.txt' })
  })

  it('must be there, whole, a file, and not too long', async () => {
    const fifo = join(root, 'pipe')
    spawnSync('mkfifo', [fifo])
    await expect(files().read('report.PDF')).rejects.toThrow('is not an absolute path')
    await expect(files().read(join(root, 'none'))).rejects.toThrow('there is no file')
    await expect(files().read(root)).rejects.toThrow(/is not a file|cannot be read/)
    await expect(files().read(fifo)).rejects.toThrow('is not a file')
    await expect(files(3).read(join(root, 'report.PDF'))).rejects.toMatchObject({ code: 'too_large' })
  })
})
