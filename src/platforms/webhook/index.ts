// The platform `webhook`: POST /hooks/ID in; a stream of events, or a signed POST to a URL, out.
import {
  type Abilities,
  type HttpReply,
  NO_TEXT_LIMIT,
  type PlatformAdapter,
  type PlatformDeps,
  type PlatformIntake,
  SwitchboardError,
  type VerifiedRequest,
} from '../../contract/index.ts'
import { createGuardedFetch, type GuardedFetch } from '../../kit/index.ts'
import { readConfig, type WebhookConfig } from './config.ts'
import { TAKERS } from './out-formats.ts'
import { parseRequest } from './parse.ts'
import { postOut } from './post-out.ts'
import { answerTo, challengeAnswer, type Shown } from './render.ts'
import { createSnsEndpoint } from './sns.ts'
import { createStreams } from './streams.ts'
import { headDecides, verifyRequest } from './verify.ts'

/** Throws `config_invalid` for invalid options. `fetch` and the time limit of a post are for tests. */
export function createWebhook(
  deps: PlatformDeps,
  fetch: GuardedFetch = createGuardedFetch(deps),
  { postMs }: { readonly postMs?: number } = {},
): PlatformAdapter {
  const config = readConfig(deps)
  const streams = createStreams(config, deps)
  const able = abilitiesOf(config)
  const proofs = { now: () => deps.clock.now(), sns: createSnsEndpoint(fetch, deps.clock) }
  let intake: PlatformIntake | null = null

  async function handle(verified: VerifiedRequest): Promise<HttpReply> {
    if (verified.request.method === 'GET') return streams.open(verified)
    if (intake === null) {
      throw new SwitchboardError('store_unavailable', 'the integration is not started', {
        retryAfterMs: 1_000,
      })
    }
    const { event, answer, bare } = parseRequest(config, verified, deps.clock.now())
    const [received] = await intake.receive([event])
    if (received === undefined) throw new SwitchboardError('internal', 'the intake gave no result')
    if (answer !== undefined && received.state === 'consumed') return challengeAnswer(answer)
    return answerTo(received, { problem: event.kind === 'unparsable' ? event.problem : undefined, bare })
  }

  return {
    abilities: able,
    endpoint: {
      answersRefusals: true,
      headDecides: (head) => headDecides(config, head),
      verify: (request) => verifyRequest(config, request, proofs),
      handle,
    },
    async start(given) {
      intake = given
    },
    async send({ to, op, key, seq, at }) {
      const shown: Shown = { seq, id: key, to, op, at: deps.clock.now() }
      if (config.outward.kind === 'none') {
        throw new SwitchboardError(
          'platform_rejected',
          `integration ${config.id} is one-way: it takes messages and sends none`,
          {
            hint: 'set two_way: true, or out: { url }',
          },
        )
      }
      if (!takes(able, op.kind)) {
        throw new SwitchboardError('platform_rejected', `integration ${config.id} cannot show a ${op.kind}`)
      }
      const given = config.outward.kind === 'post' ? await postOut(config.outward, shown, fetch, postMs) : []
      if (config.outward.kind === 'stream') {
        streams.show({ ...shown, at: at ?? shown.at, isRow: at !== undefined })
      }
      return { platformIds: given.length === 0 ? [key] : given }
    },
    watchers: {
      heard: (conversation) => streams.heard(conversation),
      listening: () => streams.count() > 0,
    },
    signal(to, signal) {
      if (signal.kind === 'status') streams.status(to.conversation, signal.text)
    },
    checks: { sample: async (order) => (await import('./make-sample.ts')).makeSample(config, order, deps) },
    link: { state: () => ({ state: intake === null ? 'connecting' : 'up' }) },
    async stop() {
      intake = null
      streams.end()
    },
  }
}

function abilitiesOf(config: WebhookConfig): Abilities {
  const streams = config.outward.kind === 'stream'
  const taker = config.outward.kind === 'post' ? TAKERS[config.outward.format] : null
  return {
    textLimit: taker?.limit ?? NO_TEXT_LIMIT,
    markdown: taker?.markdown ?? 'written',
    threads: true,
    unattended: true,
    edits: streams,
    // The outbox row is what readers resume from, so showing it again adds nothing. A foreign URL promises no such
    // thing.
    idempotentSend: streams || taker?.idempotent === true,
    oneWay: config.outward.kind === 'none',
    notifyPlace: 'notify',
  }
}

function takes(able: Abilities, kind: string): boolean | undefined {
  if (kind === 'edit') return able.edits
  if (kind === 'react') return able.reactions
  return kind === 'file' ? able.files : true
}
