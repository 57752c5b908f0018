// Templates over a request: Liquid, limited to conditions, loops and filters that shape text. It runs no code, reads no
// file, sees only own properties, and is bounded in time and size (docs/decisions/0010-templates-of-webhooks.md).
import { createRequire } from 'node:module'
import type { Context, Emitter, Liquid, Template as Parsed } from 'liquidjs'
import { SwitchboardError } from '../../contract/index.ts'

export type Scope = Readonly<Record<string, unknown>>

/** Throws `input_invalid` when the request makes it too long or too slow. */
export type Template = (scope: Scope) => string

const TAGS = ['assign', 'break', 'case', 'comment', 'continue', 'for', 'if', 'raw', 'unless', '#', 'echo']
const FILTERS = [
  ...[
    'append',
    'capitalize',
    'compact',
    'date',
    'default',
    'divided_by',
    'downcase',
    'escape',
    'first',
    'join',
    'json',
  ],
  ...[
    'jsonify',
    'last',
    'lstrip',
    'map',
    'minus',
    'plus',
    'prepend',
    'remove',
    'remove_first',
    'replace',
    'round',
  ],
  ...[
    'replace_first',
    'reverse',
    'rstrip',
    'size',
    'slice',
    'sort',
    'split',
    'strip',
    'strip_newlines',
    'times',
  ],
  ...['truncate', 'truncatewords', 'uniq', 'upcase', 'url_decode', 'url_encode', 'where'],
]
const MAX_TEMPLATE_CHARS = 20_000
const MAX_TEXT_CHARS = 100_000
/** The most text that is written before it gives up. */
const MAX_WRITTEN_CHARS = 1_000_000
/** Enough for loops over a body of one mebibyte. */
const MAX_RENDER_MS = 250
const MAX_MEMORY = 4_000_000

interface Engine {
  readonly library: typeof import('liquidjs')
  readonly liquid: Liquid
}

let engine: Engine | null = null

/** Loaded by the first hook with a template, in 50 ms. By `require`, because options are checked synchronously. */
function loadEngine(): Engine {
  if (engine !== null) return engine
  const library = createRequire(import.meta.url)('liquidjs') as typeof import('liquidjs')
  const made = new library.Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    dynamicPartials: false,
    relativeReference: false,
    // A fixed locale gives the same names of days everywhere. Detecting the machine's takes 12 ms.
    locale: 'en-US',
    templates: {},
    parseLimit: MAX_TEMPLATE_CHARS,
    memoryLimit: MAX_MEMORY,
    outputEscape: shown,
  })
  for (const name of Object.keys(made.tags)) if (!TAGS.includes(name)) delete made.tags[name]
  for (const name of Object.keys(made.filters)) if (!FILTERS.includes(name)) delete made.filters[name]
  engine = { library, liquid: made }
  return engine
}

/** Throws `input_invalid` saying what is wrong, and where. */
export function compileTemplate(written: string): Template {
  const steps = fieldIn(written)
  if (steps !== null) return filledBy((scope, page) => page.write(shown(fieldAt(scope, steps))))
  const { library, liquid } = loadEngine()
  let parsed: Parsed[]
  try {
    parsed = liquid.parse(plainPaths(written))
  } catch (thrown) {
    throw new SwitchboardError('input_invalid', problemOf(thrown))
  }
  return filledBy((scope, page) => {
    const context = new library.Context(scope, liquid.options, { sync: true }, { liquid })
    limitWork(context)
    library.toValueSync(liquid.renderer.renderTemplates(parsed, context, page))
  })
}

/** Limits processor time, because on a busy machine real time passes without work. */
function limitWork({ renderLimit }: Context): void {
  const began = process.cpuUsage()
  let lookAt: number | null = null
  renderLimit.check = (now) => {
    lookAt ??= now + MAX_RENDER_MS
    if (now <= lookAt) return
    const { user, system } = process.cpuUsage(began)
    const usedMs = (user + system) / 1_000
    if (usedMs > MAX_RENDER_MS) throw new RangeError('template render limit exceeded')
    lookAt = now + MAX_RENDER_MS - usedMs
  }
}

function filledBy(fill: (scope: Scope, page: Emitter) => void): Template {
  return (scope) => {
    const page = createPage()
    try {
      fill(scope, page)
    } catch (thrown) {
      throw new SwitchboardError('input_invalid', `the template could not be filled: ${problemOf(thrown)}`)
    }
    return page.buffer
  }
}

/** Words that Liquid reads as literals. */
const LITERALS = ['true', 'false', 'nil', 'null', 'empty', 'blank']
const QUESTIONS = ['size', 'first', 'last']
const MOST_PATH_CHARS = 200

/**
 * Returns the steps to a field if the template is only that field, as most templates for a conversation or an id are.
 * It is then read without the engine, which is slower than parsing the body. Null: the template contains more.
 */
function fieldIn(written: string): readonly string[] | null {
  if (written.length > MOST_PATH_CHARS) return null
  const [, path = ''] = /^\{\{ *([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*) *\}\}$/.exec(written) ?? []
  const steps = path.split('.')
  const isPlain = path !== '' && !LITERALS.includes(steps[0] ?? '')
  return isPlain && !steps.some((step) => QUESTIONS.includes(step)) ? steps : null
}

/** Reads like the engine: own properties only. */
function fieldAt(scope: Scope, steps: readonly string[]): unknown {
  let value: unknown = scope
  for (const step of steps) {
    if (value === undefined || value === null) return undefined
    value = Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined
  }
  return value
}

/** Collects text up to the longest message, then only counts, then gives up. */
function createPage(): Emitter {
  let written = 0
  const page: Emitter = {
    buffer: '',
    write(piece: unknown) {
      const text = String(piece ?? '')
      written += text.length
      if (written > MAX_WRITTEN_CHARS) throw new RangeError('text limit exceeded')
      const room = MAX_TEXT_CHARS - page.buffer.length
      if (room < 0) return
      page.buffer += text.length <= room ? text : `${text.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')}…`
    },
  }
  return page
}

/** The engine's own message, without excerpt, stack, or content of the request. */
function problemOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : 'it failed'
  return text.split('\n', 1)[0]?.slice(0, 200) ?? ''
}

/** Supports `{{a.b.0.c/d}}`: puts names that Liquid does not accept into brackets. */
function plainPaths(written: string): string {
  return written.replace(/\{\{\s*([^\s{}|"'[\]()]{1,200})\s*\}\}/g, (whole, path: string) => {
    if (/^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/.test(path)) return whole
    const [first = '', ...steps] = path.split('.')
    const inside = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `["${step}"]`)).join('')
    return `{{ ${/^[A-Za-z_][\w-]*$/.test(first) ? first : `body["${first}"]`}${inside} }}`
  })
}

/** A missing value is empty, and an object is shown as JSON. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // It is nested too deep to be serialised.
    return ''
  }
}
