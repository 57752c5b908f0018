// What `create` of a module gave, looked over before it takes part: modules of others are programs, and types end at their door.
import { SwitchboardError } from '../contract/index.ts'

const OF_PLATFORMS = {
  start: 'function',
  send: 'function',
  link: 'function',
  stop: 'function',
  abilities: 'object',
}
const OF_CONNECTORS = { start: 'function', deliver: 'function', stop: 'function', redelivery: 'object' }

/** Throws `config_invalid` that names what is missing. */
export const wholePlatform = <Made extends object>(made: Made) => whole(made, OF_PLATFORMS, 'an adapter')
export const wholeConnector = <Made extends object>(made: Made) => whole(made, OF_CONNECTORS, 'a connector')

function whole<Made extends object>(
  made: Made,
  members: Readonly<Record<string, string>>,
  what: string,
): Made {
  const given: unknown = made
  if (typeof given !== 'object' || given === null)
    throw new SwitchboardError('config_invalid', `its create gave ${String(given)}, not ${what}`)
  const lacking = Object.entries(members).filter(
    ([name, kind]) =>
      typeof (given as Record<string, unknown>)[name] !== kind || Reflect.get(given, name) === null,
  )
  if (lacking.length === 0) return made
  const names = lacking.map(([name]) => name).join(', ')
  throw new SwitchboardError('config_invalid', `its create gave ${what} without ${names}`)
}
