// A tool call of an ACP agent for a person: it is shown whole. Otherwise the call is refused.
import { describe, expect, it } from 'vitest'
import { createToolCalls, shownInput } from './tool-calls.ts'

const MOST = 100_000

const merged = (update: object) => createToolCalls().merge({ toolCallId: 'c', ...update })
const shown = (update: object) => shownInput(merged(update), MOST)

describe('[I35.b3] an approval of a tool call shows', () => {
  it('a long title whole, with its line breaks, under a short name', () => {
    const title = `cat notes.txt\n${'# padding\n'.repeat(70)}rm -rf ~/work`
    expect(title.length).toBeGreaterThan(700)
    const call = merged({ title })
    expect(call.title).toMatch(/^cat notes\.txt # padding .*…$/)
    expect(call.title.length).toBeLessThanOrEqual(100)
    expect(shownInput(call, MOST)).toBe(title)
  })

  it('the title beside the arguments where one line does not hold it', () => {
    const title = 'echo one\nrm two'
    expect(shown({ title, rawInput: { command: 'echo one' } })).toBe(
      `${title}\n\n{\n  "command": "echo one"\n}`,
    )
    expect(shown({ title: 'write', rawInput: { path: 'a' } })).toBe('{\n  "path": "a"\n}')
    expect(shown({ title: 'write' })).toBe('write')
  })

  it('changes to files, text, places, and content of unknown forms', () => {
    const content = [
      { type: 'diff', path: '/a', oldText: 'old', newText: 'new' },
      { type: 'content', content: { type: 'text', text: 'two\nlines' } },
      { type: 'content', content: { type: 'resource', resource: { uri: 'file:///b', text: 'inside' } } },
      { type: 'terminal', terminalId: 't-1' },
      { type: 'diff', path: '/c', newText: ['odd'] },
    ]
    const all = shown({ title: 'many', content, locations: [{ path: '/a', line: 3 }] })
    for (const part of [
      '--- /a\nold\n+++ /a\nnew',
      'two\nlines',
      'inside',
      't-1',
      '"odd"',
      'Where:',
      '"line": 3',
    ])
      expect(all).toContain(part)
  })

  it('nothing of what is too long: it cannot be asked about', () => {
    expect(shown({ title: 'x'.repeat(MOST + 1) })).toBeNull()
    expect(shown({ title: 'a', rawInput: 'x'.repeat(MOST + 1) })).toBeNull()
    expect(shown({ title: 'a', locations: [{ path: 'x'.repeat(MOST) }] })).toBeNull()
    expect(shown({ title: 'x'.repeat(MOST / 2), rawInput: 'y'.repeat(MOST / 2) })).toBeNull()
  })
})

describe('[I35.b3-unknown-fields] an approval of a tool call shows', () => {
  it.each<[string, object, readonly string[]]>([
    ['its kind', { title: 'tidy up', kind: 'delete' }, ['tidy up', 'Kind: delete']],
    ['a field of the call', { title: 'ls', command: 'rm -rf ~' }, ['"command": "rm -rf ~"']],
    ['its meta', { title: 'ls', _meta: { env: 'PATH=/tmp' } }, ['PATH=/tmp']],
    ['a title that is none', { title: { run: 'rm -rf ~' } }, ['"run": "rm -rf ~"']],
    ['a kind that is none', { title: 'ls', kind: ['delete'] }, ['"delete"']],
    ['a place that is no list', { title: 'ls', locations: { path: '/etc' } }, ['"path": "/etc"']],
    ['content that is no list', { title: 'ls', content: 'rm -rf ~' }, ['rm -rf ~']],
    ['content that is a text', { title: 'ls', content: ['rm -rf ~', null] }, ['rm -rf ~', 'null']],
    [
      'a field beside a text',
      {
        title: 'ls',
        content: [{ type: 'content', content: { type: 'text', text: 'harmless' }, command: 'rm -rf ~' }],
      },
      ['harmless', '"command": "rm -rf ~"'],
    ],
    [
      'a field within a text',
      {
        title: 'ls',
        content: [{ type: 'content', content: { type: 'text', text: 'harmless', command: 'rm -rf ~' } }],
      },
      ['harmless', '"command": "rm -rf ~"'],
    ],
    [
      'a field of a change',
      {
        title: 'ls',
        content: [{ type: 'diff', path: '/a', newText: 'new', mode: '04755', deletes: ['/b'] }],
      },
      ['--- /a\n(new file)\n+++ /a\nnew\nAlso:', '"mode": "04755"', '"/b"'],
    ],
  ])('%s', (_, update, parts) => {
    for (const part of parts) expect(shown(update)).toContain(part)
  })

  it('what was said before of a call that comes behind thousands of others; nothing where too many are open', () => {
    const command = { rawInput: { command: 'rm -rf ~/work' } }
    const asked = (status: string) => {
      const calls = createToolCalls()
      for (let at = 0; at < 5_000; at++) calls.merge({ toolCallId: `c${at}`, title: 'read', status } as never)
      calls.merge({ toolCallId: 'last', title: 'Run', ...command })
      return shownInput(calls.merge({ toolCallId: 'last', title: 'Run' }), MOST)
    }
    expect(asked('completed')).toContain('rm -rf ~/work')
    expect(asked('in_progress')).toBeNull()
  })

  it('what an update before it said, and what itself says', () => {
    const calls = createToolCalls()
    calls.merge({ toolCallId: 'c', title: 'ls', command: 'rm -rf ~', target: 'a' } as never)
    const all = shownInput(calls.merge({ toolCallId: 'c', target: 'b' } as never), MOST)
    expect(all).toContain('"command": "rm -rf ~"')
    expect(all).toContain('"target": "b"')
  })

  it('nothing where an unknown field is too long to be shown', () => {
    const long = { run: 'x'.repeat(MOST) }
    expect(shown({ title: long })).toBeNull()
    expect(shown({ title: 'ls', command: long })).toBeNull()
    expect(shown({ content: [{ type: 'diff', path: '/a', newText: 'x', mode: long }] })).toBeNull()
  })
})
