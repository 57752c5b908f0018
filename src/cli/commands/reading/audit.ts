// `switchboard audit`: proves that the ledger is whole and that every message is accounted for; exports it.
import { type AuditReport, defined } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { renderFields } from '../../output/table.ts'
import { oneLine } from '../../output/text.ts'

export const verifyAudit: Run<{ readonly expect?: string }> = (context, _args, options) =>
  context.reading(async (api) => {
    const query = defined({ expect: options.expect })
    const report = await api.askSlowly(600_000, 'GET /api/audit/verify', { query })
    if (context.json) await context.printJson(auditJson(report))
    else await context.print(describe(context, report))
    return report.ok ? 0 : 1
  })

export const exportAudit: Run<{ readonly format: string }> = async (context, _args, options) => {
  const { format } = options
  if (format !== 'ndjson' && format !== 'csv') {
    throw usage(`--format: "${format}" is not a format`, 'write ndjson or csv')
  }
  if (context.json && format === 'csv')
    throw usage('--json and --format csv exclude each other', 'leave one out')
  return context.reading(async (api) => {
    for await (const chunk of api.stream('GET /api/audit/export', { format }))
      await context.terminal.out(chunk)
    return 0
  })
}

export const auditHead: Run = (context) =>
  context.reading(async (api) => {
    const { head, entries } = await api.ask('GET /api/audit/head')
    if (context.json) await context.printJson({ head, entries })
    else await context.print(head ?? '')
    return 0
  })

/** The shape that scripts rely on: `broken_at` is the position, `problem` says what is wrong there. */
function auditJson(report: AuditReport): object {
  const broken = brokenPlace(report)
  return {
    ok: report.ok,
    entries: report.entries,
    chain: report.chain,
    ...(broken === null ? {} : { broken_at: broken.seq, problem: broken.problem }),
    conservation: {
      received: report.conservation.received,
      accounted: report.conservation.accounted,
      ok: report.conservation.ok,
    },
    head: report.head,
    ...defined({ checkpoint: report.checkpoint }),
  }
}

/** The store says `brokenAt`; the API says it in its own spelling, as a place or as a bare position. */
function brokenPlace(report: AuditReport): { readonly seq: number; readonly problem: string } | null {
  const told = report as AuditReport & {
    readonly broken_at?: AuditReport['brokenAt'] | number
    problem?: string
  }
  const place = told.brokenAt ?? told.broken_at
  if (place === undefined || place === null) return null
  return typeof place === 'number' ? { seq: place, problem: told.problem ?? 'broken' } : place
}

function startsAt({ entries, at }: NonNullable<AuditReport['checkpoint']>): string {
  return wordsIn().reports.audit.checkpoint({ count: entries, at: new Date(at).toISOString() })
}

function describe(context: Context, report: AuditReport): string {
  const { paint } = context
  const { fields } = wordsIn().tables
  const words = wordsIn().reports.audit
  const broken = brokenPlace(report)
  const { received, accounted, ok } = report.conservation
  return renderFields(
    [
      [fields.audit, report.ok ? paint.green(words.ok) : paint.red(words.notOk)],
      [fields.entries, String(report.entries)],
      [fields.starts, report.checkpoint === undefined ? null : startsAt(report.checkpoint)],
      [fields.chain, report.chain === 'intact' ? paint.green(words.intact) : paint.red(words.broken)],
      [
        fields.brokenAt,
        broken === null ? null : words.brokenAt({ entry: broken.seq, problem: oneLine(broken.problem) }),
      ],
      [
        fields.messages,
        words.messages({ received, accounted }) + (ok ? '' : ` ${paint.red(words.mustBeEqual)}`),
      ],
      [fields.head, report.head],
    ],
    paint,
  )
}
