// Checks what `create` of a module returned, before it takes part. Modules of third parties are programs that no compiler
// of ours has checked.
import {
  type AgentConnector,
  type PlatformAdapter,
  SwitchboardError,
  type TextUnit,
} from '../contract/index.ts'

/** Returns the paths of the members that are missing or wrong. */
type Shape = (value: unknown, path: string) => readonly string[]
/** Every member of the contract has a row, so the compiler reports a new one that has none. */
type Members<Made> = { readonly [Key in keyof Made]-?: Shape }

const isFunction = (value: unknown) => typeof value === 'function'
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const at = (value: object, key: string): unknown => Reflect.get(value, key)

const is =
  (check: (value: unknown) => boolean): Shape =>
  (value, path) =>
    check(value) ? [] : [path]
const oneOf = (...words: readonly unknown[]) => is((value) => words.includes(value))
const maybe =
  (shape: Shape): Shape =>
  (value, path) =>
    value === undefined ? [] : shape(value, path)
const group =
  (members: Readonly<Record<string, Shape>>): Shape =>
  (value, path) =>
    isObject(value)
      ? Object.entries(members).flatMap(([name, shape]) => shape(at(value, name), `${path}.${name}`))
      : [path]

const method = is(isFunction)
const mayDo = maybe(method)
const mayBeTrue = maybe(oneOf(true))

const UNITS: Readonly<Record<TextUnit, true>> = { 'code-points': true, 'utf-16': true, bytes: true }
const TEXT_LIMIT = is(
  (value) =>
    isObject(value) && Number(at(value, 'size')) > 0 && Object.hasOwn(UNITS, String(at(value, 'unit'))),
)
const MARKDOWN = is(
  (value) =>
    value === 'written' ||
    (isObject(value) &&
      isFunction(at(value, 'render')) &&
      ['undefined', 'function'].includes(typeof at(value, 'literal'))),
)

const OF_PLATFORMS: Members<PlatformAdapter> = {
  abilities: group({
    textLimit: TEXT_LIMIT,
    markdown: maybe(MARKDOWN),
    sendFrom: maybe(oneOf('any', 'link-holder')),
  }),
  start: method,
  send: method,
  stop: method,
  endpoint: maybe(group({ at: maybe(oneOf('inbox')), verify: method, handle: method })),
  link: maybe(group({ state: method, who: mayDo, renew: mayDo, probe: mayDo })),
  pace: maybe(group({ take: method, giveBack: method })),
  reconcile: mayDo,
  signal: mayDo,
  streaming: maybe((value, path) => {
    const edits = group({ by: oneOf('edits'), everyMs: is((ms) => Number(ms) >= 0), revise: method })
    return isObject(value) && at(value, 'by') === 'signals' ? [] : edits(value, path)
  }),
  status: maybe(group({ show: method, remove: method })),
  files: maybe(group({ keep: mayDo, download: mayDo, forget: mayDo })),
  history: maybe(is(isObject)),
  watchers: maybe(group({ heard: method, listening: method })),
  channel: maybe(is(isObject)),
  checks: maybe(group({ gates: mayDo, sample: mayDo, trial: mayDo })),
  configChanged: mayDo,
}

const OF_CONNECTORS: Members<AgentConnector> = {
  redelivery: is(
    (value) =>
      isObject(value) &&
      ['again', 'give-up', 'wait'].includes(String(at(value, 'handed'))) &&
      ['again', 'resume', 'give-up', 'wait'].includes(String(at(value, 'seen'))) &&
      typeof at(value, 'afterTimeout') === 'boolean',
  ),
  window: is((value) => Number(value) >= 1),
  holdsDecisions: oneOf(true, false),
  start: method,
  deliver: method,
  stop: method,
  fetchesVerdicts: mayBeTrue,
  finishMs: maybe(is((value) => Number(value) >= 0)),
  endsTurns: mayBeTrue,
  overlaps: mayBeTrue,
  mints: maybe(is(Array.isArray)),
  room: mayDo,
  windowOf: mayDo,
  crowded: mayDo,
  prepare: mayDo,
  takeUp: mayDo,
  whereIs: mayDo,
  unseenBecause: maybe(is((value) => typeof value === 'string')),
  verdict: mayDo,
  cancel: mayDo,
  processes: mayDo,
  callback: mayDo,
}

/** Throws `config_invalid` that names what is missing or wrong. */
export const validatePlatform = <Made extends object>(made: Made) => whole(made, OF_PLATFORMS, 'an adapter')
export const validateConnector = <Made extends object>(made: Made) =>
  whole(made, OF_CONNECTORS, 'a connector')

function whole<Made extends object>(
  made: Made,
  members: Readonly<Record<string, Shape>>,
  what: string,
): Made {
  const given: unknown = made
  if (!isObject(given))
    throw new SwitchboardError('config_invalid', `its create gave ${String(given)}, not ${what}`)
  const wrong = Object.entries(members).flatMap(([name, shape]) => shape(at(given, name), name))
  if (wrong.length === 0) return made
  throw new SwitchboardError(
    'config_invalid',
    `its create gave ${what} with missing or wrong members: ${wrong.join(', ')}`,
  )
}
