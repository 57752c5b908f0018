// Inputs and results of tools as text: bounded, and without credentials.
import { describe, expect, it } from 'vitest'
import { toolText } from './tool-text.ts'

const TOKEN = 'cb_Zm9vYmFyYmF6cXV1eDEyMzQ1Njc4OTAxMjM0NTY3ODkw'

describe('toolText', () => {
  it('shows plain values as they are', () => {
    expect(toolText({ query: 'oslo weather', limit: 3, deep: [true, null] }, 300)).toBe(
      '{"query":"oslo weather","limit":3,"deep":[true,null]}',
    )
    expect(toolText('Oslo: 3°C, cloudy, wind 5m/s NW', 300)).toBe('Oslo: 3°C, cloudy, wind 5m/s NW')
    expect(toolText({ max_tokens: 100, slug: 'a-long-slug-of-many-words-that-is-no-secret' }, 300)).toContain(
      'a-long-slug-of-many-words-that-is-no-secret',
    )
    expect(toolText(undefined, 300)).toBe('')
  })

  it.each([
    [{ headers: { Authorization: 'planted4711' } }],
    [{ password: 'planted4711', api_key: 'planted4711', nested: { client_secret: 'planted4711' } }],
    ['curl -H "Authorization: Bearer planted4711.x"'],
    ['https://sb.example.com/callback/planted4711 and https://sb.example.com/inbox/planted4711'],
    ['postgres://switchboard:planted4711@db.example.com/x'],
    [{ note: `the token is ${TOKEN.slice(0, 20)}planted4711${TOKEN.slice(20)}` }],
    [{ text: 'my connection string is weird:planted4711' }],
  ])('[I9.tools-no-secret] hides credentials: %j', (value) => {
    const shown = toolText(value, 1_000, ['weird:planted4711'])
    expect(shown).toContain('[hidden]')
    expect(shown).not.toContain('planted4711')
  })

  it('is not held up by what only begins like a token, however often it does', () => {
    // A search from each beginning to the end would take minutes.
    const words = 'ab-'.repeat(200_000)
    expect(toolText(words, words.length)).toBe(words)
    expect(toolText(`${words}7`, words.length)).toBe('[hidden]')
  })

  it('takes whatever it is given: deep, wide, long', () => {
    let deep: unknown = 1
    for (let level = 0; level < 50_000; level++) deep = [deep]
    expect(toolText(deep, 300)).toBe('[[[[[["…"]]]]]]')
    expect(
      toolText(
        Array.from({ length: 10_000 }, () => 0),
        10_000,
      ),
    ).toHaveLength(105)
    expect(toolText('x'.repeat(1_000_000), 300)).toHaveLength(300)
  })
})
