// Tool calls that wait, or waited, for a person.
import { z } from 'zod'
import { APPROVAL_STATES, defined, SwitchboardError } from '../contract/index.ts'
import { type Operation, operation, whole } from '../server/api/operation.ts'
import { errorReply } from '../server/reply.ts'
import { wordsIn } from '../words/index.ts'
import { before, limit, listOf, positionOf, text } from './inputs.ts'
import { withoutInput } from './masking.ts'

const ApprovalQuery = z.strictObject({
  state: listOf(APPROVAL_STATES).optional(),
  id: text.optional(),
  limit,
  before,
})
const DecideBody = z.strictObject({ behavior: z.enum(['allow', 'deny']) })

export const APPROVALS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/approvals',
    summary: 'Tool calls that wait, or waited, for a person.',
    action: 'approval.read',
    query: ApprovalQuery as z.ZodType<z.infer<typeof ApprovalQuery>>,
    run: async ({ desk, query: { state, id, limit, before }, may }) => {
      const which = defined({ id, before: positionOf(before) })
      const found = await desk.approvals(state ?? null, limit, which)
      const items = may('approval.input') ? found : found.map(withoutInput)
      return { items, next: items.length === limit ? String(items.at(-1)?.seq) : null }
    },
  }),
  operation({
    method: 'POST',
    path: '/api/approvals/{id}/decide',
    summary: 'Says yes or no. 409 when somebody else was first.',
    action: 'approval.decide',
    body: DecideBody,
    run: async ({ desk, path, body, by, via }) => {
      const { won, approval } = await desk.decide(path.id ?? '', body.behavior, by, via)
      if (won) return { won, approval }
      const late = wordsIn().approvals.late({ ...approval, decidedBy: approval.decided_by })
      return whole(errorReply(new SwitchboardError('conflict', late), { won, approval }))
    },
  }),
]
