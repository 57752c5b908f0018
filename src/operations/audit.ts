// The ledger: verified, exported, and its head.
import { z } from 'zod'
import { whole } from '../server/api/operation.ts'
import { exportAudit } from './audit-export.ts'
import { text } from './inputs.ts'
import { operation } from './operation.ts'

const VerifyQuery = z.strictObject({
  expect: text.optional().describe('A head that was kept elsewhere.'),
})
const ExportQuery = z.strictObject({ format: z.enum(['ndjson', 'csv']).default('ndjson') })

export const AUDIT = [
  operation({
    route: 'GET /api/audit/verify',
    summary: 'Checks the chain of the ledger and that every message is accounted for.',
    query: VerifyQuery,
    run: ({ store, query }) => store.verify(query.expect),
  }),
  operation({
    route: 'GET /api/audit/head',
    summary: 'The head of the ledger’s chain, to keep elsewhere. It proves nothing by itself.',
    run: ({ store }) => store.head(),
  }),
  operation({
    route: 'GET /api/audit/export',
    summary: 'The whole ledger, streamed as NDJSON or CSV.',
    query: ExportQuery,
    run: async ({ store, query }) => whole(exportAudit(store, query.format)),
  }),
]
