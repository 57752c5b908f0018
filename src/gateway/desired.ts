// The parts that a configuration wants, by `integration:ID` and `agent:ID`, each with what it would be started with.
import { createHash } from 'node:crypto'
import { type IntegrationSettings, inSlices, type Settings } from '../contract/index.ts'
import type { GatewayDeps } from './gateway.ts'
import type { Part } from './running.ts'
import { makeAgent, makeIntegration, type Pipeline } from './start-integrations.ts'

/** Other work runs between two slices. */
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

/** An adapter from a different module is a different adapter. */
function broughtBy({ modules }: Settings, bank: 'platforms' | 'connectors', name: string): string | null {
  return modules?.find((one) => one[bank].includes(name))?.file ?? null
}

/**
 * The settings that an adapter is created with. Access, scope and the like are read for each message, so a change of
 * them restarts nothing.
 */
function startedWith(integration: IntegrationSettings) {
  const { id, platform, enabled, options, replyToMode, oneWay, unproven, problem } = integration
  return { id, platform, enabled, options, replyToMode, oneWay, unproven, problem }
}

// What a running part was started with: its settings and the secrets behind them. A change restarts the part, so a
// replaced secret reaches only its users.

const REFERENCE = /"((?:env|file|secret):[^"\\]+)"/g

/** Stays in memory: it consists of digests, but need not be shown. */
function fingerprintOf(meaning: unknown, secret: (reference: string) => string): string {
  const written = JSON.stringify(meaning)
  const digest = createHash('sha256')
  for (const [, reference = ''] of written.matchAll(REFERENCE))
    digest.update(`${reference}=${behind(reference, secret)}\n`)
  return `${written} ${digest.digest('hex')}`
}

/** A broken reference prevents its part from starting, and is reported there. */
function behind(reference: string, secret: (reference: string) => string): string {
  try {
    return secret(reference)
  } catch {
    return ''
  }
}
