// The parts that a configuration wants, by `integration:ID` and `agent:ID`, each with what it would be started with.
import { createHash } from 'node:crypto'
import { type IntegrationSettings, inSlices, type Settings } from '../contract/index.ts'
import type { GatewayDeps } from './gateway.ts'
import type { Part } from './running.ts'
import { makeAgent, makeIntegration, type Pipeline } from './start-integrations.ts'

/** Between two slices, what others do goes on. */
const SLICE = 200

export async function desiredParts(
  deps: GatewayDeps,
  pipeline: Pipeline,
): Promise<ReadonlyMap<string, Part>> {
  const settings = deps.settings()
  const wanted = new Map<string, Part>()
  const want = <One>(all: readonly One[], put: (one: One) => void) =>
    inSlices(all, deps.clock, put, { slice: SLICE })
  await want(settings.integrations, (one) => {
    const by = broughtBy(settings, 'platforms', one.platform)
    wanted.set(`integration:${one.id}`, {
      digest: fingerprintOf({ ...startedWith(one), publicUrl: settings.server.publicUrl, by }, deps.secret),
      live: one.enabled && pipeline.links.get(one.id)?.adapter.configChanged !== undefined,
      make: () => makeIntegration(one, deps, pipeline),
    })
  })
  await want(settings.agents, (one) => {
    const by = broughtBy(settings, 'connectors', one.connector.type)
    wanted.set(`agent:${one.id}`, {
      digest: fingerprintOf({ ...one.connector, by }, deps.secret),
      make: () => makeAgent(one, deps, pipeline),
    })
  })
  return wanted
}

/** An adapter that another module brings now is another adapter. */
function broughtBy({ modules }: Settings, bank: 'platforms' | 'connectors', name: string): string | null {
  return modules?.find((one) => one[bank].includes(name))?.file ?? null
}

/** What an adapter is made with. Access, scope and the like are asked for each message: a change of them starts nothing anew. */
function startedWith(integration: IntegrationSettings) {
  const { id, platform, enabled, options, replyToMode, oneWay, unproven, problem } = integration
  return { id, platform, enabled, options, replyToMode, oneWay, unproven, problem }
}

// What a running part was started with: its settings, and the secrets behind them. A part is started anew when this
// changes, so a secret that was replaced reaches those that use it and nobody else.

const REFERENCE = /"((?:env|file|secret):[^"\\]+)"/g

/** Stays in memory: it is made of digests, but nobody needs to see it. */
function fingerprintOf(meaning: unknown, secret: (reference: string) => string): string {
  const written = JSON.stringify(meaning)
  const digest = createHash('sha256')
  for (const [, reference = ''] of written.matchAll(REFERENCE))
    digest.update(`${reference}=${behind(reference, secret)}\n`)
  return `${written} ${digest.digest('hex')}`
}

/** One that leads nowhere keeps its part from starting; that is told there. */
function behind(reference: string, secret: (reference: string) => string): string {
  try {
    return secret(reference)
  } catch {
    return ''
  }
}
