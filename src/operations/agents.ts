// Agents: a try-out, and a schedule that is started now.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { type Operation, operation } from '../server/api/operation.ts'

const TryBody = z.strictObject({
  text: z.string().min(1).max(64_000),
  idempotency_key: z.string().min(1).max(200).optional(),
})

export const AGENTS: readonly Operation[] = [
  operation({
    method: 'POST',
    path: '/api/agents/{id}/try',
    summary: 'Says something to an agent as whoever asks, in a chat of its own.',
    action: 'message.send',
    body: TryBody,
    // The first time it makes an integration of its own.
    gives: () => true,
    run: ({ desk, path, body, by }) =>
      desk.tryAgent(
        path.id ?? '',
        { text: body.text, ...defined({ idempotency_key: body.idempotency_key }) },
        by,
      ),
  }),
  operation({
    method: 'POST',
    path: '/api/schedules/{agent}/{id}/run',
    summary: 'Starts a schedule now, as a turn of its own.',
    run: ({ desk, path, by }) => desk.runSchedule(path.agent ?? '', path.id ?? '', by),
  }),
]
