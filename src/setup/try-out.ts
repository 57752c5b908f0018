// Tries answers on the real service, within a limit of time. No secret appears in what comes back.
import { childEnvironment } from '../config/instance/child-environment.ts'
import { readEnvironment } from '../config/instance/environment.ts'
import { type Cancel, type ModuleSetup, type Options, SwitchboardError } from '../contract/index.ts'
import { createRealClock } from '../runtime/real-clock.ts'
import { oneLine } from '../runtime/safe-text.ts'
import { wordsIn } from '../words/index.ts'
import type { Asker } from './asker.ts'

export interface Trial {
  /** What answers, for the person: `telegram`, `the agent`. */
  readonly name: string
  /** The beginning of the error. */
  readonly refused: string
  readonly setup: ModuleSetup
  /** With the secrets themselves. */
  readonly options: Options
  readonly hidden: Iterable<string>
  readonly withinMs: number
  /** What to do, behind the usual hint. */
  readonly more?: string
}

/** Returns who answered. Null: there is nothing to try. Throws why it was refused. */
export async function tryOut(asker: Asker, trial: Trial): Promise<string | null> {
  const { name, setup, options, hidden, withinMs } = trial
  if (setup.try === undefined) return null
  const who = await within(withinMs, setup, options).catch((thrown: unknown) => {
    const ours = thrown instanceof SwitchboardError && thrown.code !== 'internal' ? thrown : null
    let why = thrown instanceof Error ? thrown.message : String(thrown)
    // What to do about it is the more useful half.
    if (ours?.hint !== undefined) why = `${why}. ${ours.hint}`
    // A module of a third party may quote anything.
    for (const secret of hidden) if (secret !== '') why = why.replaceAll(secret, '…')
    const hint = `nothing was kept: mend it and run the same again${trial.more ?? ''}`
    throw new SwitchboardError(ours?.code ?? 'execution_failed', `${trial.refused}: ${why.slice(0, 500)}`, {
      hint,
    })
  })
  asker.note(wordsIn().setup.trial.answers({ name, who: oneLine(who) }))
  return who
}

async function within(ms: number, setup: ModuleSetup, options: Options): Promise<string> {
  const clock = createRealClock()
  const environment = childEnvironment(readEnvironment().variables)
  let cancel: Cancel = () => undefined
  const late = new Promise<never>((_resolve, reject) => {
    const why = `no answer within ${ms / 1_000} seconds`
    cancel = clock.after(ms, () => reject(new SwitchboardError('platform_unavailable', why)))
  })
  const answer: unknown = await Promise.race([setup.try?.(options, { clock, environment }), late]).finally(
    cancel,
  )
  const { who } = (answer ?? {}) as { readonly who?: unknown }
  if (typeof who === 'string' && who !== '') return who
  throw new SwitchboardError('execution_failed', 'its module did not say who it is')
}
