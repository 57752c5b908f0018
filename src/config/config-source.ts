// The configuration in force: loads, validates and swaps at once. It keeps the old one when the new one is not valid.
import { type AdapterSource, type Clock, defined, type Logger, type Settings } from '../contract/index.ts'
import { createSerial } from '../contract/serial.ts'
import { defaultSettings } from './default-settings.ts'
import type { LoadResult } from './load.ts'
import { configError, type Problem, renderProblems } from './problem.ts'
import { type FileWatchDeps, watchFiles } from './watch.ts'
import type { ReadFile } from './yaml/text-file.ts'

export type ReloadResult =
  | {
      readonly outcome: 'changed' | 'unchanged'
      readonly settings: Settings
      readonly warnings: readonly string[]
    }
  | {
      readonly outcome: 'invalid'
      readonly settings: Settings
      readonly problems: readonly Problem[]
      readonly text: string
    }

export interface ConfigSource {
  /** Null: the embedded default. */
  readonly file: string | null
  current(): Settings
  /** Every file that the configuration in force was read from. */
  files(): readonly string[]
  /** Reads the file again. Never throws because of its text. Listeners get `by`. */
  reload(by?: string): Promise<ReloadResult>
  /** Called after a swap, with the new and the old settings. */
  onChange(listen: (now: Settings, before: Settings) => void): void
  /** Called after every reload, also when it failed or changed nothing. */
  onReload(listen: (result: ReloadResult, by?: string) => void): void
  /** Why the file on disk is not in force. Null: it is. */
  problem(): string | null
  stop(): void
}

export interface ConfigSourceConfig {
  readonly file: string | null
  readonly adapters: AdapterSource
  readonly defaultStore: string
  /** Reload when the file changes. */
  readonly watch?: boolean
}

export interface ConfigSourceDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly readFile?: ReadFile
  readonly watching?: Omit<FileWatchDeps, 'clock'>
}

/**
 * Throws `config_invalid` when the first load fails. The loader (schema library, YAML parser) is imported only when there is a
 * file, so that the embedded default starts fast. A module that fails at the start keeps its adapters down. At a reload it leaves
 * the old configuration in force.
 */
export async function openConfigSource(
  config: ConfigSourceConfig,
  deps: ConfigSourceDeps,
): Promise<ConfigSource> {
  const { file } = config
  const changeListeners: ((now: Settings, before: Settings) => void)[] = []
  const reloadListeners: ((result: ReloadResult, by?: string) => void)[] = []

  async function load(failedModules: 'refused' | 'down'): Promise<LoadResult> {
    if (file === null) return { ok: true, settings: defaultSettings(config), warnings: [], files: [] }
    const { loadSettings } = await import('./load.ts')
    return loadSettings(file, {
      adapters: config.adapters,
      failedModules,
      defaultStore: config.defaultStore,
      ...defined({ readFile: deps.readFile }),
    })
  }

  // Watching begins before the first read: a change in between is read twice, never missed.
  const watcher =
    config.watch === true && file !== null
      ? watchFiles(() => void reload(), { clock: deps.clock, ...deps.watching })
      : null
  const first = await load('down').catch((thrown) => {
    watcher?.stop()
    throw thrown
  })
  if (!first.ok) {
    watcher?.stop()
    throw configError(file ?? 'switchboard.yaml', first.problems)
  }
  let settings = first.settings
  let files = first.files
  let problem: string | null = null
  watcher?.follow(first.files)

  function tell<T extends unknown[]>(listeners: readonly ((...news: T) => void)[], ...news: T): void {
    for (const listen of listeners) {
      try {
        listen(...news)
      } catch (thrown) {
        // The swap has happened. A listener that fails must not stop the others.
        deps.log.error({ err: String(thrown) }, 'a listener failed on the new configuration')
      }
    }
  }

  // One after another: a module may be slow, and the file that was read last counts.
  const inTurn = createSerial()
  const reload = (by?: string): Promise<ReloadResult> => inTurn(() => reloadNow(by))

  async function reloadNow(by: string | undefined): Promise<ReloadResult> {
    const loaded = await load('refused')
    if (!loaded.ok) {
      problem = renderProblems(file ?? '', loaded.problems)
      const result: ReloadResult = { outcome: 'invalid', settings, problems: loaded.problems, text: problem }
      tell(reloadListeners, result, by)
      return result
    }
    problem = null
    watcher?.follow(loaded.files)
    const before = settings
    const same = before.digest === loaded.settings.digest && sameList(before.warnings, loaded.warnings)
    settings = loaded.settings
    files = loaded.files
    if (!same) tell(changeListeners, settings, before)
    const result: ReloadResult = {
      outcome: same ? 'unchanged' : 'changed',
      settings,
      warnings: loaded.warnings,
    }
    tell(reloadListeners, result, by)
    return result
  }

  return {
    file,
    current: () => settings,
    files: () => files,
    reload,
    onChange: (listen) => void changeListeners.push(listen),
    onReload: (listen) => void reloadListeners.push(listen),
    problem: () => problem,
    stop: () => watcher?.stop(),
  }
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}
