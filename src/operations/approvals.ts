// Tool calls that wait, or waited, for a person.
import { z } from 'zod'
import { APPROVAL_STATES, type ApprovalView, defined, SwitchboardError } from '../contract/index.ts'
import { whole } from '../server/api/operation.ts'
import { errorReply } from '../server/reply.ts'
import { wordsIn } from '../words/index.ts'
import { approvalView, askedPlaces } from './approval-view.ts'
import { liveParts } from './context.ts'
import { before, limit, listOf, positionOf, text } from './inputs.ts'
import { withoutInput } from './masking.ts'
import { operation } from './operation.ts'

const ApprovalQuery = z.strictObject({
  state: listOf(APPROVAL_STATES).optional(),
  id: text.optional(),
  limit,
  before,
})
const DecideBody = z.strictObject({ behavior: z.enum(['allow', 'deny']) })

export const APPROVALS = [
  operation({
    route: 'GET /api/approvals',
    summary: 'Tool calls that wait, or waited, for a person.',
    action: 'approval.read',
    query: ApprovalQuery,
    run: async ({ store, query: { state, id, limit, before }, may }) => {
      const filter = defined({ states: state, id, beforeSeq: positionOf(before) })
      const rows = await store.approvals({ ...filter, limit })
      const views: readonly ApprovalView[] =
        id === undefined
          ? rows.map(approvalView)
          : await Promise.all(
              rows.map(async (row) => ({ ...approvalView(row), asked: await askedPlaces(store, row) })),
            )
      return {
        items: may('approval.input') ? views : views.map(withoutInput),
        next: views.length === limit ? String(views.at(-1)?.seq) : null,
      }
    },
  }),
  operation({
    route: 'POST /api/approvals/{id}/decide',
    summary: 'Says yes or no. 409 when somebody else was first.',
    action: 'approval.decide',
    body: DecideBody,
    run: async (call) => {
      const { store, path, body, by, via } = call
      const { gateway } = liveParts(call)
      const { won, approval: row } = await store.decide({
        id: path.id,
        behavior: body.behavior,
        cause: 'person',
        by,
        via,
      })
      if (!row)
        throw new SwitchboardError('not_found', `there is no approval "${path.id}"`, {
          hint: 'list them with: switchboard approvals',
        })
      // "Allowed" is said only when the agent has it: wait for the relay, it is a matter of milliseconds.
      if (won) await gateway.approvals.settle(path.id)
      const approval = approvalView((await store.approval(path.id)) ?? row)
      if (won) return { won, approval }
      const late = wordsIn().approvals.late({ ...approval, decidedBy: approval.decided_by })
      return whole(errorReply(new SwitchboardError('conflict', late), { won, approval }))
    },
  }),
]
