// An agent is changed in the file, and everything else stays as the person wrote it.
import { describe, expect, it } from 'vitest'
import { editFile } from './edit-file.ts'

const FILE = `# top
integrations:
  - { id: web, platform: web }

agents: # who answers
  - id: kate
    connector: { type: demo }
    # how it is reached
    inbound_bindings:
      - { plugin: web, instance: web }
    # notify_on: failure

  # - id: old
  #   connector: { type: demo }

# closing words
#   of the file
`

describe('[I35.b43] comments stay where they were', () => {
  it('when a key is set or taken away', () => {
    const line = '      - { plugin: web, instance: web }\n'
    expect(editFile(FILE, [{ kind: 'set', id: 'kate', path: ['notify_on'], value: 'failure' }])).toBe(
      FILE.replace(line, `${line}    notify_on: failure\n`),
    )
    expect(editFile(FILE, [{ kind: 'set', id: 'kate', path: ['connector', 'type'], value: 'llm' }])).toBe(
      FILE.replace('{ type: demo }\n    # how', '{ type: llm }\n    # how'),
    )
    const edits = [
      { kind: 'set', id: 'kate', path: ['notify_on'], value: 'failure' },
      { kind: 'set', id: 'kate', path: ['notify_on'], value: undefined },
    ] as const
    expect(editFile(FILE, edits)).toBe(FILE)
  })

  it('behind the agent in the middle, and behind one that is followed by another key', () => {
    const more = FILE.replace(
      '# closing words',
      '  - id: otto\n    connector: { type: demo }\n# of the tunables\ntunables: { max_attempts: 3 }\n# closing words',
    )
    for (const id of ['kate', 'otto']) {
      const set = editFile(more, [{ kind: 'set', id, path: ['notify_on'], value: 'both' }])
      expect(set.replace('    notify_on: both\n', '')).toBe(more)
    }
  })

  it('also where lines end as on Windows', () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n')
    for (const edit of [
      { kind: 'set', id: 'kate', path: ['notify_on'], value: 'failure' },
      { kind: 'add', to: ['agents'], item: { id: 'otto', connector: { type: 'demo' } } },
      { kind: 'remove', id: 'kate' },
    ] as const)
      expect(editFile(crlf(FILE), [edit])).toBe(crlf(editFile(FILE, [edit])))
  })

  it('when the only agent is removed, or one of two', () => {
    const agent = FILE.slice(FILE.indexOf('  - id: kate'), FILE.indexOf('    # notify_on'))
    expect(editFile(FILE, [{ kind: 'remove', id: 'kate' }])).toBe(
      FILE.replace(agent, '').replace('agents: #', 'agents: [] #'),
    )
    const two = FILE.replace('# closing', '  - id: otto\n    connector: { type: demo }\n# closing')
    expect(editFile(two, [{ kind: 'remove', id: 'otto' }])).toBe(FILE)
  })

  it('and a file that cannot be changed by its lines is changed all the same', () => {
    const flow = 'agents: [{ id: kate, connector: { type: demo } }]\n# closing words\n'
    const set = { kind: 'set', id: 'kate', path: ['notify_on'], value: 'both' } as const
    expect(editFile(flow, [set])).toContain('notify_on: both')
    const shared = 'shared: &demo { type: demo }\nagents:\n  - id: kate\n    connector: *demo\n# closing\n'
    // In YAML 1.1 the word yes is no text, which the lines of the agent alone do not tell.
    const older = '%YAML 1.1\n---\nagents:\n  - id: kate\n    connector: { type: demo }\n'
    expect(
      editFile(older, [{ kind: 'set', id: 'kate', path: ['connector', 'system'], value: 'yes' }]),
    ).toMatch(/system: ["']yes["']/)
    expect(editFile(shared, [set])).toMatch(/connector: \*demo\n {4}notify_on: both/)
  })
})
