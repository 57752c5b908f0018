// The end of a log, and what is written after it: nothing twice, nothing left out, whatever the log is put through.
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LogTail, openLogTail } from './log-tail.ts'

let folder = ''
let file = ''
let tail: LogTail | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'swb-log-'))
  file = join(folder, 'daemon.log')
})
afterEach(() => {
  tail?.close()
  rmSync(folder, { recursive: true, force: true })
})
const open = (bytes?: number) => (tail = openLogTail(file, bytes))

describe('[I18.logs-follow] the tail of a log', () => {
  it('gives what is there, then what comes, each line once and whole', () => {
    writeFileSync(file, 'one\ntwo\nthr')
    const { next } = open()
    expect(next()).toEqual(['one', 'two'])
    expect(next()).toEqual([])
    appendFileSync(file, 'ee\nfour\n')
    expect(next()).toEqual(['three', 'four'])
  })

  it('keeps a character that was written in two parts', () => {
    writeFileSync(file, 'a\n')
    const { next } = open()
    const bytes = Buffer.from('Zürich 🚀\n')
    expect(next()).toEqual(['a'])
    for (const byte of bytes.subarray(0, -1)) {
      appendFileSync(file, Buffer.from([byte]))
      expect(next()).toEqual([])
    }
    appendFileSync(file, '\n')
    expect(next()).toEqual(['Zürich 🚀'])
  })

  it('begins at the end of a large one, with a whole line', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index} ${'é'.repeat(index % 7)}`)
    writeFileSync(file, `${lines.join('\n')}\n`)
    const first = open(1000).next()
    expect(first.length).toBeGreaterThan(40)
    expect(first).toEqual(lines.slice(-first.length))
  })

  it('gives all of much that is written at once', () => {
    writeFileSync(file, '')
    const { next } = open()
    const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index} ${'é'.repeat(20)}`)
    appendFileSync(file, `${lines.join('\n')}\n`)
    expect(next()).toEqual(lines)
  })

  it('reads a log that was put aside to its end, and goes on with the new one however long it is', () => {
    writeFileSync(file, 'one\n')
    const { next } = open()
    expect(next()).toEqual(['one'])
    appendFileSync(file, 'two\n')
    renameSync(file, `${file}.1`)
    expect(next()).toEqual(['two'])
    appendFileSync(`${file}.1`, 'three\n')
    writeFileSync(file, 'a line that is longer than all before\n')
    expect(next()).toEqual(['three', 'a line that is longer than all before'])
  })

  it('begins anew where the log was cut short', () => {
    writeFileSync(file, 'one\ntwo\n')
    const { next } = open()
    expect(next()).toHaveLength(2)
    truncateSync(file)
    appendFileSync(file, 'new\n')
    expect(next()).toEqual(['new'])
  })
})
