// Errors about what was typed: a flag, a word, an answer. The command line adds the usage of the command to them.
import { defined, SwitchboardError } from '../contract/index.ts'

const aboutUsage = new WeakSet<object>()

export function usage(message: string, hint?: string): SwitchboardError {
  const error = new SwitchboardError('input_invalid', message, defined({ hint }))
  aboutUsage.add(error)
  return error
}

export const isAboutUsage = (error: object): boolean => aboutUsage.has(error)
