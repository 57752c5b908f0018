// The requests of the page, field by field, and the allowed names of files.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WEB_SETTINGS } from '../../../test/browser/memory-river.ts'
import { SwitchboardError } from '../../contract/index.ts'
import { webConfig } from './config.ts'
import {
  codePoints,
  parseJson,
  parseMessage,
  parseTap,
  safeFileName,
  toInboundMessage,
  toInboundTap,
} from './parse.ts'

const config = webConfig(WEB_SETTINGS)
const speaker = { sender: 'owner', name: 'Kate' }
const fixture = (name: string) =>
  parseJson(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url)), 'application/json')
const bytes = (text: string) => new TextEncoder().encode(text)

function code(run: () => unknown): string {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof SwitchboardError) return `${thrown.code}: ${thrown.message}`
    throw thrown
  }
  return 'ok'
}

describe('bodies', () => {
  it('[S16.415] are JSON by name', () => {
    expect(code(() => parseJson(bytes('{}'), 'text/plain'))).toMatch(/^unsupported_media/)
    expect(code(() => parseJson(bytes('{}'), null))).toMatch(/^unsupported_media/)
    expect(code(() => parseJson(bytes('{}'), 'application/jsonp'))).toMatch(/^unsupported_media/)
    expect(code(() => parseJson(bytes('{}'), 'text/application/json'))).toMatch(/^unsupported_media/)
    expect(parseJson(bytes('{"a":1}'), 'application/json; charset=utf-8')).toEqual({ a: 1 })
    expect(parseJson(bytes('{"a":1}'), 'Application/JSON')).toEqual({ a: 1 })
  })

  it('[S16.400] are JSON objects by content', () => {
    for (const text of ['', '{'])
      expect(code(() => parseJson(bytes(text), 'application/json'))).toBe(
        'input_invalid: the body is not JSON',
      )
    for (const text of ['[]', 'null', '"x"', '1'])
      expect(code(() => parseJson(bytes(text), 'application/json'))).toBe(
        'input_invalid: the body must be a JSON object',
      )
    expect(code(() => parseJson(new Uint8Array([0x7b, 0xff, 0x7d]), 'application/json'))).toMatch(/JSON/)
  })
})

describe('messages', () => {
  it('become one event whose id is the page’s own', () => {
    const event = toInboundMessage(parseMessage(fixture('message'), config), speaker, {
      at: 5,
      attachments: [],
    })
    expect(event).toEqual({
      kind: 'message',
      conversation: 'owner',
      chat: 'direct',
      sender: { id: 'owner', name: 'Kate' },
      at: 5,
      messageId: '5f0c2f6f8a0e4c3b9d1e7a6b5c4d3e2f',
      text: 'What failed last night?\n\n- build 411\n- build 412',
    })
  })

  it('carry what they reply to', () => {
    const order = parseMessage(fixture('message-with-reply'), config)
    expect(toInboundMessage(order, speaker, { at: 1, attachments: [] }).replyTo).toEqual({
      messageId: 'o_k3x9_2f',
    })
  })

  const good = { clientId: 'abcdefgh', text: 'hi' }
  it.each([
    ['clientId', { ...good, clientId: undefined }],
    ['clientId', { ...good, clientId: 'short' }],
    ['clientId', { ...good, clientId: 'tap:abcdefgh' }],
    ['clientId', { ...good, clientId: 'x'.repeat(65) }],
    ['clientId', { ...good, clientId: ['abcdefgh'] }],
    ['text', { ...good, text: 7 }],
    ['text', { ...good, text: ' \n ' }],
    ['attachments', { ...good, attachments: 'x' }],
    ['attachments', { ...good, attachments: ['../../etc/passwd'] }],
    ['attachments', { ...good, attachments: ['a'.repeat(32), 'a'.repeat(32)] }],
    ['replyTo', { ...good, replyTo: 5 }],
    ['replyTo', { ...good, replyTo: 'x'.repeat(257) }],
  ])('[S16.names-field] a bad %s is named', (field, body) => {
    expect(code(() => parseMessage(body, config))).toMatch(new RegExp(`^input_invalid: ${field} `))
  })

  it('[S16.413] too long a text or too many files are too large', () => {
    expect(code(() => parseMessage({ ...good, text: 'x'.repeat(64_001) }, config))).toMatch(/^too_large/)
    expect(code(() => parseMessage({ ...good, text: '🙂'.repeat(64_000) }, config))).toBe('ok')
    const many = Array.from({ length: 9 }, (_, i) => i.toString(16).repeat(32))
    expect(code(() => parseMessage({ ...good, attachments: many }, config))).toMatch(/^too_large/)
  })

  it('a lone surrogate does not lose the message', () => {
    expect(parseMessage({ ...good, text: 'a\ud800b' }, config).text).toBe('a\ufffdb')
  })
})

describe('taps', () => {
  it('[S7.web-approval-buttons] name the message and the button; their id never meets a message’s', () => {
    expect(toInboundTap(parseTap(fixture('tap')), speaker, 9)).toEqual({
      kind: 'tap',
      conversation: 'owner',
      chat: 'direct',
      sender: { id: 'owner', name: 'Kate' },
      at: 9,
      messageId: 'tap:a1b2c3d4e5f60718293a4b5c6d7e8f90',
      on: 'o_k3x9_2g',
      value: 'allow:kqwte',
    })
  })

  it.each(['on', 'value', 'clientId'])('[S16.names-field] without %s is refused by name', (field) => {
    const body = { on: 'o_1', value: 'allow:x', clientId: 'abcdefgh', [field]: undefined }
    expect(code(() => parseTap(body))).toContain(field)
  })
})

describe('file names', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['.bashrc', 'bashrc'],
    ['...', 'file'],
    ['', 'file'],
    ['a\u0000b\r\nc.txt', 'abc.txt'],
    ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
    ['a\u200Bb\uFEFF.txt', 'ab.txt'],
    ['<img src=x onerror=alert(1)>.png', '_img src=x onerror=alert(1)_.png'],
    ['a"; filename="b.html', 'a_; filename=_b.html'],
    ['  spaced  out .txt ', 'spaced out .txt'],
    ['日本語.txt', '日本語.txt'],
    ['x/', 'file'],
  ])('[I3.inject-file-name] %j becomes %j', (raw, safe) => {
    expect(safeFileName(raw)).toBe(safe)
  })

  it('[I3.inject-file-name] whatever comes, nothing unsafe is left', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (raw) => {
        const name = safeFileName(raw)
        expect(name).not.toMatch(/[/\\\p{Cc}\p{Cf}<>:"|?*]/u)
        expect(name.startsWith('.')).toBe(false)
        expect(name.length).toBeGreaterThan(0)
        expect([...name].length).toBeLessThanOrEqual(120)
      }),
    )
  })

  it('keep their ending when they are cut', () => {
    expect(safeFileName(`${'a'.repeat(300)}.tar`)).toBe(`${'a'.repeat(116)}.tar`)
    expect(safeFileName(`${'a'.repeat(116)}.tar`)).toBe(`${'a'.repeat(116)}.tar`)
    expect(safeFileName(`${'a'.repeat(117)}.tar`)).toBe(`${'a'.repeat(116)}.tar`)
    // Only the end of a long name is examined.
    expect(safeFileName(`${'a'.repeat(4_095)}/b`)).toBe('file')
    expect(safeFileName(`${'a'.repeat(4_094)}/b`)).toBe('b')
  })
})

it('code points are counted, not units', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
      expect(codePoints(text)).toBe([...text].length)
    }),
  )
})
