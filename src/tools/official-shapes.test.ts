// The tools beside those of the official Claude Code plugins: a call in the official form is understood.
import { describe, expect, it } from 'vitest'
import { defined, type ToolCaller } from '../contract/index.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { createRecordingActions } from './fixtures/recording-actions.ts'
import { callTool, inputSchemaOf, toolByName } from './index.ts'
import { saidAs } from './message-format.ts'

/** By tool and plugin: each field with its type (a list: one of its words), and `*` if it is required. */
const OFFICIAL: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'reply telegram': {
    chat_id: 'string*',
    text: 'string*',
    reply_to: 'string',
    files: 'string[]',
    format: 'text|markdownv2',
  },
  'reply discord': { chat_id: 'string*', text: 'string*', reply_to: 'string', files: 'string[]' },
  'reply imessage': { chat_id: 'string*', text: 'string*', files: 'string[]' },
  'react telegram, discord': { chat_id: 'string*', message_id: 'string*', emoji: 'string*' },
  'edit_message telegram': {
    chat_id: 'string*',
    message_id: 'string*',
    text: 'string*',
    format: 'text|markdownv2',
  },
  'edit_message discord': { chat_id: 'string*', message_id: 'string*', text: 'string*' },
  'download_attachment telegram': { file_id: 'string*' },
  'download_attachment discord': { chat_id: 'string*', message_id: 'string*' },
  'fetch_messages discord': { channel: 'string*', limit: 'number' },
}

interface Field {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Field
}

function typeOf({ type = '', enum: words, items }: Field): string {
  if (words) return words.join('|')
  if (items) return `${typeOf(items)}[]`
  return type === 'integer' ? 'number' : type
}

const toolOf = (name: string) => toolByName(name.split(' ')[0] ?? '') ?? fail()

function fail(): never {
  throw new Error('there is no such tool')
}

describe('[S11.surface] in the shapes of the official plugins', () => {
  it.each(Object.entries(OFFICIAL))('%s', (name, fields) => {
    const { properties = {}, required = [] } = inputSchemaOf(toolOf(name)) as {
      properties?: Readonly<Record<string, Field>>
      required?: readonly string[]
    }
    const theirs = Object.fromEntries(
      Object.entries(fields).map(([key, type]) => [key, type.replace('*', '')]),
    )
    const ours = Object.keys(fields).map((key) => [key, typeOf(properties[key] ?? {})])
    expect(Object.fromEntries(ours)).toEqual(theirs)
    // The official tools always pass the fields that we require.
    expect(required.filter((key) => !fields[key]?.endsWith('*'))).toEqual([])
  })

  it('fetch_messages gives 20 unless told, and at most 100', () => {
    const { properties } = inputSchemaOf(toolOf('fetch_messages')) as { properties?: Record<string, object> }
    expect(properties?.limit).toMatchObject({ default: 20, maximum: 100 })
  })
})

describe('[S11.format] format', () => {
  const CALLER: ToolCaller = { agent: 'kate', session: null, user: null, turn: null, idempotencyKey: null }
  const said = async (tool: string, format: unknown, text: string) => {
    const { actions, asked } = createRecordingActions()
    const input = { chat_id: 'tg:1', message_id: '7', text, ...defined({ format }) }
    const outcome = await callTool(toolOf(tool), {
      actions,
      caller: CALLER,
      input,
      log: createRecordingLog(),
    })
    const { text: told, plain } = (asked[0]?.input ?? {}) as { text?: string; plain?: true }
    return outcome.isError ? outcome.text : { text: told, plain }
  }

  it.each(['reply', 'edit_message'])(
    '%s: text is plain, everything else Markdown, and no word is overlooked',
    async (tool) => {
      const text = '*a* `b` 1\\.'
      expect(await said(tool, 'text', text)).toEqual({ text, plain: true })
      expect(await said(tool, undefined, text)).toEqual({ text, plain: undefined })
      expect(await said(tool, 'html', text)).toBe('format must be one of text, markdownv2')
    },
  )

  it.each([
    ['*bold* and _italic_', '**bold** and _italic_'],
    ['~struck~ __under__ ||hidden||', '~~struck~~ __under__ hidden'],
    ['1\\. a\\*b \\~ \\|\\| \\\\', '1\\. a\\*b \\~ \\|\\| \\\\'],
    ['`a*b*` and\n```py\nx = a*b ~c~\n```', '`a*b*` and\n```py\nx = a*b ~c~\n```'],
    ['[*name*](https://e.test/a*b~c)', '[**name**](https://e.test/a*b~c)'],
    ['**written as Markdown** ~~too~~', '**written as Markdown** ~~too~~'],
    ['> *quoted*', '> **quoted**'],
    ['[a](no*end\n*b*', '[a](no**end\n**b**'],
    ['[a](x_(y*z) *b* ](*)', '[a](x_(y*z) **b** ](*)'],
  ])('markdownv2 %j is read as %j', async (text, markdown) => {
    expect(await said('reply', 'markdownv2', text)).toEqual({ text: markdown, plain: undefined })
  })

  // A search for the end from each place would exceed the test's time.
  it.each(['](', '](\n', ']()', '`', '```', '*', '~', '|', '\\', '[', '](`', '*](', ']( '])(
    '[I13.md-linear] a mebibyte of %j in markdownv2 is read once',
    async (piece) => {
      const text = piece.repeat(Math.ceil(1_048_576 / piece.length))
      expect(saidAs(text, 'markdownv2').text.length).toBeGreaterThanOrEqual(piece === '|' ? 0 : text.length)
    },
  )
})
