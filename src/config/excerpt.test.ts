// What a person is shown of a line: a secret is masked however its key is written.
import { expect, it } from 'vitest'
import { excerptOf, type KnownKeys } from './excerpt.ts'

const KEYS: KnownKeys = new Map(
  Object.entries({ id: false, platform: false, site: false, token: true }).map(
    ([key, secret]) => [key, { secret }] as const,
  ),
)
const shown = (line: string) => excerptOf(line, 1, false, KEYS).excerpt

it.each([
  '- { id: tg, platform: telegram, "token":"planted" }',
  "- { id: tg, platform: telegram, 'token':'planted' }",
  '- { id: tg, platform: telegram, "token" :planted }',
  '{"id":"tg","token":"planted"}',
  '- { id: tg, ? token : planted }',
  'site: here # it was planted',
  'token: planted',
  '"token": planted',
])('masks what is planted in %s', (line) => {
  expect(shown(line)).not.toContain('planted')
})

it('shows what is no secret, whichever way its key is written', () => {
  expect(shown('- { "id":"tg", platform: telegram }')).toBe('- { "id":"tg", platform: telegram }')
  expect(shown('site: here#there')).toBe('site: here#there')
  expect(shown('site: "a # b"')).toBe('site: "a # b"')
})
