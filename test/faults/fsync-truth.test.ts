// "Received" means on the disk: what the live connection says, and what the kernel saw.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, type TestContext } from 'vitest'
import { acknowledged, postDemo } from './hook-client.ts'
import { type Status, settled } from './river-checks.ts'
import { askJson, createScene, run } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

describe('durability', () => {
  it('[I2.pragma-synchronous] [S12.sqlite-wal] the live connection says synchronous=FULL and WAL', async () => {
    const data = scene.folder()
    await scene.start({ data })
    const { store } = await askJson<Status>(data, 'status')
    expect(store).toEqual({ kind: 'sqlite', durability: 'journal_mode=wal synchronous=FULL' })
  })

  it('[I2.strace-fdatasync] [S2.ack-after-commit] the log is written and synced before the 200 of that message goes out', async (context: TestContext) => {
    const data = scene.folder()
    const version = await run('strace', ['-V'], data).catch(() => null)
    if (version?.code !== 0) return context.skip('strace is missing: install it to see the system calls')
    const trace = join(data, 'trace')
    const calls = 'trace=fdatasync,fsync,read,recvfrom,pwrite64,write,writev,sendto,sendmsg'
    const probe = await run('strace', ['-f', '-o', join(data, 'probe'), 'true'], data)
    if (probe.code !== 0) return context.skip(`strace may not trace here: ${probe.stderr.trim()}`)
    // -y names the file behind a descriptor, -s shows enough of a buffer to know a message by its key.
    const daemon = await scene.start({
      data,
      under: ['strace', '-f', '-y', '-s', '512', '-e', calls, '-o', trace],
    })
    const ids: string[] = []
    for (const key of ['first-key', 'second-key', 'third-key']) {
      ids.push(acknowledged(await postDemo(daemon.url, `body of ${key}`, key)).id)
      // So that no commit of another message can be taken for the one of the next.
      await settled(data)
    }
    await daemon.terminate()

    const lines = await until('the trace is whole', () => {
      const text = readFileSync(trace, 'utf8')
      return text.includes('+++ exited with 0 +++') ? finished(text.split('\n')) : null
    })
    for (const [at, key] of ['first-key', 'second-key', 'third-key'].entries()) {
      const asked = lines.findIndex((line) => /\b(read|recvfrom)\(/.test(line) && line.includes(key))
      const nextCall = (pattern: RegExp, from: number) =>
        lines.findIndex((line, index) => index > from && pattern.test(line))
      const logged = nextCall(/\bpwrite64\(\d+<[^>]*switchboard\.db-wal>/, asked)
      const synced = nextCall(/\b(fdatasync|fsync)\(\d+<[^>]*switchboard\.db-wal>\)\s+= 0/, logged)
      const told = lines.findIndex(
        (line) =>
          /\b(write|writev|sendto|sendmsg)\(/.test(line) &&
          line.includes('HTTP/1.1 200') &&
          line.includes(ids[at] ?? '?'),
      )
      expect({
        key,
        asked: asked >= 0,
        logged: logged > asked,
        synced: synced > logged,
        told: told > synced,
      }).toEqual({
        key,
        asked: true,
        logged: true,
        synced: true,
        told: true,
      })
    }
  })
})

/** Calls in the order in which they returned, except that a write counts from when it began: bytes may leave at once. */
function finished(lines: readonly string[]): readonly string[] {
  const begun = new Map<string, string>()
  const whole: string[] = []
  for (const line of lines) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. (\w+) resumed>(.*)$/.exec(rest)
    if (rest.endsWith('<unfinished ...>')) {
      const start = rest.slice(0, -'<unfinished ...>'.length)
      if (/^(write|writev|sendto|sendmsg)\(/.test(start)) whole.push(start)
      else begun.set(thread, start)
    } else if (resumed) {
      const start = begun.get(thread)
      begun.delete(thread)
      if (start !== undefined) whole.push(start + resumed[2])
    } else whole.push(rest)
  }
  return whole
}
