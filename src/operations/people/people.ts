// People's own data, written out or erased: for the owner alone.
import { z } from 'zod'
import { type HttpReply, type PersonLine, SwitchboardError } from '../../contract/index.ts'
import { whole } from '../../server/api/operation.ts'
import { liveParts, type OperationContext } from '../context.ts'
import { flag } from '../inputs.ts'
import { operation } from '../operation.ts'
import { operateTurn } from '../turns/turns.ts'
import { createEraser, exportPerson, type FileBytes, fileBytes } from './people-data.ts'

const who = z.string().min(1).max(1_000).describe('A user of the configuration, or integration:sender.')
const PersonQuery = z.strictObject({
  who,
  files: flag.describe('With the bytes of what they sent, as base64.'),
})
const EraseBody = z.strictObject({
  who,
  revoke: z.boolean().optional().describe('Take their granted rights back, too.'),
})

export const PEOPLE = [
  operation({
    route: 'GET /api/people/export',
    summary: 'Everything that a person said, streamed as NDJSON.',
    action: 'people.data',
    query: PersonQuery,
    run: async (call) => {
      const { who, files } = call.query
      const bytesOf = files === 'true' ? bytesIn(call) : undefined
      return whole(await exported(exportPerson(who, call.settings(), call.store, bytesOf)))
    },
  }),
  operation({
    route: 'POST /api/people/erase',
    summary: 'Erases everything that a person said; rows, keys and the ledger stay.',
    action: 'people.data',
    body: EraseBody,
    run: (call) => {
      const { store, settings } = call
      const { gateway } = liveParts(call)
      const erase = createEraser({
        store,
        settings,
        cancel: (turn, by) => operateTurn(call, turn, 'cancel', by),
        async forgetFiles({ integration, sender }, attachments) {
          const link = gateway.links.get(integration)
          return link ? ((await link.adapter.files?.forget?.({ sender, attachments })) ?? 0) : null
        },
        grantsChanged: gateway.grants.load,
      })
      return erase(call.body.who, { revoke: call.body.revoke ?? false }, call.by)
    },
  }),
]

/** Files are fetched by a running daemon. Each line of a file says so without one. */
function bytesIn({ live }: Pick<OperationContext, 'live'>): FileBytes {
  if (live !== null) return fileBytes(live.gateway.links)
  return async () => {
    throw new SwitchboardError('daemon_absent', 'files are fetched by a running daemon', {
      hint: 'start it with `switchboard up`, and export again',
    })
  }
}

/** The first line is read before the answer begins: an unknown person is an error, not half a file. */
async function exported(people: AsyncIterable<PersonLine>): Promise<HttpReply> {
  const lines = people[Symbol.asyncIterator]()
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
