// Agents: a try-out, and a schedule that is started now.
import { z } from 'zod'
import { address, formatAddress, SwitchboardError } from '../contract/index.ts'
import { liveParts } from './context.ts'
import { addIntegration } from './integrations/integration-changes.ts'
import { operation } from './operation.ts'

const TryBody = z.strictObject({
  text: z.string().min(1).max(64_000),
  idempotency_key: z.string().min(1).max(200).optional(),
})

/** The integration of an agent that was tried: a web chat that only the console opens. */
const TRY_PREFIX = 'try-'

export const AGENTS = [
  operation({
    route: 'POST /api/agents/{id}/try',
    summary: 'Says something to an agent as whoever asks, in a chat of its own.',
    action: 'message.send',
    body: TryBody,
    // The first time it makes an integration of its own.
    gives: () => true,
    run: async (call) => {
      const { settings, clock, by } = call
      const { gateway, random } = liveParts(call)
      const { text, idempotency_key: key } = call.body
      const agent = call.path.id
      if (text.trim() === '') throw new SwitchboardError('input_invalid', 'text must not be empty')
      const agents = settings().agents.map((one) => one.id)
      if (!agents.includes(agent))
        throw new SwitchboardError('not_found', `there is no agent "${agent}"`, {
          hint: `agents: ${agents.join(', ')}`,
        })
      const id = `${TRY_PREFIX}${agent}`
      const own = settings().integrations.find((one) => one.id === id)
      if (own !== undefined && own.platform !== 'web')
        throw new SwitchboardError('conflict', `"${id}" is an integration of your own`)
      if (own === undefined) await addIntegration(call, { definition: { id, platform: 'web' }, agent }, by)
      const [received] = await gateway.intake.of(id).receive([
        {
          kind: 'message',
          conversation: by,
          chat: 'direct',
          sender: { id: by, name: by },
          at: clock.now(),
          text,
          // The same key again writes nothing again.
          messageId: `try-${key ?? random.uuid()}`,
          mentioned: true,
        },
      ])
      if (received === undefined) throw new SwitchboardError('internal', 'the intake gave no result')
      return {
        turn: received.id,
        address: formatAddress(address(id, by)),
        state: received.state,
        reason: received.reason,
      }
    },
  }),
  operation({
    route: 'POST /api/schedules/{agent}/{id}/run',
    summary: 'Starts a schedule now, as a turn of its own.',
    run: async (call) => {
      const { agent, id: schedule } = call.path
      const turn = await liveParts(call).gateway.runSchedule(agent, schedule)
      if (turn === null)
        throw new SwitchboardError('not_found', `there is no schedule "${schedule}" of "${agent}"`, {
          hint: 'list them with: switchboard schedules',
        })
      await call.store.note([
        { kind: 'audit', ref: turn, detail: { what: 'schedule', schedule, by: call.by } },
      ])
      return { turn }
    },
  }),
]
