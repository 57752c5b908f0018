// A node's report about its links, and the state of an integration's link in one word.
import { defined, type NodeReport, type Settings } from '../contract/index.ts'
import type { Links } from '../core/links.ts'
import { linkOf } from '../core/links.ts'

export function linkReports(
  links: Links,
  settings: Settings,
  problems: ReadonlyMap<string, string>,
): Pick<NodeReport, 'links' | 'activity'> {
  const reports = settings.integrations.map((one) => {
    const { link, detail } = linkStateOf(links, problems, one.id, one.enabled)
    const listening = links.get(one.id)?.adapter.watchers?.listening() ?? false
    return {
      integration: one.id,
      state: link,
      ...defined({ detail, listening }),
    }
  })
  const activity = links
    .all()
    .map(({ integration, lastInAt, lastOutAt }) => [integration, { lastInAt, lastOutAt }])
  return { links: reports, activity: Object.fromEntries(activity) }
}

export function linkStateOf(
  links: Links,
  problems: ReadonlyMap<string, string>,
  id: string,
  enabled: boolean,
): { link: string; detail?: string } {
  if (!enabled) return { link: 'disabled' }
  const problem = problems.get(`integration:${id}`)
  if (problem !== undefined) return { link: 'down', detail: problem }
  const link = links.get(id)
  if (!link) return { link: 'down', detail: 'not started yet' }
  const { state, detail } = linkOf(link.adapter)
  return detail === undefined ? { link: state } : { link: state, detail }
}
