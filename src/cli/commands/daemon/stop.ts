// `switchboard stop` and `restart`: end the daemon of the folder, and start it again in the background.
import type { StartingNote } from '../../../config/instance/daemon-note.ts'
import { readLastRun } from '../../../config/instance/last-run.ts'
import { SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import { daemonNow, endDaemon, reachOf, startInBackground } from '../../background.ts'
import type { Context, Run } from '../../context.ts'
import { demandSameFile } from '../../own-instance.ts'
import { announce } from './up-banner.ts'

export const stop: Run = async (context) => {
  const { path } = context.folder
  const ended = await endDaemonHere(context, () => demandSameFile(context.instance, context.folder))
  const pid = ended?.pid ?? null
  const words = wordsIn().daemonCommands.stop
  if (context.json) await context.printJson({ ok: true, stopped: pid !== null, pid, data: path })
  else if (pid === null) context.note(words.none({ folder: path }))
  else if (readLastRun(context.folder)?.end === 'stopped') await context.print(words.stopped({ pid }))
  else await context.print(words.ended({ pid }))
  return 0
}

/** Null: there was none. Throws what `demandMeant` does, before anybody is told to stop, and when it goes on. */
async function endDaemonHere(
  context: Context,
  demandMeant: (daemon: StartingNote) => void,
): Promise<StartingNote | null> {
  const note = await daemonNow(context)
  if (note === null) {
    // It asks the folder's lock: the store is loaded for that, and for nothing else here.
    const { endUnready, unreadyOf } = await import('../../end-unready.ts')
    return endUnready(unreadyOf(context, demandMeant))
  }
  demandMeant(note)
  await endDaemon(note)
  return note
}

/** With the configuration that it ran, where it listened. Without a daemon it is `up --detach`. */
export const restart: Run = async (context) => {
  const ended = await endDaemonHere(context, ({ service }) => {
    demandSameFile(context.instance, context.folder)
    if (service !== undefined) throw asService(service)
  })
  if (ended !== null) context.note(wordsIn().daemonCommands.stop.beforeRestart(ended))
  const configFile = ended?.config === undefined ? context.configFile() : ended.config
  // Read now: one that was starting has written it by then.
  const life = ended === null ? null : readLastRun(context.folder)
  const up = life === null ? [] : ['--host', life.host, '--port', String(life.port)]
  const begun = await startInBackground(context, { configFile, up })
  await tellUp(context, begun, configFile)
  return 0
}

async function tellUp(
  context: Context,
  { url, pid }: { readonly url: string; readonly pid: number },
  configFile: string | null,
): Promise<void> {
  await announce(
    context,
    { url, takenPort: null, ...(await reachOf(context)) },
    { dataDir: context.folder.path, configFile, pid, stop: 'switchboard stop' },
  )
}

/** Its supervisor would start a second one beside ours. */
function asService(unit: string): SwitchboardError {
  return new SwitchboardError('conflict', 'this daemon is run by a service manager, which starts it', {
    hint: unit === '' ? 'restart it there' : `systemctl --user restart ${unit}`,
  })
}
