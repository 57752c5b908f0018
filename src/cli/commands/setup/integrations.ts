// `switchboard integrations`: accounts on platforms. Those of the file are listed; those added here are kept encrypted.
import type { IntegrationView, PlatformModule } from '../../../contract/index.ts'
import { openCatalog } from '../../../setup/catalog.ts'
import { ownAddress } from '../../../setup/check-file.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { printList } from '../../list.ts'
import type { Column } from '../../output/table.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { daemonsFile } from '../../own-instance.ts'

const COLUMNS: readonly Column<IntegrationView>[] = [
  { title: 'ID', value: (row) => row.id },
  { title: 'PLATFORM', value: (row) => row.platform },
  { title: 'STATE', value: (row) => (row.enabled ? row.link : 'disabled') },
  { title: 'SCOPE', value: (row) => (typeof row.scope === 'string' ? row.scope : row.scope.join(', ')) },
  { title: 'DEFAULT', value: (row) => (row.default ? 'yes' : '') },
  { title: 'FROM', value: (row) => row.origin, givesWay: 1 },
]

export const listIntegrations: Run = async (context) => {
  const daemon = await context.daemon()
  const found = await daemon.ask('GET /api/integrations')
  await printList(context, found.items, COLUMNS, { empty: wordsIn().commandLine.empty.integrations })
  return 0
}

export const grantIntegration: Run = async (context, [id = '', agents = '']) => {
  const daemon = await context.daemon()
  const body = { scope: scopeOf(agents) }
  return tell(
    context,
    await daemon.ask('POST /api/integrations/{id}/grant', { path: { id }, body }),
    wordsIn().setupCommands.integrations.granted({ agents }),
  )
}

const turned =
  (verb: 'enable' | 'disable'): Run =>
  async (context, [id = '']) => {
    const daemon = await context.daemon()
    return tell(
      context,
      await daemon.ask(`POST /api/integrations/{id}/${verb}`, { path: { id } }),
      wordsIn().setupCommands.integrations[`${verb}d`],
    )
  }

export const enableIntegration = turned('enable')
export const disableIntegration = turned('disable')

export const removeIntegration: Run = async (context, [id = '']) => {
  const daemon = await context.daemon()
  const { secrets_removed, secrets_unused } = await daemon.ask('DELETE /api/integrations/{id}', {
    path: { id },
  })
  if (context.json) {
    await context.printJson({ ok: true, id, secrets_removed, secrets_unused })
    return 0
  }
  const words = wordsIn().setupCommands.integrations
  const secrets = secrets_removed.length === 0 ? null : secrets_removed.join(', ')
  await context.print(words.forgotten({ integration: oneLine(id), secrets }))
  for (const name of secrets_unused) context.note(context.paint.dim(words.unusedSecret({ name })))
  return 0
}

export async function tell(
  context: Context,
  view: IntegrationView & { readonly who?: string },
  what: string,
): Promise<number> {
  if (context.json) await context.printJson(view)
  else {
    const { platform, link } = view
    const detail = view.detail === undefined ? null : oneLine(view.detail)
    const about = { integration: oneLine(view.id), platform, what: oneLine(what), link, detail }
    await context.print(wordsIn().setupCommands.integrations.link(about))
  }
  return 0
}

export function scopeOf(written: string): 'all' | { agents: string[] } {
  if (written === 'all') return 'all'
  const agents = written
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (agents.length === 0) throw usage('no agent is named', 'write all, or ids separated by commas')
  return { agents }
}

/** The lines to paste for a platform that is not set up yet. Its name stands for the id. */
export async function pasteOf(context: Context, { name, setup }: PlatformModule): Promise<readonly string[]> {
  const base = await ownAddress(context.folder, daemonsFile(context))
  return setup?.paste?.({ id: name, base, options: {} }) ?? []
}

/** What to paste elsewhere: of one integration, of all of a platform, or of a platform that is not set up yet. */
export const pasteIntegration: Run = async (context, [named = '']) => {
  const daemon = await context.daemon()
  const { items } = await daemon.ask('GET /api/integrations')
  const byId = items.filter((one) => one.id === named)
  const found = byId.length > 0 ? byId : items.filter((one) => one.platform === named)
  if (found.length === 0) {
    const { platforms } = await openCatalog(daemonsFile(context))
    const module = platforms.get(named)
    if (module === undefined) {
      throw usage(
        `there is no integration and no platform "${oneLine(named)}"`,
        `integrations: ${items.map((one) => one.id).join(', ') || 'none'}; platforms: ${[...platforms.keys()].join(', ')}`,
      )
    }
    found.push({ id: named, platform: named, paste: await pasteOf(context, module) } as IntegrationView)
  }
  for (const { id, platform, paste = [] } of found) {
    if (context.json) await context.printJson({ id, platform, paste })
    else if (paste.length === 0) {
      const about = { integration: oneLine(id), platform: oneLine(platform) }
      context.note(wordsIn().setupCommands.integrations.nothingToPaste(about))
    } else await context.print(paste.map(safeLines).join('\n'))
  }
  return 0
}
