// References to secrets: env:NAME, file:path, secret:NAME. Errors name the reference, never the value.
import { SECRET_HINT, SECRET_REFERENCE, SwitchboardError } from '../../contract/index.ts'
import { writtenPath } from '../instance/written-path.ts'
import { type ReadFile, readFileBounded } from '../yaml/text-file.ts'

const MAX_BYTES = 65_536

export interface SecretSources {
  /** Folder of the configuration file: relative paths start here. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Reads the encrypted store. Null: it has no secret of that name. */
  readonly stored: (name: string) => string | null
  readonly readFile?: ReadFile
}

export function isSecretReference(text: string): boolean {
  return SECRET_REFERENCE.test(text)
}

/** The value behind a reference. Throws `config_invalid` when it leads nowhere. */
export function resolveSecret(reference: string, sources: SecretSources): string {
  // A text that is no reference may be a secret that was written inline, so it is not repeated.
  if (!isSecretReference(reference)) {
    throw new SwitchboardError('config_invalid', 'a secret is written inline instead of as a reference', {
      hint: SECRET_HINT,
    })
  }
  const split = reference.indexOf(':')
  const name = reference.slice(split + 1)
  switch (reference.slice(0, split)) {
    case 'env':
      // Inherited properties of the object are no variables.
      return found(
        reference,
        Object.hasOwn(sources.env, name) ? sources.env[name] : undefined,
        `set the environment variable ${name}`,
      )
    case 'file':
      return found(reference, fileText(reference, name, sources), 'the file is empty')
    default:
      return found(reference, sources.stored(name), `store it with \`switchboard secrets set ${name}\``)
  }
}

/** The store's address behind `env:NAME` or `file:path`; others are returned as they are. Throws when it is no store. */
export function resolveStore(
  store: string,
  sources: Pick<SecretSources, 'folder' | 'env' | 'readFile'>,
): string {
  if (!/^(env|file):/.test(store)) return store
  const resolved = resolveSecret(store, { ...sources, stored: () => null })
  if (/^(sqlite:.+|postgres(ql)?:\/\/.+)$/.test(resolved)) return resolved
  throw new SwitchboardError('config_invalid', `${store} does not hold the address of a store`, {
    hint: 'it must read sqlite:path or postgres://…',
  })
}

function found(reference: string, value: string | null | undefined, hint: string): string {
  if (value !== undefined && value !== null && value !== '') return value
  throw new SwitchboardError('config_invalid', `${reference} leads to nothing`, { hint })
}

function fileText(reference: string, name: string, sources: SecretSources): string {
  const path = writtenPath(sources.folder, name)
  let bytes: Uint8Array
  try {
    bytes = (sources.readFile ?? readFileBounded)(path)
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new SwitchboardError('config_invalid', `${reference} cannot be read (${code})`, {
      hint: 'the path is relative to the configuration file',
    })
  }
  if (bytes.length > MAX_BYTES)
    throw new SwitchboardError('config_invalid', `${reference} is larger than 64 KiB`)
  // Editors end files with a newline; no secret does.
  return Buffer.from(bytes)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
