// `switchboard access`: who may talk and who may approve, beyond what the configuration itself lists.
import type { Context, Run } from '../context.ts'
import { printList } from '../list.ts'
import type { Column } from '../output/table.ts'
import { oneLine } from '../output/text.ts'
import { relativeTime } from '../output/time.ts'
import type { AccessView } from '../reader.ts'

export const listAccess: Run = (context) =>
  context.reading(async (reader) => {
    const now = context.terminal.now()
    const columns: readonly Column<AccessView>[] = [
      { title: 'INTEGRATION', value: (row) => row.integration, givesWay: 1 },
      { title: 'SENDER', value: (row) => row.sender, givesWay: 2 },
      { title: 'MAY', value: (row) => row.right },
      { title: 'FROM', value: (row) => row.origin, givesWay: 3 },
      { title: 'SINCE', value: (row) => relativeTime(row.at, now) },
    ]
    await printList(context, await reader.access(), columns, { empty: 'Nobody has been let in yet.' })
    return 0
  })

export const allowSender: Run = (context, [integration = '', sender = '']) =>
  change(context, 'grant', { integration, sender, right: 'talk' }, 'may talk')

export const setApprover: Run<{ readonly remove?: boolean }> = (
  context,
  [integration = '', sender = ''],
  options,
) =>
  options.remove === true
    ? change(context, 'revoke', { integration, sender, right: 'approve' }, 'may no longer approve')
    : change(context, 'grant', { integration, sender, right: 'approve' }, 'may approve')

/** Talking and approving both: someone who was removed must not be left with a say. */
export const removeSender: Run = async (context, [integration = '', sender = '']) => {
  const daemon = await context.daemon()
  const removed: string[] = []
  for (const right of ['talk', 'approve']) {
    const answer = await daemon.call<{ readonly revoked: boolean }>('POST', '/api/access/revoke', {
      body: { integration, sender, right },
    })
    if (answer.revoked) removed.push(right)
  }
  if (context.json) await context.printJson({ ok: true, integration, sender, removed })
  else if (removed.length > 0)
    await context.print(
      `${oneLine(sender)} lost what was granted on ${oneLine(integration)}: ${removed.join(', ')}`,
    )
  else await context.print(`${oneLine(sender)} was granted nothing on ${oneLine(integration)}`)
  context.note(context.paint.dim('names listed in the configuration file are changed there'))
  return 0
}

async function change(
  context: Context,
  verb: 'grant' | 'revoke',
  body: { readonly integration: string; readonly sender: string; readonly right: 'talk' | 'approve' },
  outcome: string,
): Promise<number> {
  const daemon = await context.daemon()
  await daemon.call('POST', `/api/access/${verb}`, { body })
  if (context.json) await context.printJson({ ok: true, ...body })
  else await context.print(`${oneLine(body.sender)} ${outcome} on ${oneLine(body.integration)}`)
  return 0
}
