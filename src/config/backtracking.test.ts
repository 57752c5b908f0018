// Mention patterns that a stranger's text could keep busy for ever, told from those that only look like it.
import { describe, expect, it } from 'vitest'
import { mayBacktrackForever } from './backtracking.ts'
import { settingsFrom } from './fixtures/load-text.ts'

describe('mayBacktrackForever', () => {
  it.each([
    '(a+)+$',
    '(a*)*b',
    '^(\\w+)*@kate$',
    '(?:.*)+x',
    '(a|a)*$',
    '(\\w|\\d)+!',
    '(x+x+)+y',
    '([a-z]+)*\\d',
    '(?<name>\\s*\\w*)+$',
    '(a{1,})+$',
    '((ab)*)*c',
    '(a+){1,50}$',
    '(.|\\s)*kate',
    'hey (kate|(k+)+)',
  ])('%s can', (pattern) => {
    expect(mayBacktrackForever(pattern)).toBe(true)
  })

  it.each([
    '\\bkate\\b',
    '@kate[,:]?',
    '^hey\\s+kate',
    '(?:hey|hello)\\s+kate',
    '(\\w+\\s)*kate',
    '(?:\\w+,)+',
    '(a|b)*',
    '(abc)+',
    '[(]+[)]+',
    '\\(+\\)+',
    '(a+)?b',
    '(?=a+)b+',
    '.*kate.*',
    '(\\d{1,3}\\.)+',
    '[broken',
    'a{2}(b{1,3})*c',
  ])('%s cannot', (pattern) => {
    expect(mayBacktrackForever(pattern)).toBe(false)
  })

  it('[S3.mention-backtracking] check warns of one, wherever it stands, and takes the file all the same', () => {
    const settings = settingsFrom(`integrations:
  - { id: w, platform: webhook, secret: env:S, access: { mention_patterns: ["kate", "(k+)+ate"] } }
tunables: { mention_patterns: ["(\\\\w|k)*ate"] }
`)
    expect(settings.warnings).toEqual([
      expect.stringContaining('tunables.mention_patterns[0]'),
      expect.stringContaining('integrations[0].access.mention_patterns[1]'),
    ])
  })
})
