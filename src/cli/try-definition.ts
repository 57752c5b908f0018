// Answers as the file would hold them: read by the schema of their module, held to it, and tried on the real thing. Used by
// `integrations add` and by the wizard.
import { isSecretReference } from '../config/secrets/secret-reference.ts'
import { type PlatformModule, SwitchboardError } from '../contract/index.ts'
import type { SetupAccess } from './configuration.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'
import { type Definition, putAt, readAt, type SecretAnswers } from './setup-answers.ts'

/** The longest that a module may take to try, whatever it does. */
const TRY_WITHIN_MS = 20_000

/** Holds the answers to the schema, then tries them. Null: there is nothing to try, or it is not known here. */
export async function tryOut(
  context: Context,
  door: SetupAccess,
  definition: Definition,
  secrets: SecretAnswers,
): Promise<string | null> {
  const candidate = structuredClone(definition)
  for (const key of secrets.keys()) putAt(candidate, key, 'secret:new')
  const { options, platform } = await door.validate(candidate)
  const setup = door.module?.setup
  if (setup?.try === undefined) return null
  const whole = structuredClone(options) as Definition
  for (const [key, value] of secrets) putAt(whole, key, value)
  const hidden = firstReference(whole, new Set(secrets.values()))
  if (hidden !== null) {
    context.note(`not tried: ${oneLine(hidden)} is read by the daemon alone`)
    return null
  }
  const { who } = await door.tried(setup, whole, TRY_WITHIN_MS).catch((thrown: unknown) => {
    throw withoutSecrets(thrown, platform, secrets)
  })
  context.note(`${platform} answers: this is ${oneLine(who)}`)
  return who
}

function firstReference(value: unknown, typed: ReadonlySet<string>): string | null {
  if (typeof value === 'string') return isSecretReference(value) && !typed.has(value) ? value : null
  if (typeof value !== 'object' || value === null) return null
  for (const inner of Object.values(value)) {
    const found = firstReference(inner, typed)
    if (found !== null) return found
  }
  return null
}

/** Code of others says what went wrong: whatever it quotes, a secret is not among it. */
function withoutSecrets(thrown: unknown, platform: string, secrets: SecretAnswers): SwitchboardError {
  const known = thrown instanceof SwitchboardError && thrown.code !== 'internal' ? thrown : null
  let why = thrown instanceof Error ? thrown.message : String(thrown)
  for (const secret of secrets.values()) why = why.replaceAll(secret, '…')
  return new SwitchboardError(known?.code ?? 'execution_failed', `${platform}: ${why.slice(0, 500)}`, {
    hint: 'nothing was kept: mend it and run the same again',
  })
}

/** Texts stay texts where the schema says so; the rest is read as `--set` reads it. */
export function reader(module: Pick<PlatformModule, 'options'> | null) {
  const schema = module?.options['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  return (key: string, written: string): unknown => {
    const at = key.split('.').flatMap((part) => ['properties', part])
    return readAt(schema, [...at, 'type'].join('.')) === 'string' ? written : readValue(written)
  }
}

/** `out.url=env:URL` into the definition; true, false, numbers, lists and objects are read as JSON. */
export function put(definition: Definition, pair: string): void {
  const cut = pair.indexOf('=')
  if (cut < 1) throw usage(`--set: "${oneLine(pair)}" is not key=value`, 'write e.g. --set token=secret:TG')
  putAt(definition, pair.slice(0, cut), readValue(pair.slice(cut + 1)))
}

export function readValue(written: string): unknown {
  if (!/^(true|false|null|-?\d+(\.\d+)?|[[{].*)$/s.test(written)) return written
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}
