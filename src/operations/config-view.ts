// The configuration for the console: the file in force, masked; the one that was refused, with its problems; and the check
// of a text that is not written yet. A check runs no code of others and reads nothing beside the file's own folder.
import { dirname, resolve, sep } from 'node:path'
import type { ConfigSource } from '../config/config-source.ts'
import type { Problem } from '../config/problem.ts'
import { readFileBounded } from '../config/yaml/text-file.ts'
import type { ConfigCheck, ConfigProblem, ConfigView, Settings } from '../contract/index.ts'
import { createModuleCatalog } from '../modules/module-catalog.ts'

export interface ConfigViews {
  /** The configuration in force, masked, and a refused file. */
  inForce(): Promise<ConfigView>
  /** Checks a text before it is written. It changes nothing, and runs no code that the text names. */
  check(text: string): Promise<ConfigCheck>
}

interface Kept {
  readonly problems: readonly Problem[]
  /** Masked when it is first asked for: of a large file that takes a while. */
  lines(): Promise<readonly string[]>
}

export function createConfigViews(deps: {
  readonly config: Pick<ConfigSource, 'file' | 'onReload'>
  readonly settings: () => Settings
  /** Where the embedded default would have its file. */
  readonly folder: string
  readonly defaultStore: string
}): ConfigViews {
  const { config } = deps
  const file = config.file ?? resolve(deps.folder, 'switchboard.yaml')
  let good: Kept | null = config.file === null ? null : kept([])
  let refused: Kept | null = null
  config.onReload((result) => {
    if (result.outcome === 'invalid') refused = kept(result.problems)
    else {
      good = config.file === null ? null : kept([])
      refused = null
    }
  })

  /** Of a file that just went away nothing can be shown. */
  function kept(problems: readonly Problem[]): Kept {
    let text: string
    try {
      text = Buffer.from(readFileBounded(file)).toString('utf8')
    } catch {
      text = ''
    }
    let lines: Promise<readonly string[]> | null = null
    return {
      problems,
      lines: () => {
        lines ??= masked(text)
        return lines
      },
    }
  }

  const beside = (path: string): Uint8Array => {
    if (resolve(path).startsWith(dirname(file) + sep)) return readFileBounded(path)
    throw Object.assign(new Error('outside the folder of the file'), { code: 'EACCES' })
  }

  return {
    async inForce() {
      const { digest, warnings } = deps.settings()
      const lines = good === null ? [] : await good.lines()
      return {
        file: config.file,
        digest,
        warnings,
        lines,
        ...(refused === null
          ? {}
          : { refused: { lines: await refused.lines(), problems: refused.problems.map(problemView) } }),
      }
    },
    async check(text) {
      const { parseSettings } = await import('../config/load.ts')
      const checked = await parseSettings(text, file, {
        adapters: createModuleCatalog({ leaveModulesAlone: true }),
        failedModules: 'down',
        defaultStore: deps.defaultStore,
        readFile: beside,
      })
      return checked.ok
        ? { ok: true, problems: [], warnings: checked.warnings }
        : { ok: false, problems: checked.problems.map(problemView), warnings: [] }
    },
  }
}

async function masked(text: string): Promise<readonly string[]> {
  const { maskedLines } = await import('../config/yaml/masked-text.ts')
  const adapters = createModuleCatalog({ leaveModulesAlone: true })
  const catalog = await adapters.open({ folder: '.', modules: [], platforms: 'all', connectors: 'all' })
  return maskedLines(text, catalog)
}

function problemView({ line, column, path, message, hint }: Problem): ConfigProblem {
  return { line, column, path, message, hint }
}
