// The operator's part of hooks: a try through the real door, and the message of a turn once more.
import {
  type Clock,
  type Desk,
  defined,
  type InboundMessage,
  type SampleRequest,
  type Store,
  SwitchboardError,
} from '../../contract/index.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { createGuardedFetch } from '../../kit/index.ts'

export interface DeskHooksDeps {
  readonly store: Pick<Store, 'turn' | 'note'>
  readonly gateway: Pick<Gateway, 'links' | 'intake'>
  readonly clock: Clock
  /** Where this very process listens. Absent: it does not. */
  readonly listensAt?: (() => string) | undefined
}

const TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 16_384
const MASK = '••••'

export function createDeskHooks(deps: DeskHooksDeps): Pick<Desk, 'testHook' | 'replayTurn'> {
  const { store, gateway, clock } = deps
  const post = createGuardedFetch({ clock })

  const hookNamed = (id: string) => {
    const checks = gateway.links.get(id)?.adapter.checks
    if (checks?.sample !== undefined) return { sample: (order: object) => checks.sample?.(order) }
    const hooks = gateway.links.all().filter((one) => one.adapter.checks?.sample !== undefined)
    throw new SwitchboardError('not_found', `there is no running hook "${id}"`, {
      hint:
        hooks.length === 0
          ? 'none is configured'
          : `hooks: ${hooks.map((one) => one.integration).join(', ')}`,
    })
  }

  return {
    async testHook(id, order, by) {
      const sample = await hookNamed(id).sample(order)
      const base = deps.listensAt?.()
      if (sample === undefined || base === undefined)
        throw new SwitchboardError('not_built', 'nothing listens here: a hook cannot be tried')
      await store.note([{ kind: 'audit', ref: id, detail: { what: 'hook tested', event: sample.event, by } }])
      const door = `${base}/hooks/${encodeURIComponent(id)}`
      const response = await post({
        url: door + sample.path,
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
          method: 'POST',
          url: sample.hides.path ? `${door}/${MASK}` : door + sample.path,
          headers: masked(sample),
          bytes: Buffer.byteLength(sample.body),
        },
        status: response.status,
        answer,
        turn: turnIn(answer),
      }
    },
    async replayTurn(id, by) {
      const row = await store.turn(id)
      if (row === null)
        throw new SwitchboardError('not_found', `there is no turn "${id}"`, {
          hint: 'list them with: switchboard turns',
        })
      hookNamed(row.integration)
      const { body } = row
      if (body === null || body.kind !== 'message')
        throw new SwitchboardError('conflict', `${id} is ${row.state}: its message was not kept`)
      const { replay_of: first = id, ...meta } = body.meta ?? {}
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
      await store.note([{ kind: 'audit', ref: id, detail: { what: 'turn replayed', by } }])
      const [received] = await gateway.intake.of(row.integration).receive([event])
      if (received === undefined) throw new SwitchboardError('internal', 'the intake gave no result')
      return { id: received.id, replay_of: id, state: received.state, reason: received.reason }
    },
  }
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
