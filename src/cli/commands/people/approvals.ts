// `switchboard approvals`: tool calls that wait for a yes or no, decided from a terminal. Allow is for one call.
import {
  APPROVAL_STATES,
  type ApprovalView,
  type AskedView,
  defined,
  SwitchboardError,
} from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { limitOf, oneMore, parseStates, printList } from '../../list.ts'
import { paintState } from '../../output/colour.ts'
import { type Column, renderFields } from '../../output/table.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { relativeTime } from '../../output/time.ts'

export interface ApprovalsOptions {
  readonly state?: string
  readonly all?: boolean
  readonly limit?: string
  readonly before?: string
}

export const listApprovals: Run<ApprovalsOptions> = async (context, _args, options) => {
  const states = options.all === true ? null : parseStates(options.state ?? 'pending', APPROVAL_STATES)
  const limit = limitOf(context, options.limit)
  const query = defined({ state: states?.join(','), before: options.before })
  return context.reading(async (api) => {
    const rows = api.list('GET /api/approvals', query, oneMore(limit))
    await printList(context, rows, columns(context), {
      limit,
      place: (row) => String(row.seq),
      empty:
        options.all === true || options.state !== undefined
          ? wordsIn().commandLine.empty.approvals
          : wordsIn().commandLine.empty.approvalsPending,
    })
    return 0
  })
}

export const showApproval: Run = (context, [id = '']) =>
  context.reading(async (api) => {
    const wanted = id.toLowerCase()
    const matching: ApprovalView[] = []
    for await (const each of api.list('GET /api/approvals', { id: wanted }, null)) matching.push(each)
    // Ids are unique among the pending only, so a pending one is what is meant.
    const approval = matching.find((each) => each.state === 'pending') ?? matching[0]
    if (approval === undefined) {
      throw new SwitchboardError('not_found', `there is no approval "${id}"`, {
        hint: wordsIn().commandLine.approvals.listHint,
      })
    }
    if (context.json) await context.printJson(approval)
    else await context.print(describe(context, approval))
    return 0
  })

export const allowApproval: Run = (context, [id = '']) => decide(context, id, 'allow')
export const denyApproval: Run = (context, [id = '']) => decide(context, id, 'deny')

async function decide(context: Context, id: string, behavior: 'allow' | 'deny'): Promise<number> {
  const daemon = await context.daemon()
  const { won, approval } = await daemon.ask('POST /api/approvals/{id}/decide', {
    path: { id },
    body: { behavior },
  })
  if (!won) {
    const late = wordsIn().approvals.late({ ...approval, decidedBy: approval.decided_by })
    throw new SwitchboardError('conflict', `${approval.id}: ${late}`, {
      hint: wordsIn().commandLine.approvals.seeHint({ id: approval.id }),
    })
  }
  if (context.json) await context.printJson(approval)
  else await context.print(`${oneLine(approval.id)}: ${outcomeOf(approval, behavior)}`)
  return 0
}

/** "Allowed" is said only once the verdict was written to the asking host. */
function outcomeOf(approval: ApprovalView, behavior: 'allow' | 'deny'): string {
  const { allowed, denied, agentGone, onItsWay } = wordsIn().commandLine.approvals.outcome
  if (approval.state === 'relayed') return behavior === 'allow' ? allowed : denied
  return approval.state === 'undeliverable' ? agentGone({ behavior }) : onItsWay({ behavior })
}

function columns(context: Context): readonly Column<ApprovalView>[] {
  const now = context.terminal.now()
  return [
    { title: 'ID', value: (row) => row.id },
    { title: 'AGENT', value: (row) => row.agent, givesWay: 1 },
    { title: 'TOOL', value: (row) => row.tool_name, givesWay: 2 },
    {
      title: 'STATE',
      value: (row) => row.state,
      paint: (cell, row) => (cell === row.state ? paintState(context.paint, cell) : cell),
    },
    { title: 'EXPIRES', value: (row) => (row.state === 'pending' ? relativeTime(row.expires_at, now) : '') },
    { title: 'BY', value: (row) => row.decided_by ?? '', givesWay: 3 },
    { title: 'DESCRIPTION', value: (row) => row.description ?? '', givesWay: 4 },
  ]
}

function describe(context: Context, row: ApprovalView): string {
  const now = context.terminal.now()
  const fields = renderFields(
    [
      ['id', oneLine(row.id)],
      ['state', paintState(context.paint, row.state)],
      ['decision', row.behavior],
      [
        'decided by',
        row.decided_by === null ? null : oneLine(`${row.decided_by} via ${row.decided_via ?? '?'}`),
      ],
      ['agent', oneLine(row.agent)],
      ['session', oneLine(row.session)],
      ['tool', oneLine(row.tool_name)],
      ['description', oneLine(row.description ?? '')],
      ['asked', `${row.created_at} (${relativeTime(row.created_at, now)})`],
      ['expires', `${row.expires_at} (${relativeTime(row.expires_at, now)})`],
      ['input hash', row.input_hash],
    ],
    context.paint,
  )
  const asked = row.asked === undefined ? '' : `\n\n${askedLines(row.asked).join('\n')}`
  return `${fields}${asked}\n\n${safeLines(row.input ?? '')}`
}

/** Who was asked, and where. */
function askedLines(asked: readonly AskedView[]): readonly string[] {
  if (asked.length === 0) return [wordsIn().commandLine.approvals.noChat]
  const words = wordsIn().commandLine.approvals
  return asked.map(({ integration, conversation, thread, who, name, state, reason, detail }) => {
    const person =
      who === null ? words.itsApprovers : name === null || name === who ? who : `${name} (${who})`
    const place = [integration, conversation, ...(thread === null ? [] : [thread])].join(':')
    const how = [reason, detail].filter((one) => one !== null).join(', ')
    return oneLine(words.asked({ person, place, state, why: how === '' ? null : how }))
  })
}
