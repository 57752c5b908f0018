// What a request means, by its recipe and by the configuration, which takes precedence. The result is text and names.
// The core judges access and duplicates.
import { asSwitchboardError, type RequestHead, SwitchboardError } from '../../contract/index.ts'
import { RECIPES, type RecipeName } from './recipes/index.ts'
import type { Recipe } from './recipes/recipe.ts'
import { lookUp, parseJson, structured } from './structure.ts'
import { compileTemplate, type Scope, type Template } from './template.ts'
import { holds, type When } from './when.ts'

export interface MeaningOptions {
  readonly recipe?: RecipeName | undefined
  readonly when?: When | undefined
  readonly template?: string | undefined
  readonly conversation?: string | undefined
  readonly message_id?: string | undefined
  readonly sender?: string | undefined
}

/** The makers of the message's parts; null: not configured. */
interface Makers {
  readonly text: Template | null
  readonly conversation: Template | null
  readonly messageId: Template | null
  readonly sender: Template | null
}

interface CompiledRecipe extends Pick<Recipe, 'inside' | 'takesAny' | 'needs'> {
  readonly name: RecipeName
  readonly event: Template
  readonly conversation: Template
  readonly messageId: Template | null
  readonly author: Template | null
  textOf(event: string): Template | null
  /** Whether the event only confirms that the hook is set up. */
  isPing(event: string): boolean
}

export interface Meaning {
  readonly makers: Makers
  readonly when: When | null
  readonly recipe: CompiledRecipe | null
}

/** Absent fields were not given. */
interface Names {
  readonly conversation: string
  readonly messageId: string
  /** `messageId` uses headers or the query, which no signature covers. */
  readonly unsignedId: boolean
  readonly sender: string
  readonly author: string
  readonly event: string
}

export type Understood =
  | { readonly kind: 'message'; readonly text: string; readonly names: Names }
  | { readonly kind: 'filtered'; readonly names: Names }
  | { readonly kind: 'unparsable'; readonly problem: string }

/** Returns null when nothing is configured: the body is the message. Throws `input_invalid` naming the key. */
export function readMeaning(options: MeaningOptions): Meaning | null {
  const compile = (key: 'template' | 'conversation' | 'message_id' | 'sender') => {
    const written = options[key]
    if (written === undefined) return null
    try {
      return compileTemplate(written)
    } catch (thrown) {
      throw new SwitchboardError('input_invalid', `${key}: ${asSwitchboardError(thrown).message}`)
    }
  }
  const makers: Makers = {
    text: compile('template'),
    conversation: compile('conversation'),
    messageId: compile('message_id'),
    sender: compile('sender'),
  }
  const recipe = options.recipe === undefined ? null : compileRecipe(options.recipe)
  const says =
    recipe !== null || options.when !== undefined || Object.values(makers).some((one) => one !== null)
  return says ? { makers, when: options.when ?? null, recipe } : null
}

function compileRecipe(name: RecipeName): CompiledRecipe {
  const recipe: Recipe = RECIPES[name]
  const texts = new Map(Object.entries(recipe.texts).map(([event, text]) => [event, compileTemplate(text)]))
  const other = recipe.other === undefined ? null : compileTemplate(recipe.other)
  return {
    ...recipe,
    name,
    event: compileTemplate(recipe.event),
    conversation: compileTemplate(recipe.conversation),
    messageId: recipe.messageId === undefined ? null : compileTemplate(recipe.messageId),
    author: recipe.author === undefined ? null : compileTemplate(recipe.author),
    textOf: (event) => texts.get(event) ?? other,
    isPing: (event) => Object.hasOwn(recipe.texts, event) && recipe.texts[event] === '',
  }
}

/** Never throws. `hidden`: headers with credentials, which templates cannot read. */
export function understand(
  meaning: Meaning,
  body: string,
  head: RequestHead,
  hidden: readonly string[],
): Understood {
  const data = structured(body, String(head.headers['content-type'] ?? ''))
  const { recipe, makers } = meaning
  const needsStructure = recipe === null ? makers.text !== null : recipe.takesAny !== true
  if (data === undefined && needsStructure) {
    const what = recipe === null ? 'the template' : 'the recipe'
    return { kind: 'unparsable', problem: `${what} needs a JSON or form body` }
  }
  try {
    const outside = { asked: false }
    return inWords(meaning, body, scopeOf(data ?? body, head, hidden, outside, recipe?.inside), outside)
  } catch (thrown) {
    return { kind: 'unparsable', problem: asSwitchboardError(thrown).message }
  }
}

function inWords(
  { recipe, makers, when }: Meaning,
  body: string,
  scope: Record<string, unknown>,
  outside: Outside,
): Understood {
  const event = (recipe?.event(scope) ?? '').trim()
  if (event !== '') nameEvent(scope, event, outside)
  const say = (...makings: readonly (Template | null | undefined)[]) => {
    for (const make of makings) {
      const text = make?.(scope).trim() ?? ''
      if (text !== '') return text
    }
    return ''
  }
  outside.asked = false
  const messageId = say(makers.messageId, recipe?.messageId)
  const unsignedId = outside.asked
  const names: Names = {
    ...{ messageId, unsignedId },
    conversation: say(makers.conversation, recipe?.conversation),
    sender: say(makers.sender),
    author: say(recipe?.author),
    event,
  }
  if (when !== null && !holds(when, scope)) return { kind: 'filtered', names }
  if (recipe === null) return { kind: 'message', text: makers.text?.(scope) ?? body, names }
  // A ping is no message, whatever a custom template makes of it. It has no subject: GitHub's organisations and Apps
  // send one without a repository.
  if (recipe.isPing(event)) return { kind: 'filtered', names }
  const make = recipe.textOf(event)
  if (make === null && makers.text === null) return { kind: 'filtered', names }
  if (makers.text === null && lacks(recipe, scope.body))
    return { kind: 'unparsable', problem: `it is no event of ${recipe.name}: it has no ${recipe.needs}` }
  const said = make === null ? null : tidy(make(scope))
  if (said === '' && recipe.takesAny !== true) return { kind: 'filtered', names }
  if (makers.text !== null) return { kind: 'message', text: makers.text(scope), names }
  return { kind: 'message', text: said === '' ? body : (said ?? body), names }
}

function lacks({ needs }: CompiledRecipe, body: unknown): boolean {
  if (needs === undefined) return false
  const value = lookUp(body, needs)
  return value === undefined || value === null || value === ''
}

/** Drops lines that came out empty because a field was missing. */
function tidy(text: string): string {
  return text
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** Whether a template used headers or the query, which no signature over the body covers. */
interface Outside {
  asked: boolean
}

/** An event named by a header is as unsigned as that header. */
function nameEvent(scope: Record<string, unknown>, event: string, outside: Outside): void {
  const unsigned = outside.asked
  Object.defineProperty(scope, 'event', {
    enumerable: true,
    get() {
      outside.asked ||= unsigned
      return event
    },
  })
}

/**
 * The fields of the body, and `headers`, `query`, `body` and `event`, which replace fields of these names. Headers and
 * query are built on first use, because most templates do not need them.
 */
function scopeOf(
  data: unknown,
  head: RequestHead,
  hidden: readonly string[],
  outside: Outside,
  inside: string | undefined,
): Record<string, unknown> {
  const fields = typeof data === 'object' && data !== null && !Array.isArray(data) ? data : {}
  const within = inside === undefined ? undefined : lookUp(data, inside)
  let headers: Scope | undefined
  let query: Scope | undefined
  return {
    ...fields,
    ...(typeof within === 'string' ? { inside: parseJson(within) } : {}),
    get headers() {
      outside.asked = true
      headers ??= shownHeaders(head, hidden)
      return headers
    },
    get query() {
      outside.asked = true
      query ??= Object.fromEntries(head.query)
      return query
    },
    body: data,
  }
}

function shownHeaders(head: RequestHead, hidden: readonly string[]): Scope {
  return Object.fromEntries(
    Object.entries(head.headers).filter(
      ([name, value]) => typeof value === 'string' && !hidden.includes(name),
    ),
  )
}
