// Commands talk to their own instance only. This checks that the daemon of the folder runs the given file, and finds the file
// for a folder without a daemon.
import { existsSync } from 'node:fs'
import { readDaemonNote, readHolderNote } from '../config/instance/daemon-note.ts'
import type { DataFolder } from '../config/instance/data-folder.ts'
import { folderWasNamed, type Instance, realPath } from '../config/instance/instance.ts'
import {
  knownInstanceAt,
  knownInstances,
  recordInstance,
  recordProgram,
} from '../config/instance/known-instances.ts'
import { shellWord } from '../config/instance/shell-word.ts'
import { SwitchboardError } from '../contract/index.ts'
import { wordsIn } from '../words/index.ts'
import type { Context } from './context.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Throws `config_invalid` when the given file does not exist. */
export function demandGivenFile({ config }: Instance): void {
  if (config === null || config.from === 'found' || existsSync(config.file)) return
  const how = config.from === 'flag' ? '--config' : 'SWITCHBOARD_CONFIG'
  throw new SwitchboardError('config_invalid', `${how}: there is no file ${config.file}`, {
    hint: 'name the file that the daemon runs, or leave it out',
  })
}

/** Throws `config_invalid`, with both paths and the remedy, when the daemon of the folder runs another file. */
export function demandSameFile(instance: Instance, folder: DataFolder): void {
  const { config } = instance
  if (config === null || config.from === 'found') return
  const runs = readHolderNote(folder).note?.config
  if (runs === undefined || runs === config.file) return
  throw new SwitchboardError(
    'config_invalid',
    `the daemon of ${folder.path} runs ${runs ?? 'the embedded default'}, not ${config.file}`,
    { hint: mismatchRemedy(runs, config.file) },
  )
}

/** The file of the running daemon. When none runs, or an older one: the file that `up` would use. */
export function daemonsFile(context: Context): string | null {
  const runs = readDaemonNote(context.folder)?.config
  return runs === undefined ? context.configFile() : runs
}

function mismatchRemedy(runs: string | null, wanted: string): string {
  const other = runs === null ? 'leave the file out' : `give --config ${shellWord(runs)}`
  return `to ask that daemon, ${other}; for the other one, leave --data and SWITCHBOARD_DATA out: switchboard up --config ${shellWord(wanted)}`
}

/** Notes that this user began the instance. When the home folder cannot be written, a note tells the person. */
export function remember(context: Context, instance: Instance = context.instance): void {
  const { terminal } = context
  try {
    const { data, config } = instance
    recordInstance({ data: data.path, config: config?.file ?? null }, terminal.env, terminal.now())
    const script = realPath(process.argv[1] ?? '')
    // The program of a library user is not this command line.
    if (/[\\/]cli[\\/]main\.js$/.test(script)) recordProgram(script, terminal.env)
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    context.note(wordsIn().daemonCommands.notRecorded({ why }))
  }
}

/** The file for a folder without a daemon. When the folder was named, this is the file that last ran in it. */
export function fileToReadWith(instance: Instance, env: Variables): string | null {
  const { config, data } = instance
  if (config !== null && (config.from !== 'found' || !folderWasNamed(instance))) return config.file
  if (!folderWasNamed(instance)) return null
  const last = knownInstanceAt(data.path, env)?.config ?? null
  return last !== null && existsSync(last) ? last : null
}

/** The command that starts a daemon of this instance. It mentions the other folder when the file last ran with one. */
export function startHintOf({ config, data }: Instance, env: Variables): string {
  const file = config === null || config.from === 'found' ? '' : ` --config ${shellWord(config.file)}`
  const folder = data.from === 'beside' || data.from === 'home' ? '' : ` --data ${shellWord(data.path)}`
  const elsewhere =
    config === null || data.from !== 'beside'
      ? undefined
      : knownInstances(env).find((known) => known.config === config.file && known.data !== data.path)
  const also =
    elsewhere === undefined
      ? ''
      : ` (it was last run with --data ${shellWord(elsewhere.data)}: say so here too)`
  return `start one with: switchboard up${file}${folder}${also}`
}
