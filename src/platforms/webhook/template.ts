// Templates over what a sender sent: Liquid, cut down to conditions, loops and filters that only shape text. It runs no
// code, reads no file, sees own properties alone, and ends in bounded time and size (docs/decisions/0010-templates-of-webhooks.md).
import { createRequire } from 'node:module'
import type { Context, Emitter, Liquid, Template as Parsed } from 'liquidjs'
import { SwitchboardError } from '../../contract/index.ts'

export type Scope = Readonly<Record<string, unknown>>

/** Throws `input_invalid` when what was sent makes it too long, or takes too long. */
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
/** What may be written before it is given up: the rest of a long text is cut, that of an endless one is not waited for. */
const MAX_WRITTEN_CHARS = 1_000_000
/** Work that a body of a mebibyte can make of loops over it: more is no message. */
const MAX_RENDER_MS = 250
const MAX_MEMORY = 4_000_000

interface Engine {
  readonly library: typeof import('liquidjs')
  readonly liquid: Liquid
}

let engine: Engine | null = null

/** Loaded by the first hook that has a template: it takes 50 ms. `require`, for options are checked without a promise. */
function loadEngine(): Engine {
  if (engine !== null) return engine
  const library = createRequire(import.meta.url)('liquidjs') as typeof import('liquidjs')
  const made = new library.Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    dynamicPartials: false,
    relativeReference: false,
    // The same names of days on every machine; to ask which language this one has takes 12 ms of a start.
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

/** Throws `input_invalid` that says what is wrong, and where. */
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

/** By processor time: on a busy machine the clock runs on while nothing is done, and what was sent is no less a message. */
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

/** What Liquid takes for a value of its own, and for a question about one. */
const LITERALS = ['true', 'false', 'nil', 'null', 'empty', 'blank']
const QUESTIONS = ['size', 'first', 'last']
const MOST_PATH_CHARS = 200

/**
 * The steps to a field where the template is that field and nothing else, as most of those for a conversation or an id
 * are: it is read without the engine, which takes longer for it than for parsing the body. Null: it says more.
 */
function fieldIn(written: string): readonly string[] | null {
  if (written.length > MOST_PATH_CHARS) return null
  const [, path = ''] = /^\{\{ *([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*) *\}\}$/.exec(written) ?? []
  const steps = path.split('.')
  const isPlain = path !== '' && !LITERALS.includes(steps[0] ?? '')
  return isPlain && !steps.some((step) => QUESTIONS.includes(step)) ? steps : null
}

/** As the engine reads it: own properties alone, whatever holds them. */
function fieldAt(scope: Scope, steps: readonly string[]): unknown {
  let value: unknown = scope
  for (const step of steps) {
    if (value === undefined || value === null) return undefined
    value = Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined
  }
  return value
}

/** Takes what is written up to the longest text, then counts, then gives up. */
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

/** The engine's own words, without the excerpt, the stack, or anything that was sent. */
function problemOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : 'it failed'
  return text.split('\n', 1)[0]?.slice(0, 200) ?? ''
}

/** `{{a.b.0.c/d}}`, as it could always be written: names that Liquid would not take are put into brackets. */
function plainPaths(written: string): string {
  return written.replace(/\{\{\s*([^\s{}|"'[\]()]{1,200})\s*\}\}/g, (whole, path: string) => {
    if (/^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/.test(path)) return whole
    const [first = '', ...steps] = path.split('.')
    const inside = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `["${step}"]`)).join('')
    return `{{ ${/^[A-Za-z_][\w-]*$/.test(first) ? first : `body["${first}"]`}${inside} }}`
  })
}

/** What is missing is nothing, and an object is its JSON. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // Nested so deep that it has no text.
    return ''
  }
}
