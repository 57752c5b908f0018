// `switchboard up`: runs the daemon in this process until it is stopped, and says where everything is.
import { existsSync, statSync } from 'node:fs'
import { readHolderNote } from '../../../config/instance/daemon-note.ts'
import { type DataFolder, dataFolderAt } from '../../../config/instance/data-folder.ts'
import { readEnvironment } from '../../../config/instance/environment.ts'
import { readLastRun, writeLastRun } from '../../../config/instance/last-run.ts'
import { shellWord } from '../../../config/instance/shell-word.ts'
import { defined, SwitchboardError } from '../../../contract/index.ts'
import type { Daemon, DaemonOptions } from '../../../daemon/daemon.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { storeAway, usage } from '../../failure.ts'
import { startInPlace } from '../../give-way.ts'
import { parseDuration } from '../../output/time.ts'
import { remember } from '../../own-instance.ts'
import { announce } from './up-banner.ts'

export interface UpOptions {
  readonly host?: string
  readonly port?: string
  readonly open?: boolean
  /** True when no duration was given. */
  readonly idleExit?: string | true
  /** Starts empty, also beside data of an earlier version. */
  readonly fresh?: boolean
  /** In the background. */
  readonly detach?: boolean
  /** This is the one in the background: its words go to a log. */
  readonly detached?: boolean
}

export type RunningDaemon = Pick<Daemon, 'url' | 'chatLink' | 'takenPort' | 'integrations' | 'stop' | 'done'>

/** What `up` needs of the world; tests hand in their own. */
export interface UpDeps {
  start(options: DaemonOptions): Promise<RunningDaemon>
  /** SIGINT and SIGTERM; the daemon minds SIGHUP (reload) itself. */
  onSignal(handle: (name: 'SIGINT' | 'SIGTERM') => void): () => void
  /** Tells another daemon of this user to drain and end. */
  endDaemon(pid: number): void
  pause(ms: number): Promise<void>
  /** Ends the process at once: the second signal. */
  abort(): void
  openBrowser(url: string): void
}

/** A terminal and a parent process may both pass on one Ctrl-C: what comes this soon is the same one. */
const SAME_PRESS_MS = 300

export const up: Run<UpOptions> = (context, _args, options) => runUp(context, options, processDeps())

/** Resolves with the exit code once the daemon has drained. Throws when it cannot start. */
export async function runUp(context: Context, options: UpOptions, deps: UpDeps): Promise<number> {
  const words = wordsIn().daemonCommands.up
  const port = parsePort(options.port)
  const idleExitMs = idleExit(options.idleExit)
  const { logLevel, variables } = readEnvironment(context.terminal.env)
  if (variables.SWITCHBOARD_LOG && logLevel === null)
    context.note(context.paint.yellow(words.unknownLogLevel))
  const configFile = context.configFile()
  const dataDir = context.folder.path
  const { now } = context.terminal

  demandOwnFile(context)
  if (options.fresh !== true) await demandNoEarlierData(context)
  if (options.detach === true) {
    if (idleExitMs !== undefined) throw usage('--idle-exit is for the foreground', 'leave --detach out')
    const { upDetached } = await import('./up-detached.ts')
    return upDetached(context, options)
  }

  let daemon: RunningDaemon | undefined
  let signalledAt: number | undefined
  const release = deps.onSignal((name) => {
    if (signalledAt === undefined) {
      signalledAt = now()
      context.note(context.paint.dim(words.stopping))
      if (daemon === undefined) keepStopped(context.folder)
      void daemon?.stop()
    } else if (now() - signalledAt < SAME_PRESS_MS) return
    // `stop` may be said twice while it starts: only a person at the keyboard means that nothing is to be closed.
    else if (daemon !== undefined || name === 'SIGINT') deps.abort()
  })
  try {
    const begin = {
      dataDir,
      configFile,
      ...defined({ host: options.host, port, idleExitMs }),
      ...logOptions(context),
    }
    const way = {
      note: () => readHolderNote(context.folder).note,
      ...{ end: deps.endDaemon, pause: deps.pause },
    }
    const start = () => deps.start(begin)
    daemon = await (idleExitMs === undefined ? startInPlace(start, way) : start())
    // A signal during the start waits for the start: half-open links are not torn down half-way.
    remember(context)
    if (signalledAt !== undefined) await daemon.stop()
    else {
      // Where its words go to a log a link that lets in does not belong.
      const unwatched = options.detached === true || (context.json && idleExitMs !== undefined)
      const { url, takenPort } = daemon
      const said = { url, takenPort, chatLink: unwatched ? null : daemon.chatLink }
      const integrations = context.json ? [] : await daemon.integrations()
      await announce(
        context,
        { ...said, integrations },
        { dataDir, configFile, pid: process.pid, stop: 'Ctrl-C' },
      )
      if (options.open === true) deps.openBrowser(daemon.chatLink ?? daemon.url)
    }
    return await daemon.done
  } catch (thrown) {
    throw daemon === undefined ? notStarted(thrown) : thrown
  } finally {
    release()
  }
}

/** Also where its start then fails, no shim revives it. Where another daemon has the folder, nothing is said of that one. */
function keepStopped(folder: DataFolder): void {
  const life = readLastRun(folder)
  if (life !== null && readHolderNote(folder).note?.pid === process.pid)
    writeLastRun(folder, { ...life, end: 'stopped' })
}

/** A file that was only found may be anybody's, and it starts programs: one of another user is run when it is named. */
function demandOwnFile({ instance: { config } }: Context): void {
  const uid = process.getuid?.()
  if (config === null || config.from !== 'found' || uid === undefined) return
  const owner = statSync(config.file, { throwIfNoEntry: false })?.uid
  if (owner === undefined || owner === uid || owner === 0) return
  throw new SwitchboardError('config_invalid', `${config.file} was found, and belongs to another user`, {
    hint: `it can start programs: read it, then say: switchboard up --config ${shellWord(config.file)}`,
  })
}

async function demandNoEarlierData({ instance, terminal }: Context): Promise<void> {
  if (instance.config === null || instance.data.from !== 'beside') return
  if (existsSync(dataFolderAt({ data: instance.data.path, env: terminal.env }).database)) return
  const { findEarlierData } = await import('../../../daemon/database/earlier-data.ts')
  const earlier = await findEarlierData(instance, terminal.env)
  if (earlier === null) return
  const file = instance.config.from === 'found' ? '' : ` --config ${shellWord(instance.config.file)}`
  const folder = shellWord(earlier.folder)
  throw new SwitchboardError(
    'config_invalid',
    `${instance.data.path} holds nothing yet, and ${earlier.folder} holds turns of ${earlier.integrations.join(', ')}`,
    {
      hint:
        `go on with what is there: switchboard up${file} --data ${folder}; ` +
        `or move it beside the file: switchboard instances adopt ${folder}${file}; ` +
        `or start empty: switchboard up${file} --fresh`,
    },
  )
}

function notStarted(thrown: unknown): unknown {
  // Only what the daemon itself needs ends the start: its admin token. `secrets set` would need the daemon.
  if (thrown instanceof SwitchboardError && /^secret:\S+ leads to nothing$/.test(thrown.message))
    return new SwitchboardError(thrown.code, thrown.message, {
      hint: 'secrets are set while a daemon runs: let server.admin_token be env:NAME or file:path',
      cause: thrown,
    })
  return storeAway(thrown, 'nothing was started: start again when that is mended')
}

/** On a terminal the banner says what a person wants to know; the log is left to what goes wrong. */
function logOptions(context: Context): Pick<DaemonOptions, 'logFormat' | 'logLevel'> {
  if (context.json || !context.terminal.errorIsTty) return { logFormat: 'json' }
  const asked = readEnvironment(context.terminal.env).logLevel
  return asked === null ? { logFormat: 'people', logLevel: 'warn' } : { logFormat: 'people' }
}

function parsePort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(port) || port > 65_535) {
    throw usage(`--port: "${text}" is not a port`, 'write a number from 0 to 65535; 0 takes a free one')
  }
  return port
}

const IDLE_EXIT_MS = 10 * 60_000

function idleExit(given: string | true | undefined): number | undefined {
  if (given === undefined) return undefined
  return given === true ? IDLE_EXIT_MS : parseDuration(given, '--idle-exit')
}

function processDeps(): UpDeps {
  return {
    async start(options) {
      const { runDaemon } = await import('../../../daemon/daemon.ts')
      return runDaemon(options)
    },
    onSignal(handle) {
      process.on('SIGINT', handle)
      process.on('SIGTERM', handle)
      return () => {
        process.off('SIGINT', handle)
        process.off('SIGTERM', handle)
      }
    },
    endDaemon(pid) {
      try {
        process.kill(pid, 'SIGTERM')
      } catch {
        // it has ended already
      }
    },
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    abort: () => process.exit(1),
    openBrowser: (url) => void import('../../open-browser.ts').then((m) => m.openBrowser(url)),
  }
}
