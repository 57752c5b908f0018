// `switchboard check`: is the configuration right, and if not, where. Line, column, the nearest right key.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { realPath } from '../../../config/instance/instance.ts'
import type { Settings } from '../../../contract/index.ts'
import { checkFile } from '../../../setup/check-file.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { oneLine, safeLines } from '../../output/text.ts'

export const check: Run<{ readonly inForce?: boolean }> = async (context, [given], { inForce }) => {
  if (inForce === true) return showInForce(context)
  const file = given ?? context.configFile()
  if (file === null) {
    if (context.json) await context.printJson({ ok: true, file: null, problems: [], warnings: [] })
    else await context.print(wordsIn().setupCommands.check.embedded)
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
  for (const warning of warnings) context.warn(oneLine(warning))
  if (ok) {
    await context.print(okText(oneLine(file), settings))
    return 0
  }
  context.note(safeLines(result.rendered))
  const { labels } = wordsIn().commandLine
  const words = wordsIn().setupCommands.check
  const count = words.problems({ file: oneLine(file), count: problems.length })
  context.note(`${context.paint.red(labels.error)} ${count}`)
  context.note(`${context.paint.cyan(labels.hint)} ${words.allKeys}`)
  return 2
}

function okText(file: string, settings: Settings | null): string {
  const { ok, okWith } = wordsIn().setupCommands.check
  if (settings === null) return ok({ file })
  const { integrations, agents } = settings
  return okWith({ file, integrations: integrations.length, agents: agents.length })
}

async function showInForce(context: Context): Promise<number> {
  const daemon = await context.daemon()
  const words = wordsIn().setupCommands.check
  const view = await daemon.ask('GET /api/config')
  if (context.json) await context.printJson(view)
  else if (view.file === null) await context.print(words.embeddedInForce)
  else for (const line of view.lines) await context.print(oneLine(line) === '' ? '' : safeLines(line))
  for (const { line, column, message } of view.refused?.problems ?? [])
    context.note(words.refused({ line, column, message: oneLine(message), mark: context.paint.red }))
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
