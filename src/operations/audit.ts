// The ledger: verified, exported, and its head.
import { z } from 'zod'
import { type Operation, operation, whole } from '../server/api/operation.ts'
import { exportAudit } from './audit-export.ts'
import { text } from './inputs.ts'

const VerifyQuery = z.strictObject({
  expect: text.optional().describe('A head that was kept elsewhere.'),
})
const ExportQuery = z.strictObject({ format: z.enum(['ndjson', 'csv']).default('ndjson') })

export const AUDIT: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/audit/verify',
    summary: 'Checks the chain of the ledger and that every message is accounted for.',
    query: VerifyQuery as z.ZodType<z.infer<typeof VerifyQuery>>,
    run: ({ desk, query }) => desk.verifyAudit(query.expect),
  }),
  operation({
    method: 'GET',
    path: '/api/audit/head',
    summary: 'The head of the ledger’s chain, to keep elsewhere. It proves nothing by itself.',
    run: ({ desk }) => desk.auditHead(),
  }),
  operation({
    method: 'GET',
    path: '/api/audit/export',
    summary: 'The whole ledger, streamed as NDJSON or CSV.',
    query: ExportQuery as z.ZodType<z.infer<typeof ExportQuery>>,
    run: async ({ desk, query }) => whole(exportAudit(desk, query.format)),
  }),
]
