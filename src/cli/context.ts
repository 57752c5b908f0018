// What every command gets: the terminal, how to print, the data folder, and the way to the daemon.
import { type DataFolder, dataFolderAt } from '../config/instance/data-folder.ts'
import { type Instance, locateInstance } from '../config/instance/instance.ts'
import { wordsIn } from '../words/index.ts'
import type { Api } from './api.ts'
import { createDaemonClient, daemonAnswers } from './daemon-client.ts'
import { daemonAbsent, storeAway } from './failure.ts'
import { createPaint, type Paint, wantsColour } from './output/colour.ts'
import { jsonLine } from './output/json-lines.ts'
import { demandGivenFile, demandSameFile, fileToReadWith, startHintOf } from './own-instance.ts'
import type { Terminal } from './terminal.ts'

/** The options that every command takes. */
export interface GlobalOptions {
  readonly json?: boolean
  readonly config?: string
  readonly data?: string
  readonly name?: string
  readonly color?: boolean
}

export interface Context {
  readonly terminal: Terminal
  readonly json: boolean
  readonly paint: Paint
  /** The instance that the flags, the environment and the working folder name. */
  readonly instance: Instance
  /** The instance of another file, with the folder that the flags and the environment name for it. */
  instanceOf(file: string): Instance
  /** The file that `up` would use; null for the embedded default. */
  configFile(): string | null
  /** --config as it was given. */
  readonly givenConfig: string | undefined
  readonly folder: DataFolder
  /** How a daemon of this instance is started. */
  startHint(): string
  /** One line (or several) on standard output. */
  print(text: string): void | Promise<void>
  /** One JSON object as one line on standard output. */
  printJson(value: unknown): void | Promise<void>
  /** A note to the person on standard error. Silent with --json. */
  note(text: string): void
  /** A note that begins with the word for a warning. */
  warn(text: string): void
  /** The daemon that holds the data folder. Throws `daemon_absent` (or `absentText` as the error) when there is none. */
  daemon(absentText?: string): Promise<Api>
  /** Reads through the daemon, or from the store itself when no daemon runs. */
  reading<Result>(use: (api: Api) => Promise<Result>): Promise<Result>
}

/** A command prints, and returns its exit code. Failures are thrown. */
export type Run<Options = object> = (
  context: Context,
  args: readonly string[],
  options: Options & GlobalOptions,
) => Promise<number>

export function createContext(terminal: Terminal, options: GlobalOptions): Context {
  const json = options.json === true
  const { config, data, name } = options
  const named = { data, name, env: terminal.env, cwd: terminal.cwd() }
  const instance = locateInstance({ ...named, config })
  const folder = dataFolderAt({ data: instance.data.path, env: terminal.env })
  const target = {
    dataDir: folder.path,
    socketPath: folder.socket,
    startHint: () => startHintOf(instance, terminal.env),
  }
  const paint = createPaint(
    wantsColour({ flag: options.color, env: terminal.env, isTty: terminal.outputIsTty }),
  )
  const note = (text: string) => {
    if (!json) terminal.err(`${text}\n`)
  }

  return {
    terminal,
    json,
    paint,
    instance,
    instanceOf: (file) => locateInstance({ ...named, config: file }),
    configFile: () => instance.config?.file ?? null,
    givenConfig: options.config,
    folder,
    startHint: target.startHint,
    print: (text) => terminal.out(`${text}\n`),
    printJson: (value) => terminal.out(`${jsonLine(value)}\n`),
    note,
    warn: (text) => note(`${paint.yellow(wordsIn().commandLine.labels.warning)} ${text}`),
    async daemon(absentText) {
      demandGivenFile(instance)
      if (!(await daemonAnswers(target.socketPath)))
        throw daemonAbsent(target.dataDir, target.startHint(), absentText)
      demandSameFile(instance, folder)
      return createDaemonClient(target)
    },
    async reading(use) {
      demandGivenFile(instance)
      if (await daemonAnswers(target.socketPath)) {
        demandSameFile(instance, folder)
        return use(createDaemonClient(target))
      }
      const configFile = fileToReadWith(instance, terminal.env)
      // Loaded here alone, so that a live daemon stays quick to ask.
      const { openStoreApi } = await import('./store-api.ts')
      const opened = await openStoreApi({
        dataDir: folder.path,
        configFile,
        hint: target.startHint(),
      }).catch((thrown) => {
        throw storeAway(thrown, 'nothing was read: ask again when that is mended')
      })
      try {
        return await use(opened.api)
      } finally {
        await opened.close()
      }
    },
  }
}
