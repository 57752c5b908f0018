// Requests to `reply_url`: the answer or a part of it, a sign of life, a question for a person, and a GET of a verdict
// or an attachment. The URL is for one turn. Its posts are taken in order of receipt.
import { createHash } from 'node:crypto'
import {
  type Accepted,
  type AgentOutlet,
  asSwitchboardError,
  type Clock,
  type ConnectorDeps,
  createSerialLines,
  type HttpReply,
  type RawRequest,
  SwitchboardError,
  type Verdict,
} from '../../contract/index.ts'
import { type Reply, type ReplyAsk, readReply } from './reply-form.ts'

export interface ReplyEndpoint {
  callback(scope: Readonly<Record<string, string>>, request: RawRequest): Promise<HttpReply>
  /** A verdict arrived. Returns true if a request waits for it now and gets it. */
  wake(approval: string): boolean
  /** Ends all waiting requests. */
  stop(): void
}

export interface ReplyEndpointDeps extends Pick<ConnectorDeps, 'tools'> {
  readonly clock: Clock
  readonly outlet: () => AgentOutlet
  /** The turn was answered here. */
  readonly answered: (turn: string) => void
}

interface Place {
  readonly agent: string
  readonly session: string
  readonly turn: string
}

/** Shorter than the time-outs of proxies and of most clients. */
const VERDICT_MS = 25_000
/** Another node may have decided, and hints reach only the node that asked. */
const LOOK_EVERY_MS = 1_000
const HOST = 'http'

export function createReplyEndpoint(deps: ReplyEndpointDeps): ReplyEndpoint {
  const { clock } = deps
  const waiting = new Map<string, Set<() => void>>()
  /** One post at a time for each turn, so that simultaneous posts cannot overtake each other. */
  const turns = createSerialLines<string>()
  let stopped = false

  const take = async (place: Place, reply: Reply, key: string | null): Promise<HttpReply> => {
    const { session, turn } = place
    if (reply.status !== null) {
      await deps.outlet().accept({ kind: 'evidence', turn, of: 'seen' })
      await deps.outlet().accept({ kind: 'status', session, turn, text: reply.status.trim() })
    }
    if (reply.failure) {
      const { late } = await deps
        .outlet()
        .accept({ kind: 'failed', turn, reason: 'agent_failed', ...reply.failure })
      if (late) throw new SwitchboardError('conflict', 'this message was answered before')
      deps.answered(turn)
      return json(200, { ok: true, state: 'failed' })
    }
    if (!reply.say) return json(200, { ok: true, state: 'seen' })
    const { id } = await say(place, reply.say, key)
    deps.outlet().reached(null)
    if (reply.say.final) deps.answered(turn)
    return json(200, { ok: true, state: reply.say.final ? 'answered' : 'seen', outbox_id: id })
  }

  const say = (
    { session, turn }: Place,
    { texts, files, final }: NonNullable<Reply['say']>,
    key: string | null,
  ): Promise<Accepted> => {
    const [text = '', before] = [texts.at(-1), texts.slice(0, -1)]
    return deps.outlet().accept({
      ...{ kind: 'say', session, turn, text, before, final, sole: true },
      ...(files.length > 0 ? { files } : {}),
      ...(key === null ? {} : { idempotencyKey: `http:${turn}:${digest(key)}` }),
    })
  }

  const ask = async (place: Place, { requestId, ...asked }: ReplyAsk): Promise<HttpReply> => {
    const { session, turn } = place
    // The agent's own id makes a repeated question the same question.
    const own = requestId === undefined ? {} : { requestId: `${turn}:${requestId}`, host: HOST }
    // The number of waiting questions is limited, so simultaneous ones are counted one by one.
    const { id } = await turns.run(turn, () =>
      deps.outlet().accept({ kind: 'ask', session, turn, ask: { ...asked, ...own } }),
    )
    return verdictReply(id ?? '', await awaitVerdict(id ?? '', turn))
  }

  const awaitVerdict = async (approval: string, turn: string): Promise<Verdict | 'pending'> => {
    const until = clock.now() + VERDICT_MS
    for (;;) {
      const woken = nextLook(approval)
      const standing = await deps.outlet().fetchVerdict(approval, turn)
      const over = standing !== 'pending' || stopped || clock.now() >= until
      if (!over) await woken.look
      woken.leave()
      if (over) return standing
    }
  }

  /** Resolves when a verdict arrived, or after a while. */
  const nextLook = (approval: string) => {
    const listeners = waiting.get(approval) ?? new Set()
    waiting.set(approval, listeners)
    let leave = () => {}
    const look = new Promise<void>((resolve) => {
      const cancel = clock.after(LOOK_EVERY_MS, resolve)
      listeners.add(resolve)
      leave = () => {
        cancel()
        listeners.delete(resolve)
        if (listeners.size === 0 && waiting.get(approval) === listeners) waiting.delete(approval)
      }
    })
    return { look, leave: () => leave() }
  }

  const attachment = async ({ agent, session, turn }: Place, fileId: string): Promise<HttpReply> => {
    const desk = deps.tools?.()
    if (!desk) throw new SwitchboardError('not_found', 'no attachments can be fetched here')
    const caller = { agent, session, turn, user: null, idempotencyKey: null }
    const outcome = await desk.downloadAttachment(caller, { fileId })
    const [file] = outcome.files ?? []
    if (outcome.isError || !file) throw new SwitchboardError('not_found', outcome.text)
    const name = encodeURIComponent(file.name).replace(/['()*]/g, '_')
    return {
      status: 200,
      headers: {
        'content-type': file.mime,
        'content-disposition': `attachment; filename*=UTF-8''${name}`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
      },
      body: file.bytes,
    }
  }

  return {
    async callback(scope, request) {
      const { agent, session, turn } = scope
      if (agent === undefined || session === undefined || turn === undefined)
        throw new SwitchboardError('not_found', 'there is no such callback')
      const place = { agent, session, turn }
      if (request.method === 'GET') {
        const approval = request.query.get('approval')
        if (approval !== null) return verdictReply(approval, await awaitVerdict(approval, turn))
        const file = request.query.get('attachment')
        if (file !== null) return attachment(place, file)
      }
      if (request.method !== 'POST') return methodNotAllowed()
      const reply = await readReply(request)
      // A question may wait for a person. Other posts do not wait for it.
      if (reply.ask) return ask(place, reply.ask)
      return turns
        .run(turn, () => take(place, reply, keyOf(request)))
        .catch((thrown: unknown) => {
          throw asSwitchboardError(thrown)
        })
    },
    wake(approval) {
      const listeners = waiting.get(approval)
      for (const resolve of listeners ?? []) resolve()
      return listeners !== undefined
    },
    stop() {
      stopped = true
      for (const listeners of waiting.values()) for (const resolve of listeners) resolve()
    },
  }
}

function verdictReply(approval: string, standing: Verdict | 'pending'): HttpReply {
  if (standing === 'pending') return json(202, { ok: true, approval, state: 'pending' })
  const { behavior, decidedBy, cause, repeat } = standing
  const decided = { state: 'decided', allowed: behavior === 'allow', behavior, by: decidedBy, cause }
  return json(200, { ok: true, approval, ...decided, ...(repeat ? { repeat } : {}) })
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

function json(status: number, body: Readonly<Record<string, unknown>>): HttpReply {
  return { status, headers: JSON_TYPE, body: JSON.stringify(body) }
}

function methodNotAllowed(): HttpReply {
  const error = 'POST an answer here; GET takes ?approval=ID or ?attachment=ID'
  const reply = json(405, { ok: false, code: 'method_not_allowed', error })
  return { ...reply, headers: { ...JSON_TYPE, allow: 'POST, GET' } }
}

function keyOf({ headers }: RawRequest): string | null {
  const key = headers['idempotency-key'] ?? headers['webhook-id']
  return typeof key === 'string' && key !== '' ? key : null
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32)
}
