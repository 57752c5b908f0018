// How a command fails: `error:` and `hint:` on standard error, or one JSON object there, and an exit code.
import { asSwitchboardError, SwitchboardError } from '../contract/index.ts'
import { isAboutUsage, usage } from '../setup/usage.ts'
import { wordsIn } from '../words/index.ts'
import type { Paint } from './output/colour.ts'
import { jsonLine } from './output/json-lines.ts'
import { safeLines } from './output/text.ts'

/** The one error for a data folder without a daemon. */
export function daemonAbsent(dataDir: string, startHint: string, message?: string): SwitchboardError {
  return new SwitchboardError(
    message === undefined ? 'daemon_absent' : 'execution_failed',
    message ?? `no daemon holds the data folder ${dataDir}`,
    { hint: startHint },
  )
}

export { usage }

/** What goes to standard error, and the exit code: 1 failed, 2 usage or configuration. */
export function describeFailure(
  thrown: unknown,
  options: { readonly json: boolean; readonly paint: Paint; readonly usage?: () => string },
): { readonly text: string; readonly exitCode: 1 | 2 } {
  const error = asSwitchboardError(thrown)
  const { bug, labels } = wordsIn().commandLine
  const hint = error.hint ?? (error.code === 'internal' ? bug : null)
  const exitCode = error.nature.exitCode
  if (options.json) {
    const told = { ok: false, code: error.code, error: error.message, hint }
    return { text: `${jsonLine(told)}\n`, exitCode }
  }
  const { paint } = options
  const lines = [`${paint.red(labels.error)} ${safeLines(error.message)}`]
  if (hint !== null) lines.push(`${paint.cyan(labels.hint)} ${safeLines(hint)}`)
  if (options.usage && isAboutUsage(error)) lines.push(`${paint.dim(labels.usage)} ${options.usage()}`)
  return { text: `${lines.join('\n')}\n`, exitCode }
}

/** The hint of the store promises another attempt. That is true for a running daemon only, so it is replaced here. */
export function storeAway(thrown: unknown, instead: string): unknown {
  if (!(thrown instanceof SwitchboardError) || thrown.code !== 'store_unavailable') return thrown
  const why = (thrown.hint ?? '').replace(/[,:] it (is tried again|goes on) by itself$/, '')
  return new SwitchboardError(thrown.code, thrown.message, {
    hint: `${why === '' ? '' : `${why}; `}${instead}`,
    cause: thrown,
  })
}
