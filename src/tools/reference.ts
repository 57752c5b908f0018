// docs/reference/tools.md, made from the tools.
import { inputSchemaOf, TOOLS } from './index.ts'
import type { Tool } from './tool.ts'

interface Property {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Property
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
}

export function toolsReference(): string {
  return [
    '# Tools',
    '',
    'What an agent can call, at `/mcp` and wherever else it is attached. Arguments that are not listed change nothing; a',
    'wrong or missing one gives an error that names it. A result has a text, and fields for programs: `ok`, `status`',
    '(`sent`, `deduplicated`, `queued`, `failed`), `platform_ids`, `outbox_id`, `code`, `error`, where they apply.',
    '`failed` with the code `outcome_unknown` means that the message may have arrived: it is `unknown` in the outbox.',
    '',
    ...TOOLS.flatMap(section),
  ].join('\n')
}

function section(tool: Tool): readonly string[] {
  const { properties = {}, required = [] } = inputSchemaOf(tool) as {
    readonly properties?: Readonly<Record<string, Property>>
    readonly required?: readonly string[]
  }
  const rows = Object.entries(properties).map(
    ([name, one]) =>
      `| \`${name}\` | ${typeOf(one)} | ${required.includes(name) ? 'yes' : 'no'} | ${plain(one.description ?? '')} |`,
  )
  const table = ['| argument | type | required | meaning |', '|---|---|---|---|', ...rows, '']
  return [
    `## ${tool.name}`,
    '',
    plain(tool.description),
    '',
    ...(rows.length === 0 ? ['It takes no arguments.', ''] : table),
    ...(tool.needs === undefined ? [] : ['Offered to agents with `channels`.', '']),
    `${tool.readOnly ? 'Reads only.' : 'Acts.'} Its result has at most ${tool.maxResultChars} characters.`,
    '',
  ]
}

function typeOf(one: Property): string {
  const range = one.maximum === undefined ? '' : ` ${one.minimum}–${one.maximum}`
  const preset = one.default === undefined ? '' : `, default ${JSON.stringify(one.default)}`
  if (one.enum !== undefined) return one.enum.map((value) => `\`${value}\``).join(' \\| ')
  if (one.type === 'array') return `list of ${one.items?.type ?? 'values'}`
  return `${one.type ?? 'value'}${range}${preset}`
}

/** Escapes text so that it is neither a tag nor the edge of a cell. */
function plain(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<')
}
