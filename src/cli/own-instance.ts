// Commands talk to their own instance only: whether the daemon of the folder runs the file that was given, and which
// file a folder without a daemon is read with.
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
import type { Context } from './context.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Throws `config_invalid` when a file was given that is not there. */
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

/** The file of the daemon that runs; without one, or of an older one: the file that `up` would use. */
export function daemonsFile(context: Context): string | null {
  const runs = readDaemonNote(context.folder)?.config
  return runs === undefined ? context.configFile() : runs
}

function mismatchRemedy(runs: string | null, wanted: string): string {
  const other = runs === null ? 'leave the file out' : `give --config ${shellWord(runs)}`
  return `to ask that daemon, ${other}; for the other one, leave --data and SWITCHBOARD_DATA out: switchboard up --config ${shellWord(wanted)}`
}

/** Notes that this user began the instance. A home that cannot be written keeps no record, and that is said. */
export function remember(context: Context, instance: Instance = context.instance): void {
  const { terminal } = context
  try {
    const { data, config } = instance
    recordInstance({ data: data.path, config: config?.file ?? null }, terminal.env, terminal.now())
    const script = realPath(process.argv[1] ?? '')
    // A library user's program is no command line.
    if (/[\\/]cli[\\/]main\.js$/.test(script)) recordProgram(script, terminal.env)
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    context.note(`not recorded, so that hosts cannot start a daemon for it by themselves: ${why}`)
  }
}

/** The file that a folder without a daemon is read with: what was last run from it, where the folder was named. */
export function fileToReadWith(instance: Instance, env: Variables): string | null {
  const { config, data } = instance
  if (config !== null && (config.from !== 'found' || !folderWasNamed(instance))) return config.file
  if (!folderWasNamed(instance)) return null
  const last = knownInstanceAt(data.path, env)?.config ?? null
  return last !== null && existsSync(last) ? last : null
}

/** How a daemon of this instance is started; with a word where its file was last run from another folder. */
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
