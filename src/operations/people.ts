// Routes about people's own data: for the owner alone.
import { z } from 'zod'
import type { Desk, HttpReply } from '../contract/index.ts'
import { type Operation, operation, whole } from '../server/api/operation.ts'

const who = z.string().min(1).max(1_000).describe('A user of the configuration, or integration:sender.')
const PersonQuery = z.strictObject({
  who,
  files: z.enum(['true', 'false']).optional().describe('With the bytes of what they sent, as base64.'),
})
const EraseBody = z.strictObject({
  who,
  revoke: z.boolean().optional().describe('Take their granted rights back, too.'),
})

export const PEOPLE: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/people/export',
    summary: 'Everything that a person said, streamed as NDJSON.',
    action: 'people.data',
    query: PersonQuery,
    run: async ({ desk, query }) => whole(await exported(desk, query.who, query.files === 'true')),
  }),
  operation({
    method: 'POST',
    path: '/api/people/erase',
    summary: 'Erases everything that a person said; rows, keys and the ledger stay.',
    action: 'people.data',
    body: EraseBody as z.ZodType<z.infer<typeof EraseBody>>,
    run: ({ desk, body, by }) => desk.erasePerson(body.who, { revoke: body.revoke ?? false }, by),
  }),
]

/** The first line is asked for before the answer begins: who does not exist is an error, not half a file. */
async function exported(desk: Desk, person: string, files: boolean): Promise<HttpReply> {
  const lines = desk.exportPerson(person, { files })[Symbol.asyncIterator]()
  const first = await lines.next()
  return {
    status: 200,
    headers: { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' },
    async stream(sink) {
      for (let step = first; !step.done && !sink.closed; step = await lines.next()) {
        sink.write(`${JSON.stringify(step.value)}\n`)
        await sink.drained()
      }
      sink.end()
    },
  }
}
