// switchboard.yaml → Settings. Never throws on what the file holds: every fault is a problem with line and column.
import { dirname, resolve } from 'node:path'
import {
  type AdapterSource,
  CHANNEL_PLATFORM,
  type LoadedAdapters,
  type Settings,
  type WantedAdapters,
  type WantedOptions,
} from '../contract/index.ts'
import { crossCheck } from './cross-check.ts'
import { shellWord } from './instance/shell-word.ts'
import { formatPath, type Problem } from './problem.ts'
import { CONNECTOR_KEY, DEFAULT_CONNECTOR } from './schema/agents.ts'
import { type Config, configSchema, modulesSchema } from './schema/index.ts'
import { PLATFORM_KEY, sharedSchema } from './schema/integrations.ts'
import { type Expected, type Finding, findingsOf } from './schema/issues.ts'
import { configurationJsonSchema } from './schema/json-schema.ts'
import { isMap } from './schema/schema-walk.ts'
import { settingsOf } from './settings-of.ts'
import { createSideFiles } from './side-files.ts'
import { type FileView, fileViewSteps } from './yaml/excerpt.ts'
import { shownName } from './yaml/shown-names.ts'
import { atOnce, breath, withPauses } from './yaml/steps.ts'
import { decodeText, type ReadFile, readFileBounded } from './yaml/text-file.ts'
import { knownKeys } from './yaml/unmasked-ranges.ts'
import { readYaml, readYamlInSlices, type YamlText } from './yaml/yaml-text.ts'

export interface LoadDeps {
  /** All platforms and connectors. */
  readonly adapters: AdapterSource
  /** `down`: the rest is loaded, and adapters of a failed module stay down. */
  readonly failedModules: 'refused' | 'down'
  /** Store when the file names none, e.g. `sqlite:/data/switchboard.db`. */
  readonly defaultStore: string
  readonly readFile?: ReadFile
}

export type LoadResult =
  | {
      readonly ok: true
      readonly settings: Settings
      readonly warnings: readonly string[]
      /** Every file that was read: a watcher watches them. */
      readonly files: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly files: readonly string[] }

export async function loadSettings(file: string, deps: LoadDeps): Promise<LoadResult> {
  const path = resolve(file)
  const readFile = deps.readFile ?? readFileBounded
  let bytes: Uint8Array
  try {
    bytes = readFile(path)
  } catch (thrown) {
    const missing = (thrown as NodeJS.ErrnoException).code === 'ENOENT'
    return failed(
      path,
      missing ? 'there is no such file' : 'the file cannot be read',
      missing
        ? `write one with: switchboard init${file === 'switchboard.yaml' ? '' : ` --config ${shellWord(file)}`}`
        : null,
    )
  }
  const decoded = decodeText(bytes)
  if ('problem' in decoded) return failed(path, decoded.problem, decoded.hint)
  return parseSettings(decoded.text, path, { ...deps, readFile })
}

/** The same from a text. Relative paths start at the folder of `path`. */
export async function parseSettings(
  text: string,
  path: string,
  deps: LoadDeps & { readonly readFile: ReadFile },
): Promise<LoadResult> {
  // Each part of a large file takes a while. Between two parts the process handles other work.
  const yaml = await readYamlInSlices(text, breath)
  await breath()
  const wanted = wantedBy(yaml.value, dirname(path))
  const given = { text, path, yaml }
  const catalog = await deps.adapters.open(wanted)
  const result = await withPauses(settleSteps(given, { ...deps, catalog }))
  if (result.ok) return result
  // Suggestions for a wrong file use all keys and names.
  const everything = { ...wanted, platforms: 'all', connectors: 'all' } as const
  return withPauses(settleSteps(given, { ...deps, catalog: await deps.adapters.open(everything, catalog) }))
}

interface SettleDeps extends Omit<LoadDeps, 'adapters'> {
  readonly catalog: LoadedAdapters
  readonly readFile: ReadFile
}

/** The same when `catalog` has loaded every adapter that the file may name. */
export function parseSettingsWith(text: string, path: string, deps: SettleDeps): LoadResult {
  return atOnce(settleSteps({ text, path, yaml: readYaml(text) }, deps))
}

interface Given {
  readonly text: string
  readonly path: string
  readonly yaml: YamlText
}

function* settleSteps({ text, path, yaml }: Given, deps: SettleDeps): Generator<void, LoadResult> {
  const { catalog } = deps
  const folder = dirname(path)
  const expected: Expected = {
    schema: () => configurationJsonSchema(catalog),
    platformNames: catalog.platformNames.filter((name) => name !== CHANNEL_PLATFORM),
    connectorNames: catalog.connectorNames,
  }
  function* wrong(findings: readonly Finding[]): Generator<void, LoadResult> {
    const view = yield* fileViewSteps(text, yaml, knownKeys(catalog))
    return { ok: false, problems: problemsOf(findings, yaml, view), files: [path] }
  }
  if (yaml.problems.length > 0) {
    const view = yield* fileViewSteps(text, yaml, knownKeys(catalog))
    const problems = yaml.problems.map(
      ({ path: at, ...said }): Problem => ({
        ...said,
        path: view.path(at),
        message: view.said(said.message, at),
        ...view.excerpt(said.line, said.column, null),
      }),
    )
    return { ok: false, problems, files: [path] }
  }
  if (yaml.value === null)
    return failed(
      path,
      'the file is empty',
      'remove it to run the embedded default, or run `switchboard init`',
    )

  const failedOnes = moduleFindings(catalog)
  const schema = configSchema(catalog)
  const inLots = yield* parseInLots(schema, yaml.value)
  const parsed = inLots === null ? schema.safeParse(yaml.value) : ({ success: true, data: inLots } as const)
  yield
  if (!parsed.success) {
    const found = findingsOf(parsed.error.issues, yaml.value, expected)
    return yield* wrong(deps.failedModules === 'refused' ? [...failedOnes, ...found] : found)
  }
  const { findings, warnings } = yield* crossCheck(parsed.data, catalog)
  yield
  if (findings.length > 0) return yield* wrong(findings)
  if (failedOnes.length > 0 && deps.failedModules === 'refused') return yield* wrong(failedOnes)

  const all = [...warnings, ...failedOnes.map((one) => `${formatPath(one.path)}: ${one.message}`)]
  if (
    parsed.data.store !== undefined &&
    /^postgres(ql)?:\/\/([^/:]*:[^/]*@|.*password=)/i.test(parsed.data.store)
  ) {
    all.push('store holds a password: write store: env:NAME instead')
  }
  const side = createSideFiles(folder, deps.readFile, (warning) => all.push(warning))
  const place = { folder, defaultStore: deps.defaultStore, modules: catalog.modules }
  const settings = yield* settingsOf(parsed.data, side, place, all)
  return { ok: true, settings, warnings: all, files: [path, ...side.touched] }
}

/** Entries that are validated between two pauses. */
const LOT = 100
const LONG_LISTS = ['integrations', 'agents'] as const

/** Validates long lists in lots, and the rest without them. Null: something is wrong, and the whole file shows what. */
function* parseInLots(
  schema: ReturnType<typeof configSchema>,
  value: unknown,
): Generator<void, Config | null> {
  if (!isMap(value)) return null
  const long = LONG_LISTS.filter((name) => Array.isArray(value[name]) && value[name].length > LOT)
  if (long.length === 0) return null
  const rest = schema.safeParse({ ...value, ...Object.fromEntries(long.map((name) => [name, []])) })
  if (!rest.success) return null
  const lists: Record<string, unknown[]> = {}
  for (const name of long) {
    const entries = value[name] as readonly unknown[]
    const kept: unknown[] = []
    lists[name] = kept
    for (let from = 0; from < entries.length; from += LOT) {
      const lot = schema.shape[name].safeParse(entries.slice(from, from + LOT))
      if (!lot.success) return null
      kept.push(...lot.data)
      yield
    }
  }
  return { ...rest.data, ...lists }
}

function moduleFindings({ modules }: LoadedAdapters): readonly Finding[] {
  return modules.flatMap(({ from, problem }, index): Finding[] =>
    problem === null
      ? []
      : [{ path: ['modules', index], at: 'value', message: `module "${from}" ${problem}`, hint: null }],
  )
}

/** The adapters that the file names, as far as it can be read. Other faults are reported later. */
function wantedBy(value: unknown, folder: string): WantedAdapters {
  const file = isMap(value) ? value : {}
  const listed = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : [])
  const named = (list: readonly unknown[], key: string) =>
    list.flatMap((one) => (isMap(one) && typeof one[key] === 'string' ? [one[key]] : []))
  const modules = modulesSchema.safeParse(file.modules)
  const integrations = listed(file.integrations)
  const connectors = listed(file.agents).flatMap((one) =>
    isMap(one) ? [one.connector ?? DEFAULT_CONNECTOR] : [],
  )
  return {
    folder,
    modules: modules.success ? modules.data : [],
    platforms: [...new Set(named(integrations, PLATFORM_KEY))],
    connectors: [...new Set(named(connectors, CONNECTOR_KEY))],
    entries: [
      ...optionsIn(integrations, 'platform', [PLATFORM_KEY, ...Object.keys(sharedSchema.shape)]),
      ...optionsIn(connectors, 'connector', [CONNECTOR_KEY]),
    ],
  }
}

/** The own options of each entry, without the key that names its adapter (the first of `shared`) and the shared keys. */
function optionsIn(
  list: readonly unknown[],
  bank: WantedOptions['bank'],
  shared: readonly string[],
): readonly WantedOptions[] {
  return list.flatMap((one) => {
    const name = isMap(one) && one[shared[0] ?? '']
    if (!isMap(one) || typeof name !== 'string') return []
    return [
      {
        bank,
        name,
        options: Object.fromEntries(Object.entries(one).filter(([key]) => !shared.includes(key))),
      },
    ]
  })
}

/** The `modules` of a file. None when it cannot be read. */
export function namedModules(file: string): readonly string[] {
  try {
    const decoded = decodeText(readFileBounded(resolve(file)))
    return 'problem' in decoded ? [] : wantedBy(readYaml(decoded.text).value, '').modules
  } catch {
    return []
  }
}

function problemsOf(findings: readonly Finding[], yaml: YamlText, view: FileView): Problem[] {
  const problems = findings.map((finding): Problem => {
    const { path, at, name } = finding
    const { line, column } = at === 'key' ? yaml.locateKey(path) : yaml.locateValue(path)
    const quotes = finding.hint === 'write it in quotes' && view.shows(line, column)
    const written = quotes ? yaml.written(path) : null
    const key = name ?? (at === 'key' ? shownName(String(path.at(-1))) : null)
    return {
      line,
      column,
      path: view.path(name === undefined ? path : [...path.slice(0, -1), name]),
      message: view.said(finding.message, path),
      hint: written === null || written.length > 40 ? finding.hint : `write it in quotes: "${written}"`,
      ...view.excerpt(line, column, key),
    }
  })
  return problems.sort((a, b) => a.line - b.line || a.column - b.column)
}

function failed(path: string, message: string, hint: string | null): LoadResult {
  return {
    ok: false,
    problems: [{ line: 0, column: 0, path: '', message, hint, excerpt: '', caret: 0 }],
    files: [path],
  }
}
