// A turn's row as the connector sees it.
import { expect, it } from 'vitest'
import type { TurnRow } from '../../contract/index.ts'
import { toDelivery } from './delivery.ts'

it('[I14.chorus-ref-hidden] where tool servers are kept is shown to no agent', () => {
  const row = {
    id: 't_1',
    address: 'up:c1',
    messageId: 'm1',
    sender: 'u1',
    receivedAt: 0,
    thread: null,
    body: { text: 'hi', meta: { mcp_servers_ref: 'secret:given.up.x.mcp', service: 'Slack' } },
  } as unknown as TurnRow
  const { meta } = toDelivery(row, 'kate', 's1')
  expect(meta).toMatchObject({ service: 'Slack', chat_id: 'up:c1' })
  expect(JSON.stringify(meta)).not.toContain('given.up')
})
