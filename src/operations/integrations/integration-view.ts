// Integrations as operators see them: the entry in force, the state of its link, and how people reach it.
import {
  defined,
  type IntegrationSettings,
  type IntegrationView,
  type Settings,
} from '../../contract/index.ts'
import { linkOf } from '../../core/links.ts'
import { linkStateOf } from '../../gateway/link-reports.ts'
import type { LiveParts } from '../context.ts'

type Parts = Pick<LiveParts, 'gateway' | 'adapters' | 'baseUrl'>

export function integrationViews(settings: Settings, parts: Parts): readonly IntegrationView[] {
  return settings.integrations.map((one) => integrationView(one, settings, parts))
}

export function integrationView(one: IntegrationSettings, settings: Settings, parts: Parts): IntegrationView {
  const { gateway } = parts
  const link = gateway.links.get(one.id)
  const { detail } = linkStateOf(gateway.links, gateway.problems(), one.id, one.enabled)
  return {
    id: one.id,
    platform: one.platform,
    enabled: one.enabled,
    default: one.default,
    scope: typeof one.scope === 'string' ? one.scope : one.scope.agents,
    origin: one.origin,
    link: link ? linkOf(link.adapter).state : 'down',
    ...defined({ detail, paste: pasteOf(one, settings, parts), reach: reachOf(one, settings, parts) }),
  }
}

/** The function is foreign code: one that throws or returns nonsense has nothing to paste. */
function pasteOf(one: IntegrationSettings, settings: Settings, { adapters, baseUrl }: Parts) {
  const setup = adapters?.loadedPlatform(one.platform, settings.modules)?.setup
  if (!setup?.paste || !baseUrl) return undefined
  try {
    const lines: unknown = setup.paste({ id: one.id, base: baseUrl(), options: one.options })
    return Array.isArray(lines) ? lines.slice(0, 200).map(String) : undefined
  } catch {
    return undefined
  }
}

function reachOf(one: IntegrationSettings, settings: Settings, { gateway, adapters, baseUrl }: Parts) {
  const setup = adapters?.loadedPlatform(one.platform, settings.modules)?.setup
  const who = gateway.links.get(one.id)?.adapter.link?.who?.() ?? null
  try {
    const url: unknown = baseUrl && setup?.url?.({ id: one.id, base: baseUrl(), options: one.options, who })
    const reach = typeof url === 'string' ? url : who
    return reach === null ? undefined : String(reach).slice(0, 500)
  } catch {
    return undefined
  }
}
