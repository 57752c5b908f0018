// Hooks: a test request through the real endpoint, and the message of a turn once more.
import { z } from 'zod'
import { defined, type InboundMessage, type SampleRequest, SwitchboardError } from '../../contract/index.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { createGuardedFetch } from '../../kit/index.ts'
import { liveParts } from '../context.ts'
import { text } from '../inputs.ts'
import { operation } from '../operation.ts'

const TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 16_384
const MASK = '••••'

const TestBody = z.strictObject({
  recipe: text.optional().describe('Of which sender. Default: the recipe of the hook, else generic.'),
  event: text.optional().describe('Which of its events. Default: the first that makes a message.'),
})

/** Sends a request as a sender would, and reports each step. The report contains no secret. */
export const TEST_HOOK = operation({
  route: 'POST /api/hooks/{id}/test',
  summary: 'Sends a request as a sender would through the real door, and tells each step.',
  body: TestBody,
  run: async (call) => {
    const { store, clock, path, body, by } = call
    const { gateway, listensAt } = liveParts(call)
    const sample = await sampleOf(gateway, path.id)(defined(body))
    const base = listensAt?.()
    if (sample === undefined || base === undefined)
      throw new SwitchboardError('not_built', 'nothing listens here: a hook cannot be tried')
    await store.note([
      { kind: 'audit', ref: path.id, detail: { what: 'hook tested', event: sample.event, by } },
    ])
    const endpoint = `${base}/hooks/${encodeURIComponent(path.id)}`
    const response = await createGuardedFetch({ clock })({
      url: endpoint + sample.path,
      method: 'POST',
      headers: sample.headers,
      body: sample.body,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
      allowPrivate: true,
      allowHttp: true,
    })
    const answer = response.body.toString('utf8')
    return {
      recipe: sample.recipe,
      event: sample.event,
      request: {
        method: 'POST' as const,
        url: sample.hides.path ? `${endpoint}/${MASK}` : endpoint + sample.path,
        /** Headers with a secret are masked. */
        headers: masked(sample),
        bytes: Buffer.byteLength(sample.body),
      },
      status: response.status,
      answer,
      /** The resulting turn; null: none. */
      turn: turnIn(answer),
    }
  },
})

/** Repeats a message as a new turn: through the gates, with its own id. */
export const REPLAY_TURN = operation({
  route: 'POST /api/hooks/turns/{id}/replay',
  summary: "Takes the message of a hook's turn once more, as a new turn.",
  run: async (call) => {
    const { store, clock, path, by } = call
    const { gateway } = liveParts(call)
    const row = await store.turn(path.id)
    if (row === null)
      throw new SwitchboardError('not_found', `there is no turn "${path.id}"`, {
        hint: 'list them with: switchboard turns',
      })
    sampleOf(gateway, row.integration)
    const { body } = row
    if (body === null || body.kind !== 'message')
      throw new SwitchboardError('conflict', `${path.id} is ${row.state}: its message was not kept`)
    const { replay_of: first = path.id, ...meta } = body.meta ?? {}
    const event: InboundMessage = {
      kind: 'message',
      conversation: row.conversation,
      ...defined({ thread: row.thread ?? undefined }),
      chat: body.chat ?? 'direct',
      sender: { id: row.sender, ...defined({ name: body.senderName }) },
      at: clock.now(),
      text: body.text,
      mentioned: true,
      meta: { ...meta, replay_of: first },
    }
    await store.note([{ kind: 'audit', ref: path.id, detail: { what: 'turn replayed', by } }])
    const [received] = await gateway.intake.of(row.integration).receive([event])
    if (received === undefined) throw new SwitchboardError('internal', 'the intake gave no result')
    /** `id` null: its body was not stored. */
    return { id: received.id, replay_of: path.id, state: received.state, reason: received.reason }
  },
})

/** Throws `not_found` where no hook of this name runs. */
function sampleOf(gateway: Gateway, id: string) {
  const checks = gateway.links.get(id)?.adapter.checks
  if (checks?.sample !== undefined) return async (order: object) => checks.sample?.(order)
  const hooks = gateway.links.all().filter((one) => one.adapter.checks?.sample !== undefined)
  throw new SwitchboardError('not_found', `there is no running hook "${id}"`, {
    hint:
      hooks.length === 0 ? 'none is configured' : `hooks: ${hooks.map((one) => one.integration).join(', ')}`,
  })
}

function masked({ headers, hides }: SampleRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, hides.headers.includes(name) ? MASK : value]),
  )
}

function turnIn(answer: string): string | null {
  try {
    const { id } = JSON.parse(answer) as { id?: unknown }
    return typeof id === 'string' ? id : null
  } catch {
    return null
  }
}
