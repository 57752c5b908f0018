// `switchboard instances`: lists every instance of this user with its file, its folder and whether it runs. `adopt` moves a data
// folder beside the file that it belongs to.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readDaemonNote } from '../../../config/instance/daemon-note.ts'
import { dataFolderAt } from '../../../config/instance/data-folder.ts'
import { homeFolder, instanceName, namedInstances, realPath } from '../../../config/instance/instance.ts'
import { knownInstances } from '../../../config/instance/known-instances.ts'
import { SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { daemonAnswers } from '../../daemon-client.ts'
import { usage } from '../../failure.ts'
import { renderTable } from '../../output/table.ts'
import { remember } from '../../own-instance.ts'

interface InstanceView {
  readonly name: string
  readonly state: 'running' | 'stopped'
  readonly url: string | null
  readonly pid: number | null
  readonly config: string | null
  readonly data: string
}

export const listInstances: Run = async (context) => {
  const views = await Promise.all(instancesOf(context.terminal.env).map((one) => viewOf(context, one)))
  if (context.json) {
    for (const view of views) await context.printJson(view)
    return 0
  }
  const words = wordsIn().setupCommands.instances
  if (views.length === 0) {
    context.note(words.none)
    return 0
  }
  const { paint } = context
  await context.print(
    renderTable(
      views,
      [
        { title: 'INSTANCE', value: (row) => row.name, givesWay: 1 },
        { title: 'STATE', value: (row) => row.state },
        { title: 'AT', value: (row) => row.url ?? '' },
        { title: 'CONFIG', value: (row) => row.config ?? words.embedded, givesWay: 3 },
        { title: 'DATA', value: (row) => row.data, givesWay: 2 },
      ],
      { paint, width: context.terminal.columns },
    ),
  )
  return 0
}

/** Recorded instances, named ones, and the home folder when it holds data. Each folder once, sorted by name. */
function instancesOf(env: Context['terminal']['env']): readonly { data: string; config: string | null }[] {
  const found = new Map<string, string | null>()
  const home = homeFolder(env)
  if (existsSync(join(home, 'switchboard.db'))) found.set(realPath(home), null)
  const names = existsSync(namedInstances(env)) ? readdirSync(namedInstances(env)) : []
  for (const name of names) found.set(realPath(join(namedInstances(env), name)), null)
  for (const { data, config } of knownInstances(env))
    if (existsSync(data) || (config !== null && existsSync(config))) found.set(data, config)
  return [...found].map(([data, config]) => ({ data, config }))
}

async function viewOf(
  context: Context,
  { data, config }: { readonly data: string; readonly config: string | null },
): Promise<InstanceView> {
  const { env } = context.terminal
  const folder = dataFolderAt({ data, env })
  const runs = await daemonAnswers(folder.socket).catch(() => false)
  const note = runs ? readDaemonNote(folder) : null
  return {
    name: instanceName(data, env),
    state: runs ? 'running' : 'stopped',
    url: note?.url ?? null,
    pid: note?.pid ?? null,
    config: note?.config === undefined ? config : note.config,
    data,
  }
}

export const adopt: Run = async (context, [dir = '']) => {
  const { instance, folder, terminal } = context
  if (instance.config === null)
    throw usage(
      'there is no switchboard.yaml to move it to',
      'run it in the folder of the file, or name it: --config FILE',
    )
  const from = dataFolderAt({ data: realPath(dir), env: terminal.env })
  const { adoptFolder } = await import('../../../daemon/adopt-folder.ts')
  const words = wordsIn().setupCommands.instances
  let moved = 0
  adoptFolder(from, folder, (entry) => {
    moved += 1
    context.note(context.paint.dim(words.movedOne({ name: entry })))
  })
  remember(context)
  const { openStoreContext } = await import('../../../operations/open-store-context.ts')
  const opened = await openStoreContext({ dataDir: folder.path, configFile: instance.config.file })
  const report = await opened.context.store.verify().finally(() => opened.close())
  if (!report.ok)
    throw new SwitchboardError('execution_failed', `moved to ${folder.path}, but its ledger does not hold`, {
      hint: 'look at it with: switchboard audit verify',
    })
  if (context.json)
    await context.printJson({ ok: true, from: from.path, data: folder.path, moved, entries: report.entries })
  else {
    const done = { from: from.path, to: folder.path, entries: report.entries }
    await context.print(
      moved === 0 ? words.nothingMoved(done) : words.moved({ ...done, mark: context.paint.green }),
    )
  }
  return 0
}
