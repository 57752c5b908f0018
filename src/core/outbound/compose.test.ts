// A text as rows: each part has its own key, so a repeated order finds every part.
import { expect, it } from 'vitest'
import { createTestRandom } from '../../testing/test-clock.ts'
import { compose } from './compose.ts'

const to = { integration: 'chat', conversation: 'kate' }
const file = { kind: 'file', file: 'f', name: 'a.txt' } as never
const said = (size: number, more = {}) =>
  compose(
    { to, text: 'one two', cause: 'reply', agent: 'demo', session: null, turn: null, ...more },
    { platform: 'test', limit: { size, unit: 'utf-16' }, markdown: 'written', tool: null },
    { split: ({ text }) => text.split(' '), random: createTestRandom('compose') },
  )

it('[S11.idempotency-key] parts and files of one order have the order’s key, and one of their own behind it', () => {
  const keys = said(3, { idempotencyKey: 'order', files: [file, file] }).map((row) => row.idempotencyKey)
  expect(keys).toEqual(['order', 'order#1', 'order#file0', 'order#file1'])
  expect(said(3).map((row) => 'idempotencyKey' in row)).toEqual([false, false])
})

it('parts of one message share a group and are counted; one alone has none', () => {
  const rows = said(3, { files: [file] })
  expect(rows.map((row) => row.part)).toEqual([0, 1, undefined])
  expect(new Set(rows.slice(0, 2).map((row) => row.group)).size).toBe(1)
  expect(rows.at(-1)).not.toHaveProperty('group')
  expect('group' in (said(Number.POSITIVE_INFINITY)[0] ?? {})).toBe(false)
})

it('files without a word are rows of their own, and no empty text goes before them', () => {
  const kinds = (size: number, text: string) => said(size, { text, files: [file] }).map(({ op }) => op.kind)
  expect(kinds(Number.POSITIVE_INFINITY, ' ')).toEqual(['file'])
  expect(kinds(Number.POSITIVE_INFINITY, 'one')).toEqual(['text', 'file'])
  // Without a file the text is sent unchanged.
  expect(said(Number.POSITIVE_INFINITY, { text: ' ' }).map(({ op }) => op.kind)).toEqual(['text'])
})

it('equal content has equal keys, part by part', () => {
  const keys = () => said(3, { dedup: true }).map((row) => row.dedupKey)
  expect(keys()).toEqual(keys())
  expect(new Set(keys()).size).toBe(2)
})

it('quotes with its first part, with all, or with none; what answers nothing quotes nothing', () => {
  const quoted = (more: object) => said(3, more).map(({ op }) => op.kind === 'text' && op.replyTo)
  expect(quoted({ replyTo: 'm1' })).toEqual(['m1', undefined])
  expect(quoted({ replyTo: 'm1', replyToMode: 'all' })).toEqual(['m1', 'm1'])
  expect(quoted({ replyTo: 'm1', replyToMode: 'off' })).toEqual([undefined, undefined])
  expect(said(3).map(({ op }) => 'replyTo' in op)).toEqual([false, false])
})
