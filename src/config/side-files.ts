// The files that switchboard.yaml points to: messaging.json and access policies. An unreadable file denies, with a warning.
import { resolve } from 'node:path'
import { writtenPath } from './instance/written-path.ts'
import { policySchema } from './schema/access.ts'
import { isAllowEntry } from './schema/agents.ts'
import { type Expected, findingsOf } from './schema/issues.ts'
import { jsonSchemaOf } from './schema/json-schema.ts'
import type { SideFiles } from './settings-of.ts'
import { decodeText, type ReadFile } from './yaml/text-file.ts'
import { readYaml } from './yaml/yaml-text.ts'

const POLICY: Expected = {
  schema: () => jsonSchemaOf(policySchema),
  platformNames: [],
  connectorNames: [],
}

/** The seed's own name for it. */
const BESIDE = 'messaging.json'

/** Reads each file once; every problem becomes one warning. `touched` collects what a watcher has to watch. */
export function createSideFiles(
  folder: string,
  readFile: ReadFile,
  warn: (warning: string) => void,
): SideFiles & { readonly touched: ReadonlySet<string> } {
  const touched = new Set<string>()
  const lists = new Map<string, ReadonlyMap<string, readonly string[]>>()
  /** Null: not looked up yet. */
  let beside: boolean | null = null

  const messaging = (file: string, agent: string): readonly string[] => {
    const path = writtenPath(folder, file)
    touched.add(path)
    const known = lists.get(path)
    if (known !== undefined) return known.get(agent) ?? []
    const read = readMessaging(path, file, readFile)
    if ('problem' in read) warn(`${read.problem}: every send_message of its agents is denied`)
    const list = 'problem' in read ? new Map<string, readonly string[]>() : read.lists
    lists.set(path, list)
    return list.get(agent) ?? []
  }

  return {
    touched,
    messaging,
    messagingBeside(agent) {
      const path = resolve(folder, BESIDE)
      // A missing file is watched too, because it may be created.
      touched.add(path)
      beside ??= isThere(path, readFile)
      return beside ? messaging(BESIDE, agent) : []
    },
    access(file) {
      const path = writtenPath(folder, file)
      touched.add(path)
      const read = readPolicy(path, file, readFile)
      if ('problem' in read) warn(`${read.problem}: the door stays closed`)
      return read
    },
  }
}

function readPolicy(path: string, shown: string, readFile: ReadFile): ReturnType<SideFiles['access']> {
  const text = textOf(path, readFile)
  if (text === null) return { problem: `access file ${shown} cannot be read` }
  const yaml = readYaml(text)
  const first = yaml.problems[0]
  if (first) return { problem: `access file ${shown}:${first.line}:${first.column} ${first.message}` }
  const parsed = policySchema.safeParse(yaml.value)
  if (parsed.success) return { policy: parsed.data }
  const [finding] = findingsOf(parsed.error.issues, yaml.value, POLICY)
  const { line, column } = yaml.locateKey(finding?.path ?? [])
  return { problem: `access file ${shown}:${line}:${column} ${finding?.message ?? 'is malformed'}` }
}

function readMessaging(
  path: string,
  shown: string,
  readFile: ReadFile,
): { readonly lists: ReadonlyMap<string, readonly string[]> } | { readonly problem: string } {
  const text = textOf(path, readFile)
  if (text === null) return { problem: `messaging file ${shown} cannot be read` }
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    return { problem: `messaging file ${shown} is not JSON` }
  }
  if (data === null || typeof data !== 'object' || Array.isArray(data)) {
    return { problem: `messaging file ${shown} must be an object of agent → list` }
  }
  const lists = new Map<string, readonly string[]>()
  for (const [agent, list] of Object.entries(data)) {
    const good =
      Array.isArray(list) && list.every((entry) => typeof entry === 'string' && isAllowEntry(entry))
    if (!good)
      return {
        problem: `messaging file ${shown}: "${agent.slice(0, 60)}" must be a list of platform:target, platform:* or *`,
      }
    lists.set(agent, list as string[])
  }
  return { lists }
}

function isThere(path: string, readFile: ReadFile): boolean {
  try {
    readFile(path)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

function textOf(path: string, readFile: ReadFile): string | null {
  try {
    const decoded = decodeText(readFile(path))
    return 'text' in decoded ? decoded.text : null
  } catch {
    return null
  }
}
