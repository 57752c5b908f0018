// `switchboard integrations`: accounts on platforms. Those of the file are listed; those added here are kept encrypted.
import type { IntegrationView } from '../../contract/index.ts'
import type { Context, Run } from '../context.ts'
import { usage } from '../failure.ts'
import { printList } from '../list.ts'
import type { Column } from '../output/table.ts'
import { oneLine } from '../output/text.ts'

export interface AddOptions {
  readonly platform: string
  readonly set?: readonly string[]
  readonly agent?: string
  readonly scope?: string
  readonly default?: boolean
}

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
  const found = await daemon.call<{ readonly items: readonly IntegrationView[] }>('GET', '/api/integrations')
  await printList(context, found.items, COLUMNS, { empty: 'No integrations are configured.' })
  return 0
}

export const addIntegration: Run<AddOptions> = async (context, [id = ''], options) => {
  const definition: Record<string, unknown> = { id, platform: options.platform }
  for (const pair of options.set ?? []) put(definition, pair)
  if (options.scope !== undefined) definition.scope = scopeOf(options.scope)
  if (options.default === true) definition.default = true
  const daemon = await context.daemon()
  const added = await daemon.call<IntegrationView>('POST', '/api/integrations', {
    body: { definition, ...(options.agent === undefined ? {} : { agent: options.agent }) },
  })
  return tell(context, added, 'is kept, encrypted')
}

export const grantIntegration: Run = async (context, [id = '', agents = '']) => {
  const daemon = await context.daemon()
  const body = { scope: scopeOf(agents) }
  return tell(context, await daemon.call('POST', pathOf(id, 'grant'), { body }), `is granted to ${agents}`)
}

const turned =
  (verb: 'enable' | 'disable'): Run =>
  async (context, [id = '']) => {
    const daemon = await context.daemon()
    return tell(context, await daemon.call('POST', pathOf(id, verb), { body: {} }), `is ${verb}d`)
  }

export const enableIntegration = turned('enable')
export const disableIntegration = turned('disable')

export const removeIntegration: Run = async (context, [id = '']) => {
  const daemon = await context.daemon()
  await daemon.call('DELETE', `/api/integrations/${encodeURIComponent(id)}`)
  if (context.json) await context.printJson({ ok: true, id })
  else await context.print(`${oneLine(id)} is forgotten`)
  return 0
}

async function tell(context: Context, view: IntegrationView, what: string): Promise<number> {
  if (context.json) await context.printJson(view)
  else {
    const why = view.detail === undefined ? '' : ` (${oneLine(view.detail)})`
    await context.print(`${oneLine(view.id)} (${view.platform}) ${oneLine(what)}; link: ${view.link}${why}`)
  }
  return 0
}

function pathOf(id: string, verb: string): string {
  return `/api/integrations/${encodeURIComponent(id)}/${verb}`
}

function scopeOf(written: string): 'all' | { readonly agents: readonly string[] } {
  if (written === 'all') return 'all'
  const agents = written
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (agents.length === 0) throw usage('no agent is named', 'write all, or ids separated by commas')
  return { agents }
}

/** `out.url=env:URL` into the definition; true, false, numbers, lists and objects are read as JSON. */
function put(definition: Record<string, unknown>, pair: string): void {
  const cut = pair.indexOf('=')
  if (cut < 1) throw usage(`--set: "${oneLine(pair)}" is not key=value`, 'write e.g. --set token=secret:TG')
  const path = pair.slice(0, cut).split('.')
  const last = path.pop() ?? ''
  let place = definition
  for (const key of path) {
    const inner = Object.hasOwn(place, key) ? place[key] : undefined
    const next: Record<string, unknown> =
      typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
    place[key] = next
    place = next
  }
  place[last] = readValue(pair.slice(cut + 1))
}

export function readValue(written: string): unknown {
  if (!/^(true|false|null|-?\d+(\.\d+)?|[[{].*)$/s.test(written)) return written
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}
