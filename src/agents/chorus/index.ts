// The connector `chorus`: Switchboard is the service. A turn is posted to the agent's connection string with a callback
// of its own. The agent's posts to the callback come back as its answer. The agent lives on without us. So a turn that
// it took is waited for, also across our restarts, and never posted again.
import {
  type AgentConnector,
  type AgentOutlet,
  asSwitchboardError,
  type ConnectorDeps,
  type Delivery,
  type HttpReply,
  type RawRequest,
  SwitchboardError,
} from '../../contract/index.ts'
import {
  createGuardedFetch,
  type GuardedFetch,
  handOverError,
  postChorus,
  readEvents,
  TURN_TOKENS,
} from '../../kit/index.ts'
import { composeDelivery } from './compose-delivery.ts'
import { readConfig } from './config.ts'
import { createEventTaker } from './take-events.ts'

/** Throws `config_invalid` for invalid options. `fetch` is for tests. */
export function createChorusAgent(
  deps: ConnectorDeps,
  fetch: GuardedFetch = createGuardedFetch(deps),
): AgentConnector {
  const config = readConfig(deps)
  let outlet: AgentOutlet | null = null
  const events = createEventTaker(present, { showTools: config.showTools, secrets: [config.url] })

  function present(): AgentOutlet {
    if (outlet) return outlet
    throw new SwitchboardError('draining', 'the agent is being stopped', { retryAfterMs: 2_000 })
  }

  const deliver = async (delivery: Delivery): Promise<void> => {
    const body = await composeDelivery(delivery, config, deps)
    const post = { url: config.url, body, whom: 'the agent', allowPrivate: config.allowPrivate }
    try {
      await postChorus(
        {
          ...{ ...post, idempotencyKey: delivery.turn, keepAlive: true, now: deps.clock.now() },
          unreached: 'agent_unreachable',
        },
        fetch,
      )
      outlet?.reached(null)
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      if (REFUSED.has(error.code)) outlet?.reached(error.message)
      else if (ANSWERED.has(error.code)) outlet?.reached()
      throw handOverError(error, delivery.attempt)
    }
  }

  return {
    redelivery: { handed: 'wait', seen: 'wait', afterTimeout: false },
    // Posted in order without waiting for the previous answer, because the agent has a queue per channel.
    window: 8,
    mints: TURN_TOKENS,
    holdsDecisions: true,
    async start(given) {
      outlet = given
      given.presence(true)
    },
    deliver,
    async callback(scope, request) {
      const { session, turn } = scope
      if (session === undefined || turn === undefined) {
        throw new SwitchboardError('not_found', 'there is no such callback')
      }
      if (request.method !== 'POST') return methodNotAllowed()
      const read = readEvents(request.body)
      if (!read.ok) throw new SwitchboardError('input_invalid', read.problem)
      await events.take({ session, turn }, read.events, keyOf(request)).catch((thrown: unknown) => {
        throw tryAgain(asSwitchboardError(thrown))
      })
      return { status: 200, headers: JSON_TYPE, body: '{"ok":true}' }
    },
    async stop() {
      outlet?.presence(false)
      outlet = null
    },
  }
}

/** Final refusals: the next turn would be refused the same way. */
const REFUSED = new Set<string>(['platform_rejected', 'gone', 'forbidden'])
/** The agent is present and asks for a later try. */
const ANSWERED = new Set<string>(['rate_limited', 'platform_unavailable'])

/** If another node takes the turn meanwhile, its own try posts it. */
function tryAgain(error: SwitchboardError): SwitchboardError {
  if (error.code !== 'conflict') return error
  return new SwitchboardError('store_unavailable', error.message, { retryAfterMs: 2_000 })
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

function methodNotAllowed(): HttpReply {
  const body = JSON.stringify({ ok: false, code: 'method_not_allowed', error: 'this path takes POST only' })
  return { status: 405, headers: { ...JSON_TYPE, allow: 'POST' }, body }
}

function keyOf(request: RawRequest): string | null {
  const key = request.headers['idempotency-key']
  return typeof key === 'string' && key !== '' ? key : null
}
