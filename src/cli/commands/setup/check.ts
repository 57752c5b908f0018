// `switchboard check`: is the configuration right, and if not, where. Line, column, the nearest right key.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { realPath } from '../../../config/instance/instance.ts'
import type { Settings } from '../../../contract/index.ts'
import { checkFile } from '../../../setup/check-file.ts'
import type { Context, Run } from '../../context.ts'
import { counted, oneLine, safeLines } from '../../output/text.ts'

export const check: Run<{ readonly inForce?: boolean }> = async (context, [given], { inForce }) => {
  if (inForce === true) return showInForce(context)
  const file = given ?? context.configFile()
  if (file === null) {
    if (context.json) await context.printJson({ ok: true, file: null, problems: [], warnings: [] })
    else await context.print('ok: there is no switchboard.yaml here, so the embedded default is used')
    return 0
  }
  const result = await checkFile(file, context.folder, {
    env: context.terminal.env,
    kept: await keptFor(context, file),
  })
  const { problems, warnings, settings } = result
  const ok = problems.length === 0
  if (context.json) {
    await context.printJson({ ok, file, problems, warnings })
    return ok ? 0 : 2
  }
  for (const warning of warnings) context.note(`${context.paint.yellow('warning:')} ${oneLine(warning)}`)
  if (ok) {
    await context.print(`ok: ${oneLine(file)}${settings === null ? '' : ` (${summaryOf(settings)})`}`)
    return 0
  }
  context.note(safeLines(result.rendered))
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  context.note(`${context.paint.red('error:')} ${oneLine(file)} has ${count}`)
  context.note(`${context.paint.cyan('hint:')} all keys are in: switchboard schema`)
  return 2
}

const summaryOf = ({ integrations, agents }: Settings) =>
  `${counted(integrations.length, 'integration')}, ${counted(agents.length, 'agent')}`

async function showInForce(context: Context): Promise<number> {
  const daemon = await context.daemon()
  const view = await daemon.ask('GET /api/config')
  if (context.json) await context.printJson(view)
  else if (view.file === null) await context.print('# the embedded default: no file is in force')
  else for (const line of view.lines) await context.print(oneLine(line) === '' ? '' : safeLines(line))
  for (const { line, column, message } of view.refused?.problems ?? [])
    context.note(`${context.paint.red('refused:')} line ${line}:${column} ${oneLine(message)}`)
  return view.refused === undefined ? 0 : 1
}

/** The names in the encrypted store of the instance that runs this file. Null: they cannot be read. */
async function keptFor(context: Context, file: string): Promise<ReadonlySet<string> | null> {
  if (context.configFile() !== realPath(resolve(context.terminal.cwd(), file))) return null
  if (!existsSync(context.folder.path)) return new Set()
  return context
    .reading(async (api) => new Set((await api.ask('GET /api/secrets')).items.map(({ name }) => name)))
    .catch(() => null)
}
