// `switchboard stop` and `restart`: end the daemon of the folder, and start it again in the background.
import { readLastLife } from '../../config/last-life.ts'
import { SwitchboardError } from '../../contract/index.ts'
import { daemonNow, endDaemon, reachOf, startInBackground } from '../background.ts'
import type { Context, Run } from '../context.ts'
import { demandSameFile } from '../own-instance.ts'
import { announce } from './up-banner.ts'

export const stop: Run = async (context) => {
  const note = await daemonNow(context)
  if (note !== null) {
    demandSameFile(context.instance, context.folder)
    await endDaemon(note)
  }
  const pid = note?.pid ?? (await endedUnready(context))
  const { path } = context.folder
  if (context.json) await context.printJson({ ok: true, stopped: pid !== null, pid, data: path })
  else if (pid === null) context.note(`no daemon holds the data folder ${path}`)
  else await context.print(`stopped (process ${pid}); it stays so until: switchboard up`)
  return 0
}

/** It asks the folder's lock: the store is loaded for that, and for nothing else here. */
async function endedUnready(context: Context): Promise<number | null> {
  const { endUnready, unreadyOf } = await import('../end-unready.ts')
  return endUnready(unreadyOf(context))
}

/** With the configuration that it ran, where it listened. Without a daemon it is `up --detach`. */
export const restart: Run = async (context) => {
  const note = await daemonNow(context)
  if (note !== null) demandSameFile(context.instance, context.folder)
  if (note?.service !== undefined) throw asService(note.service)
  const life = note === null ? null : readLastLife(context.folder)
  const configFile = note === null || note.config === undefined ? context.configFile() : note.config
  if (note !== null) {
    await endDaemon(note)
    context.note(`stopped (process ${note.pid})`)
  }
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
