// What `create` of a module gave, looked over before it takes part: modules of others are programs, and types end at their door.
import {
  type AgentConnector,
  type PlatformAdapter,
  SwitchboardError,
  type TextUnit,
} from '../contract/index.ts'

type RequiredKeys<Made> = { [Key in keyof Made]-?: object extends Pick<Made, Key> ? never : Key }[keyof Made]
/** Every member that must be there, and whether it can be what it should: a new one of the contract is missed here by the compiler. */
type Members<Made> = Readonly<Record<RequiredKeys<Made>, (value: unknown) => boolean>>

const isFunction = (value: unknown) => typeof value === 'function'
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const oneOf =
  (...words: readonly unknown[]) =>
  (value: unknown) =>
    words.includes(value)
const at = (value: object, key: string): unknown => Reflect.get(value, key)

const UNITS: Readonly<Record<TextUnit, true>> = { 'code-points': true, 'utf-16': true, bytes: true }

const OF_PLATFORMS: Members<PlatformAdapter> = {
  abilities: isObject,
  textLimit: (value) =>
    isObject(value) && Number(at(value, 'size')) > 0 && Object.hasOwn(UNITS, String(at(value, 'unit'))),
  markdown: (value) =>
    value === 'written' ||
    (isObject(value) &&
      isFunction(at(value, 'render')) &&
      ['undefined', 'function'].includes(typeof at(value, 'literal'))),
  sendFrom: oneOf('any', 'link-holder'),
  start: isFunction,
  send: isFunction,
  link: isFunction,
  stop: isFunction,
}

const OF_CONNECTORS: Members<AgentConnector> = {
  redelivery: (value) =>
    isObject(value) &&
    oneOf('again', 'give-up', 'wait')(at(value, 'handed')) &&
    oneOf('again', 'resume', 'give-up', 'wait')(at(value, 'seen')) &&
    typeof at(value, 'afterTimeout') === 'boolean',
  window: (value) => Number(value) >= 1,
  holdsDecisions: oneOf(true, false),
  start: isFunction,
  deliver: isFunction,
  stop: isFunction,
}

/** Throws `config_invalid` that names what is missing, or is not what it should be. */
export const validatePlatform = <Made extends object>(made: Made) => whole(made, OF_PLATFORMS, 'an adapter')
export const validateConnector = <Made extends object>(made: Made) =>
  whole(made, OF_CONNECTORS, 'a connector')

function whole<Made extends object>(
  made: Made,
  members: Readonly<Record<string, (value: unknown) => boolean>>,
  what: string,
): Made {
  const given: unknown = made
  if (!isObject(given))
    throw new SwitchboardError('config_invalid', `its create gave ${String(given)}, not ${what}`)
  const lacking = Object.entries(members).filter(([name, isRight]) => !isRight(at(given, name)))
  if (lacking.length === 0) return made
  const names = lacking.map(([name]) => name).join(', ')
  throw new SwitchboardError('config_invalid', `its create gave ${what} without ${names}`)
}
