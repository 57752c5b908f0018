// The words about the modes of several sessions at once.
import { expect, it } from 'vitest'
import { createModeWords } from './mode-words.ts'
import type { SessionModes } from './modes.ts'

const MODES: SessionModes = {
  agent: 'some agent',
  current: null,
  available: ['careful', 'loose', 'own'].map((id) => ({ id, name: id, description: '' })),
}

function scene(configured: string | undefined) {
  const told: (string | null)[] = []
  const words = createModeWords(configured, () => told.push(words.words()))
  return { words, told, last: () => told.at(-1) ?? null }
}
const [a, b] = [Symbol('a'), Symbol('b')]

it('[I35.b28-by-session] a session in the configured mode hides none that left it, and the change ends with its process', () => {
  const { words, last } = scene('careful')
  words.began(a, 'careful', MODES)
  words.changed(a, 'loose', MODES)
  expect(last()).toContain('"loose"')
  words.began(b, 'careful', MODES)
  expect(last()).toContain('"loose"')
  words.changed(b, 'own', MODES)
  expect(last()).toMatch(/"loose".*; .*"own"/)
  words.ended(a)
  expect(last()).not.toContain('"loose"')
  words.ended(b)
  expect(last()).toBeNull()
})

it('[I35.b28-by-session] the mode in which the agent begins by itself is told once, also when no process runs', () => {
  const { words, told, last } = scene(undefined)
  words.began(a, 'loose', MODES)
  words.began(b, 'loose', MODES)
  words.ended(a)
  words.ended(b)
  expect(told).toHaveLength(1)
  expect(last()).toContain('it works in the mode "loose"')
  words.began(a, 'own', MODES)
  expect(last()).toContain('"own"')
  expect(last()).not.toContain('"loose"')
})
