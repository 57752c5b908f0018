// The connector `llm`: a loop over a model behind an API, in this process. A turn is handed over when its run has
// begun. An interrupted turn is delivered again and continues from the journal, whether it had been seen or not.
import {
  type AgentConnector,
  type AgentOutlet,
  asSwitchboardError,
  type ConnectorDeps,
  type Delivery,
  SwitchboardError,
} from '../../contract/index.ts'
import { createStreamingFetch, createVerdictWait, type StreamingFetch } from '../../kit/index.ts'
import { type LlmConfig, readConfig } from './config.ts'
import { LOST } from './journal.ts'
import { createMcpServers } from './mcp-servers.ts'
import { boundedFetch, mostBytes } from './models/bounded-fetch.ts'
import type { Model } from './models/model.ts'
import { Draining } from './run-calls.ts'
import { runTurn, TurnOver } from './run-turn.ts'

/** The time-out for the head of an answer. A model that thinks first sends its head at once. */
const HEAD_MS = 120_000
/** A stop waits this long for running tools, so that their results are stored. */
const STOP_MS = 5_000

interface Run {
  readonly session: string
  readonly turn: string
  readonly abort: AbortController
  readonly done: Promise<void>
}

class Stopped extends Error {}

/** Throws `config_invalid` for invalid options. `fetch` is for tests. */
export async function createLlmConnector(
  deps: ConnectorDeps,
  fetch: StreamingFetch = createStreamingFetch({ clock: deps.clock, headTimeoutMs: HEAD_MS }),
): Promise<AgentConnector> {
  const config = readConfig(deps)
  const { journal, clock, log } = deps
  if (!journal)
    throw new SwitchboardError('config_invalid', `agent ${deps.agent.id}: connector.type: it needs a store`)
  const path = deps.processes?.environment.PATH ?? '/usr/local/bin:/usr/bin:/bin'
  const servers = createMcpServers(config, {
    ...{ clock, log, fetch, random: deps.random, path },
    version: '0.1.0',
  })
  const runs = new Map<string, Run>()
  const verdicts = createVerdictWait()
  let outlet: AgentOutlet | null = null
  let model: Promise<Model> | null = null
  const modelOf = () => {
    model ??= createModel(config, { fetch, clock }).catch((thrown) => {
      model = null
      throw thrown
    })
    return model
  }

  const run = async (delivery: Delivery, abort: AbortController, out: AgentOutlet): Promise<void> => {
    const { turn } = delivery
    try {
      const shared = { ...deps, journal, config, servers, outlet: out, verdictOn: verdicts.on }
      await runTurn(delivery, { ...shared, model: await modelOf() }, abort)
    } catch (thrown) {
      const why = abort.signal.aborted ? abort.signal.reason : thrown
      // Another node has the turn, or it was stopped. There is nothing to report.
      if (why === LOST || why instanceof Stopped || why instanceof Draining) return
      const over = why instanceof TurnOver
      const error = over ? null : asSwitchboardError(why, 'agent_failed')
      if (error) log.warn({ turn, problem: error.message }, 'a turn of the model failed')
      if (error?.code === 'conflict') return
      const detail = over ? why.message : (error?.message ?? '')
      if (error?.code === 'agent_unreachable') return await giveBack(turn, detail, out)
      if (error) out.reached(detail)
      const text = over && why.text !== '' ? { text: why.text } : {}
      await out.accept({ kind: 'failed', turn, reason: 'agent_failed', detail, ...text }).catch((problem) => {
        log.error({ turn, problem: String(problem) }, 'a turn could not be ended')
      })
    } finally {
      runs.delete(turn)
    }
  }

  /** Returns the turn to the queue. It continues from its journal when the API is reached again. */
  const giveBack = async (turn: string, detail: string, out: AgentOutlet) => {
    runs.delete(turn)
    await out
      .accept({ kind: 'returned', turns: [turn], counted: false, unreachable: true, detail })
      .catch((problem) => log.error({ turn, problem: String(problem) }, 'a turn could not be given back'))
  }

  return {
    redelivery: { handed: 'again', seen: 'resume', afterTimeout: false },
    // One turn at a time, because a message belongs to the context of the next one.
    window: 1,
    holdsDecisions: true,
    async start(given) {
      outlet = given
      given.presence(true)
    },
    async deliver(delivery) {
      const out = outlet
      if (!out) throw new SwitchboardError('agent_absent', 'the agent is being stopped')
      if (runs.has(delivery.turn)) return
      const abort = new AbortController()
      const { session, turn } = delivery
      runs.set(turn, { session, turn, abort, done: Promise.resolve() })
      runs.set(turn, { session, turn, abort, done: run(delivery, abort, out) })
    },
    async verdict(verdict) {
      const maybe = verdict.turn !== null && runs.has(verdict.turn)
      return verdicts.take(verdict, maybe) ? 'relayed' : 'gone'
    },
    async cancel(session, turn) {
      const found = [...runs.values()].filter(
        (one) => one.session === session && (turn === null || one.turn === turn),
      )
      for (const one of found) one.abort.abort(new Stopped())
      return found.length > 0
    },
    async stop() {
      outlet?.presence(false)
      outlet = null
      const all = [...runs.values()]
      for (const one of all) one.abort.abort(new Draining())
      await Promise.race([
        Promise.allSettled(all.map((one) => one.done)),
        new Promise<void>((resolve) => clock.after(STOP_MS, resolve)),
      ])
      await servers.stop()
    },
  }
}

async function createModel(
  config: LlmConfig,
  { fetch, clock }: { fetch: StreamingFetch; clock: ConnectorDeps['clock'] },
) {
  const bounded = boundedFetch(fetch, mostBytes(config.limits.output_tokens))
  const wire = { apiKey: config.key, baseUrl: config.base_url ?? null, fetch: bounded, clock }
  if (config.provider === 'anthropic')
    return (await import('./models/anthropic.ts')).createAnthropicModel(wire)
  const { createOpenAiModel } = await import('./models/openai.ts')
  return createOpenAiModel({ ...wire, compatible: config.provider === 'openai-compatible' })
}
