// References of a configuration that lead nowhere. `check` names them before an integration fails to start.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { SECRET_REFERENCE, type Settings } from '../contract/index.ts'
import { wordsIn } from '../words/index.ts'

export interface Reference {
  readonly text: string
  /** Its key: `integrations.kate_tg.token`. */
  readonly at: string
}

export function referencesIn(settings: Settings): readonly Reference[] {
  const { server, integrations, agents, mcpServers, store } = settings
  const found: Reference[] = []
  const walk = (value: unknown, at: string) => {
    if (typeof value === 'string') {
      if (SECRET_REFERENCE.test(value)) found.push({ text: value, at })
    } else if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) walk(one, `${at}.${idOf(one) ?? index}`)
    } else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value))
        if (key !== 'schedules' && key !== 'origin') walk(one, transparent(key) ? at : `${at}.${key}`)
  }
  for (const [name, part] of Object.entries({ server, store, integrations, agents, mcp_servers: mcpServers }))
    walk(part, name)
  return found
}

const idOf = (one: unknown) =>
  typeof one === 'object' && one !== null && 'id' in one && typeof one.id === 'string' ? one.id : null

/** A level of the settings that the file does not have. */
const transparent = (key: string) => key === 'options'

/** Returns one sentence for each. `kept`: the names in the encrypted store; null: not known. */
export function unsetReferences(
  settings: Settings,
  sources: {
    readonly folder: string
    readonly env: Readonly<Record<string, string | undefined>>
    readonly kept: ReadonlySet<string> | null
  },
): readonly string[] {
  const words = wordsIn().setup.secrets
  const told = new Set<string>()
  for (const { text, at } of referencesIn(settings)) {
    const cut = text.indexOf(':')
    const [kind, name] = [text.slice(0, cut), text.slice(cut + 1)]
    if (kind === 'env' && !sources.env[name])
      told.add(words.unsetVariable({ key: at, reference: text, name }))
    if (kind === 'file' && !existsSync(resolve(sources.folder, name)))
      told.add(words.absentFile({ key: at, reference: text }))
    if (kind === 'secret' && sources.kept !== null && !sources.kept.has(name))
      told.add(words.notKept({ key: at, reference: text, name }))
  }
  return [...told]
}
