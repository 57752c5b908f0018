// The file as it may be shown: options of modules of others by what their schemas say, and never a secret.
import { expect, it } from 'vitest'
import type { OptionsSchema } from '../contract/index.ts'
import { BOOK } from './fixtures/load-text.ts'
import { maskedLines } from './masked-text.ts'

const optionsOf = (properties: Readonly<Record<string, unknown>>): OptionsSchema => ({
  '~standard': {
    version: 1,
    vendor: 'hand',
    validate: (value) => ({ value }) as never,
    jsonSchema: { input: () => ({ type: 'object', properties }) },
  },
})

const text = { type: 'string' }
const PAGER = optionsOf({
  badge: { ...text, 'x-secret': true },
  badges: { type: 'array', items: { ...text, 'x-secret': true } },
  sash: { anyOf: [{ ...text, 'x-secret': true }, { type: 'null' }] },
  ward: { $ref: '#/$defs/ward' },
  api_key: text,
  pager_site: text,
  loudness: { type: 'number' },
  bells: { type: 'array', items: text },
  shift: { type: 'object', properties: { begins: text, passphrase: text } },
})

const shown = (line: string, ...others: readonly OptionsSchema[]) => maskedLines(line, BOOK, others)[0]

it('[I13.modules-secrets] what a module calls no secret is shown as it is written', () => {
  for (const line of [
    '    pager_site: https://pager.example/in',
    '    loudness: 7',
    '    bells: [one, two]',
    '    shift: { begins: noon }',
    '    badge: env:BADGE',
  ]) {
    expect(shown(line, PAGER)).toBe(line)
    if (!line.includes('env:')) expect(shown(line)).toContain('•••')
  }
})

it('[I13.modules-secrets] what is marked, sounds like one or is not told stays masked', () => {
  for (const line of [
    '    badge: planted',
    '    badges: [planted, planted]',
    '    sash: planted',
    '    ward: planted',
    '    api_key: planted',
    '    shift: { passphrase: planted }',
    '    unknown: planted',
    '    - planted',
    '    pager_site: https://me:planted@pager.example/',
    '    pager_site: "https://pager.example/?access_token=planted"',
  ])
    expect(shown(line, PAGER)).not.toContain('planted')
})

it('[I13.modules-secrets] a key is plain only when nobody has a secret of that name', () => {
  const open = optionsOf({ token: text, badge: text, loudness: text })
  const closed = optionsOf({ loudness: { ...text, 'x-secret': true } })
  expect(shown('    token: planted', open)).not.toContain('planted')
  for (const others of [
    [open, PAGER],
    [PAGER, open],
  ])
    expect(shown('    badge: planted', ...others)).not.toContain('planted')
  expect(shown('    loudness: planted', open, closed)).not.toContain('planted')
  expect(shown('    loudness: planted', closed, open)).not.toContain('planted')
})
