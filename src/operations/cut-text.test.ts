// Long texts in lists are cut where the reader asks for it, never within a character.
import { expect, it } from 'vitest'
import { chars, cutText } from './cut-text.ts'

it('[I21.con-many] cuts what is longer, says how long it is, and leaves the rest as it is', () => {
  const text = `${'a'.repeat(99)}😀 and more`
  expect(cutText({ id: 'x', text }, 100)).toEqual({ id: 'x', text: 'a'.repeat(99), text_chars: 110 })
  expect(cutText({ id: 'x', text }, 101).text).toBe(`${'a'.repeat(99)}😀`)
  expect(cutText({ id: 'x', text }, undefined)).toEqual({ id: 'x', text })
  expect(cutText({ id: 'x', text }, 110)).toEqual({ id: 'x', text })
  expect(cutText({ id: 'x', text: null }, 100)).toEqual({ id: 'x', text: null })
  expect([chars.safeParse('99').success, chars.safeParse('400').data, chars.safeParse('x').success]).toEqual([
    false,
    400,
    false,
  ])
})
