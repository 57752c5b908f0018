// The small parts of a connection: lines of a pipe, queued news, and redacted text of a server.
import { describe, expect, it } from 'vitest'
import type { ServerNews } from '../../contract/index.ts'
import { createLines, createRedactor, createStderrLog } from '../../kit/processes/index.ts'
import { createRecordingLog, createTestClock } from '../../testing/index.ts'
import { createNewsLine } from './news-line.ts'
import { boundedResult, readToolResult } from './tool-result.ts'

describe('lines', () => {
  const read = (maxBytes: number, ...chunks: (string | Buffer)[]) => {
    const lines: string[] = []
    let long = 0
    const reader = createLines(maxBytes, {
      line: (text) => void lines.push(text),
      tooLong: () => void long++,
    })
    for (const chunk of chunks) reader.push(Buffer.from(chunk))
    return { lines, long, rest: reader.end() }
  }

  it('come whole however the bytes are cut, also within a character', () => {
    const text = Buffer.from('ä\nb€\n\nrest')
    expect(text).toHaveLength(13)
    for (let at = 0; at <= text.length; at++)
      expect(read(100, text.subarray(0, at), text.subarray(at))).toEqual({
        lines: ['ä', 'b€', ''],
        long: 0,
        rest: 'rest',
      })
  })

  it('beyond the bound are skipped to their end, and counted once', () => {
    expect(read(5, 'abc', 'def', 'ghi', 'jk\nnext\n')).toEqual({ lines: ['next'], long: 1, rest: '' })
    expect(read(5, 'abcdefgh')).toEqual({ lines: [], long: 1, rest: '' })
  })
})

describe('news', () => {
  const from = { prefix: 'nexo', permissionRelay: false, stamp: { source: null, verified: false } } as const
  const news = (params: unknown): ServerNews => ({ kind: 'message', prefix: 'nexo', params, from })

  it('wait in order while they are held, and press on the server when there are many', () => {
    const pressure: boolean[] = []
    const heard: unknown[] = []
    const line = createNewsLine({ pressure: (full) => void pressure.push(full), failed: () => undefined })
    line.listen(({ params }) => void heard.push(params))
    line.push(news(0))
    const [one, two] = [line.hold(), line.hold()]
    for (let at = 1; at <= 1_500; at++) line.push(news(at))
    expect([heard.length, line.waiting(), line.full(), pressure]).toEqual([1, 1_500, true, [true]])
    one()
    one()
    expect(heard.length).toBe(1)
    two()
    expect(heard).toEqual(Array.from({ length: 1_501 }, (_, at) => at))
    expect([line.waiting(), line.full(), pressure]).toEqual([0, false, [true, false]])
  })

  it('press on the server when few but large ones wait, however deep they are', () => {
    const pressure: boolean[] = []
    const line = createNewsLine({ pressure: (full) => void pressure.push(full), failed: () => undefined })
    const release = line.hold()
    let deep: unknown = 'x'.repeat(9 * 1_048_576)
    for (let level = 0; level < 100_000; level++) deep = [deep]
    line.push(news({ content: 5, meta: { a: deep } }))
    expect(pressure).toEqual([])
    line.push(news({ content: 'x'.repeat(9 * 1_048_576) }))
    expect(pressure).toEqual([true])
    release()
    expect([pressure, line.waiting()]).toEqual([[true, false], 0])
  })

  it('stay in order when a listener holds them while it is told', () => {
    const heard: unknown[] = []
    const line = createNewsLine({ pressure: () => undefined, failed: () => undefined })
    let again: () => void = () => undefined
    line.listen(({ params }) => {
      heard.push(params)
      if (params === 1) again = line.hold()
    })
    const release = line.hold()
    for (let at = 0; at < 4; at++) line.push(news(at))
    release()
    line.push(news(4))
    expect(heard).toEqual([0, 1])
    again()
    expect(heard).toEqual([0, 1, 2, 3, 4])
  })

  it('that still wait reach a listener who leaves, once', () => {
    const heard: Record<string, unknown[]> = { leaves: [], stays: [] }
    const line = createNewsLine({ pressure: () => undefined, failed: () => undefined })
    const leave = line.listen(({ params }) => {
      heard.leaves?.push(params)
      if (params === 1) leave()
    })
    line.listen(({ params }) => void heard.stays?.push(params))
    const release = line.hold()
    for (let at = 0; at < 4; at++) line.push(news(at))
    release()
    line.push(news(4))
    expect(heard.leaves).toEqual([0, 1, 2, 3])
    expect(heard.stays).toEqual([0, 1, 2, 3, 4])
  })

  it('reach the others when one listener fails', () => {
    const failed: unknown[] = []
    const heard: unknown[] = []
    const line = createNewsLine({ pressure: () => undefined, failed: (thrown) => void failed.push(thrown) })
    line.listen(() => {
      throw new Error('of a listener')
    })
    const stop = line.listen(({ params }) => void heard.push(params))
    line.push(news(1))
    stop()
    line.push(news(2))
    expect([heard, failed.length]).toEqual([[1], 2])
  })
})

describe('the words of a server', () => {
  it('lose their secrets, also the token of a header alone, and what a terminal would obey', () => {
    const redact = createRedactor(['Bearer sk-12345', 'sk-123456789', 'abc'])
    expect(redact('\u001b[1msk-123456789 and sk-12345\u0007, Bearer sk-12345')).toBe(
      '[redacted] and [redacted] , [redacted]',
    )
    expect(redact('an abc')).toBe('an abc')
    expect(redact('x'.repeat(10_000))).toHaveLength(501)
  })

  it('of a tool that failed lose them too, and none is longer than somebody would read', () => {
    const redact = createRedactor(['sk-123456789'])
    const text = `401 for sk-123456789 ${'x'.repeat(1_000_000)}`
    const failed = readToolResult({ isError: true, content: [{ type: 'text', text }] }, redact)
    expect(failed.text).toMatch(/^401 for \[redacted\] x{100}/)
    expect(failed.text.length).toBeLessThan(600)
    const good = readToolResult({ content: [{ type: 'text', text }], structuredContent: { text } }, redact)
    expect(boundedResult(good)).toMatchObject({ structured: null, content: [{ type: 'text' }] })
    expect(JSON.stringify(boundedResult(good)).length).toBeLessThan(40_000)
  })

  it('are as many as somebody would read', async () => {
    const log = createRecordingLog()
    const clock = createTestClock()
    const stderr = createStderrLog({
      ...{ clock, log },
      redact: createRedactor(['secret-x']),
      who: 'the channel server',
    })
    for (let at = 0; at < 100; at++) stderr.line(`line ${at} secret-x`)
    await clock.advance(10_000)
    stderr.line('  ')
    stderr.line('later')
    expect(log.lines).toHaveLength(22)
    expect(log.lines[20]).toContain('"lines":80')
    expect(log.lines.join('')).not.toContain('secret-x')
    expect(stderr.last()).toBe('later')
  })
})
