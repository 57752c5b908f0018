// An integration from its answers: collected, completed by its module, held to its schema, and tried.
import { isSecretReference } from '../config/secrets/secret-reference.ts'
import type { PlatformModule } from '../contract/index.ts'
import { oneLine } from '../runtime/safe-text.ts'
import { wordsIn } from '../words/index.ts'
import { type Collecting, collectAnswers } from './answers.ts'
import type { Asker } from './asker.ts'
import type { Catalog } from './catalog.ts'
import {
  type Definition,
  putAt,
  type SecretAnswers,
  valueReader,
  withPlaceholders,
  withSecrets,
} from './definition.ts'
import { tryOut } from './try-out.ts'

/** The longest that a module may take to try, whatever it does. */
const TRY_WITHIN_MS = 20_000

export interface AnsweredIntegration {
  readonly definition: Definition
  readonly secrets: SecretAnswers
  /** What the platform says that it is. Null: it was not tried. */
  readonly who: string | null
}

/**
 * `fixed` holds the id, the platform and what no question asks for. Null module: only the daemon knows the platform, and it
 * judges. Throws what is missing, unknown or refused, with no secret in it.
 */
export async function answerIntegration(
  asker: Asker,
  { catalog, module, fixed }: { catalog: Catalog; module: PlatformModule | null; fixed: Definition },
  wish: Omit<Collecting, 'questions' | 'read'>,
): Promise<AnsweredIntegration> {
  const setup = module?.setup
  const definition = structuredClone(fixed)
  const secrets = await collectAnswers(asker, definition, {
    ...wish,
    questions: setup?.questions ?? [],
    read: valueReader(module?.options),
  })
  for (const [key, value] of Object.entries(setup?.complete?.(withSecrets(definition, secrets)) ?? {}))
    putAt(definition, key, value)
  if (module === null) return { definition, secrets, who: null }
  const { options } = await catalog.validate(withPlaceholders(definition, secrets))
  if (setup?.try === undefined) return { definition, secrets, who: null }
  const whole = withSecrets(options as Definition, secrets)
  const hidden = firstReference(whole, new Set(secrets.values()))
  if (hidden !== null) {
    asker.note(wordsIn().setup.trial.needsDaemon({ reference: oneLine(hidden) }))
    return { definition, secrets, who: null }
  }
  const trial = { name: module.name, refused: module.name, setup, options: whole, withinMs: TRY_WITHIN_MS }
  return { definition, secrets, who: await tryOut(asker, { ...trial, hidden: secrets.values() }) }
}

function firstReference(value: unknown, typed: ReadonlySet<string>): string | null {
  if (typeof value === 'string') return isSecretReference(value) && !typed.has(value) ? value : null
  if (typeof value !== 'object' || value === null) return null
  for (const inner of Object.values(value)) {
    const reference = firstReference(inner, typed)
    if (reference !== null) return reference
  }
  return null
}

/**
 * Whether the lines to paste lead to the credentials, and so come before the questions. Lines that only make sense
 * afterwards, such as the URL of a webhook, are shown at the end.
 */
export function isPastedBefore({ setup }: Pick<PlatformModule, 'setup'>): boolean {
  return setup?.try !== undefined && setup.pasteLast !== true && setup.questions.some(({ secret }) => secret)
}
