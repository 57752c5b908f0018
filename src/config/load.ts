// switchboard.yaml → Settings. Never throws on what the file holds: every fault is a problem with line and column.
import { dirname, resolve } from 'node:path'
import type { Settings } from '../contract/index.ts'
import { type Built, crossCheck } from './cross-check.ts'
import { excerptOf } from './excerpt.ts'
import { type Finding, findingsOf } from './issues.ts'
import { formatPath, type Problem } from './problem.ts'
import { configSchema } from './schema/index.ts'
import { settingsOf } from './settings-of.ts'
import { shellWord } from './shell-word.ts'
import { createSideFiles } from './side-files.ts'
import { decodeText, type ReadFile, readFileBounded } from './text-file.ts'
import { readYaml, type YamlText } from './yaml-text.ts'

export interface LoadDeps {
  /** What this version can run; null says nothing about it. */
  readonly built: Built | null
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

export function loadSettings(file: string, deps: LoadDeps): LoadResult {
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

/** The same from text that is already in hand; `path` says where relative paths start. */
export function parseSettings(
  text: string,
  path: string,
  deps: LoadDeps & { readonly readFile: ReadFile },
): LoadResult {
  const folder = dirname(path)
  const yaml = readYaml(text)
  if (yaml.problems.length > 0) {
    const lines = text.split('\n')
    const problems = yaml.problems.map((one): Problem => {
      const { line, column, path: at, message, hint } = one
      return {
        line,
        column,
        path: formatPath(at),
        message,
        hint,
        ...excerptOf(lines[line - 1] ?? '', column, false),
      }
    })
    return { ok: false, problems, files: [path] }
  }
  if (yaml.value === null)
    return failed(
      path,
      'the file is empty',
      'remove it to run the embedded default, or run `switchboard init`',
    )

  const parsed = configSchema.safeParse(yaml.value)
  if (!parsed.success) {
    return {
      ok: false,
      problems: problemsOf(findingsOf(parsed.error.issues, yaml.value), yaml, text),
      files: [path],
    }
  }
  const { findings, warnings } = crossCheck(parsed.data, deps.built)
  if (findings.length > 0) return { ok: false, problems: problemsOf(findings, yaml, text), files: [path] }

  const all = [...warnings]
  if (
    parsed.data.store !== undefined &&
    /^postgres(ql)?:\/\/([^/]*:[^/]*@|.*password=)/i.test(parsed.data.store)
  ) {
    all.push('store holds a password: write store: env:NAME instead')
  }
  const side = createSideFiles(folder, deps.readFile, (warning) => all.push(warning))
  const settings = settingsOf(parsed.data, side, { folder, defaultStore: deps.defaultStore }, all)
  return { ok: true, settings, warnings: all, files: [path, ...side.touched] }
}

function problemsOf(findings: readonly Finding[], yaml: YamlText, text: string): Problem[] {
  const lines = text.split('\n')
  const problems = findings.map((finding): Problem => {
    const { line, column } =
      finding.at === 'key' ? yaml.locateKey(finding.path) : yaml.locateValue(finding.path)
    const written = finding.hint === 'write it in quotes' ? yaml.written(finding.path) : null
    return {
      line,
      column,
      path: formatPath(finding.path),
      message: finding.message,
      hint: written === null || written.length > 40 ? finding.hint : `write it in quotes: "${written}"`,
      ...excerptOf(lines[line - 1] ?? '', column, finding.at === 'key'),
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
