// What every command is handed: the terminal, how to print, the data folder, and the way to the daemon.
import type { DataFolder } from '../config/data-folder.ts'
import { locateConfigFile, locateDataFolder } from './configuration.ts'
import { createDaemonClient, type DaemonClient, daemonAnswers } from './daemon-client.ts'
import { daemonAbsent, storeAway } from './failure.ts'
import { createPaint, type Paint, wantsColour } from './output/colour.ts'
import { jsonLine } from './output/json-lines.ts'
import type { Reader } from './reader.ts'
import type { Terminal } from './terminal.ts'

/** The options that every command takes. */
export interface GlobalOptions {
  readonly json?: boolean
  readonly config?: string
  readonly data?: string
  readonly color?: boolean
}

export interface Context {
  readonly terminal: Terminal
  readonly json: boolean
  readonly paint: Paint
  /** The file that `up` would use; null for the embedded default. */
  configFile(): string | null
  /** --config as it was given. */
  readonly givenConfig: string | undefined
  readonly folder: DataFolder
  /** One line (or several) on standard output. */
  print(text: string): void | Promise<void>
  /** One JSON object as one line on standard output. */
  printJson(value: unknown): void | Promise<void>
  /** A word to the person on standard error; silent with --json. */
  note(text: string): void
  /** The daemon that holds the data folder. Throws `daemon_absent` (or `absentText` as the error) when there is none. */
  daemon(absentText?: string): Promise<DaemonClient>
  /** Reads through the daemon, or from the store itself when no daemon runs. */
  reading<Result>(use: (reader: Reader) => Promise<Result>): Promise<Result>
}

/** What a command is: it prints, and says how it ended. Failures are thrown. */
export type Run<Options = object> = (
  context: Context,
  args: readonly string[],
  options: Options & GlobalOptions,
) => Promise<number>

export function createContext(terminal: Terminal, options: GlobalOptions): Context {
  const json = options.json === true
  const folder = locateDataFolder(terminal, options.data)
  const target = { dataDir: folder.path, socketPath: folder.socket }

  return {
    terminal,
    json,
    paint: createPaint(wantsColour({ flag: options.color, env: terminal.env, isTty: terminal.outputIsTty })),
    configFile: () => locateConfigFile(terminal, options.config),
    givenConfig: options.config,
    folder,
    print: (text) => terminal.out(`${text}\n`),
    printJson: (value) => terminal.out(`${jsonLine(value)}\n`),
    note: (text) => {
      if (!json) terminal.err(`${text}\n`)
    },
    async daemon(absentText) {
      if (!(await daemonAnswers(target.socketPath))) throw daemonAbsent(target.dataDir, absentText)
      return createDaemonClient(target)
    },
    async reading(use) {
      const { createDaemonReader, openStoreReader } = await import('./reader.ts')
      if (await daemonAnswers(target.socketPath)) return use(createDaemonReader(createDaemonClient(target)))
      const configFile = locateConfigFile(terminal, options.config)
      const opened = await openStoreReader({ dataDir: folder.path, configFile }).catch((thrown) => {
        throw storeAway(thrown, 'nothing was read: ask again when that is mended')
      })
      try {
        return await use(opened.reader)
      } finally {
        await opened.close()
      }
    },
  }
}
