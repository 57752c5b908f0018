// What a configuration file has already: whom the wizard adds to.
import { existsSync, readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { usage } from '../failure.ts'

export interface FileFacts {
  readonly exists: boolean
  readonly text: string
  readonly integrations: readonly { readonly id: string; readonly platform: string }[]
  readonly agents: readonly string[]
  /** It names a store of its own. */
  readonly ownStore: boolean
}

/** Throws `input_invalid` when the file is no YAML: nothing can be added to it. */
export function readFileFacts(file: string): FileFacts {
  if (!existsSync(file)) return { exists: false, text: '', integrations: [], agents: [], ownStore: false }
  const text = readFileSync(file, 'utf8')
  const document = parseDocument(text)
  const read = document.errors.length === 0 ? (document.toJS() as unknown) : undefined
  if (read !== null && (typeof read !== 'object' || Array.isArray(read)))
    throw usage(`${file} is not YAML that can be added to`, 'see what is wrong: switchboard check')
  const { integrations, agents, store } = (read ?? {}) as Readonly<Record<string, unknown>>
  return {
    exists: true,
    text,
    integrations: listOf(integrations).map(({ id, platform }) => ({
      id: String(id),
      platform: String(platform),
    })),
    agents: listOf(agents).map(({ id }) => String(id)),
    ownStore: store !== undefined,
  }
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []
}
