// The proofs that a host listens, and the note behind its tool results while no proof shows that it saw a turn.
import { expect, it } from 'vitest'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { openChannel, turn } from './fixtures/opened.ts'
import { createChannelConnector } from './index.ts'
import { TRIAL_MS } from './moves.ts'

const ASK = { requestId: 'abcde', toolName: 'Bash', description: '', inputPreview: 'ls' }

/** Whether the host counts as listening: the next turn is not given to another attached host. */
const isProven = async (open: Awaited<ReturnType<typeof openChannel>>) => {
  const details: (string | undefined)[] = []
  await open.connector.start({
    accept: async () => ({ id: null }),
    presence: (_on, detail) => details.push(detail),
    fetchVerdict: async () => 'pending',
    roomy: () => undefined,
    reached: () => undefined,
    askedMs: async () => 0,
  })
  return details.at(-1)?.includes('take messages') ?? false
}

it('[I14.fetched-no-proof] what it fetched it saw, and that proves neither by fetching nor by answering that it listens', async () => {
  const open = await openChannel()
  const { hosts, connector, evidence, shows } = open
  const deaf = hosts.attach('kate')
  for (const n of [1, 2]) await connector.deliver(turn(n))
  shows(1, 2)
  await deaf.call('pending_messages', {})
  expect(evidence()).toEqual(['t1 seen', 't2 seen'])
  await deaf.call('reply', { chat_id: 'place:room', text: 'one', reply_to: 'm1' })
  await deaf.call('reply', { chat_id: 'place:room', text: 'two' })
  await connector.deliver(turn(3))
  await deaf.call('fetch_messages', { channel: 'place:room' })
  await deaf.call('react', { chat_id: 'place:room', message_id: 'm3', emoji: '👍' })
  expect(await isProven(open)).toBe(false)
})

it('[I14.fetched-no-proof] what follows is written to it all the same, and its silence is not taken for evidence', async () => {
  const { clock, hosts, connector, evidence, shows } = await openChannel()
  const deaf = hosts.attach('kate')
  await connector.deliver(turn(1))
  shows(1)
  await deaf.call('pending_messages', {})
  await connector.deliver(turn(2))
  await clock.advance(TRIAL_MS)
  expect(evidence()).toEqual(['t1 seen'])
  const next = hosts.attach('kate')
  await clock.advance(TRIAL_MS)
  expect(next.texts(), 'only what nobody saw moves').toEqual(['message 2'])
})

it('[S6.ch-unproven] a call that names a turn that was pushed proves its host, although it fetched before', async () => {
  const open = await openChannel()
  const { hosts, connector, shows } = open
  const host = hosts.attach('kate')
  await connector.deliver(turn(1))
  shows(1)
  await host.call('pending_messages', {})
  await connector.deliver(turn(2))
  await host.call('reply', { chat_id: 'place:room', text: 'two', reply_to: 'm2' })
  expect(await isProven(open)).toBe(true)
})

it('[I14.request-proves] a permission request proves its host: only registered channels are sent one', async () => {
  const open = await openChannel()
  const host = open.hosts.attach('kate')
  await host.seat.ask(ASK)
  expect(await isProven(open)).toBe(true)
})

it('[I14.waiting-told] every result of a host with turns without evidence says how many wait, behind its own text', async () => {
  const { hosts, connector, shows } = await openChannel()
  const host = hosts.attach('kate')
  expect(await host.call('get_roster', { chat_id: 'place:elsewhere' })).toEqual(
    expect.not.objectContaining({ note: expect.anything() }),
  )
  for (const n of [1, 2]) await connector.deliver(turn(n))
  const told = await host.call('send_message', { platform: 'telegram', target: '1', body: 'x' })
  expect(told).toMatchObject({
    text: 'done',
    structured: { ok: true, waiting: { count: 2, fetch: 'pending_messages' } },
    note: expect.stringMatching(/^2 messages wait .*pending_messages/),
  })
  expect(await host.call('sudo', {})).toMatchObject({
    isError: true,
    text: 'unknown tool: sudo',
    structured: { waiting: { count: 2 } },
  })
  const replied = await host.call('reply', { chat_id: 'place:room', text: 'one', reply_to: 'm1' })
  expect(replied).toMatchObject({ text: 'sent (id: 1)', structured: { waiting: { count: 1 } } })
  shows(2)
  const fetched = await host.call('pending_messages', {})
  expect(fetched).not.toHaveProperty('note')
  expect(fetched.structured).not.toHaveProperty('waiting')
})

it('[I14.tools-binding] a call says which turns are open where it comes from', async () => {
  const { hosts, connector, tools } = await openChannel()
  const host = hosts.attach('kate')
  const open = async () => {
    await host.call('channel_list', {})
    return tools.calls.at(-1)?.caller.host
  }
  expect(await open()).toEqual({ open: [], used: false })
  for (const n of [1, 2]) await connector.deliver(turn(n))
  expect(await open()).toEqual({ open: ['t1', 't2'], used: true })
  await host.call('ack', { message_id: 'm1' })
  await host.call('reply', { chat_id: 'place:room', text: 'x', reply_to: 'm2' })
  expect(await open()).toEqual({ open: [], used: true })
})

it('[S6.ch-doctor-why] says why a host that is unproven sees nothing, as its dialect has it', () => {
  const because = (options: object) =>
    createChannelConnector(testConnectorDeps({ options: { ...options } })).unseenBecause
  expect(because({ dialect: 'claude' })).toContain('--dangerously-load-development-channels')
  expect(because({ dialect: 'nexo' })).toBe(
    'the host does not take this server as a channel: look at its own list of channels',
  )
})
