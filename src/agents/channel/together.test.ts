// The proof of many turns by one call is reported in one turn of the event loop, and so in one commit.
import { expect, it } from 'vitest'
import type { HostAnswer } from '../../contract/index.ts'
import { openChannel, turn } from './fixtures/opened.ts'

const aTurn = () => new Promise((resolve) => setImmediate(resolve))

it('[I23.evidence-together] evidence for a later message tells of all before it at once, and the call waits until it is written down', async () => {
  const { hosts, connector, recorded, evidence, tools } = await openChannel()
  const host = hosts.attach('kate', { proven: true })
  for (let n = 1; n <= 60; n++) await connector.deliver(turn(n))
  let written: () => void = () => undefined
  const commit = new Promise<void>((resolve) => {
    written = resolve
  })
  recorded.hold = () => commit
  const called = host.call('ack', { message_id: 'm60' })
  await aTurn()
  expect(evidence()).toEqual(Array.from({ length: 60 }, (_, n) => `t${n + 1} seen`))
  expect(tools.calls, 'nothing is done for it before').toEqual([])
  written()
  expect(((await called) as HostAnswer).seen).toHaveLength(60)
  expect(tools.calls.map(({ tool }) => tool)).toEqual(['ack'])
})

it('[I23.evidence-together] an answer that covers many ends them at once', async () => {
  const { hosts, connector, recorded, evidence } = await openChannel()
  const host = hosts.attach('kate', { proven: true })
  for (let n = 1; n <= 60; n++) await connector.deliver(turn(n))
  await host.call('react', { chat_id: 'place:room', message_id: 'm60', emoji: '👍' })
  const seen = evidence().length
  let written: () => void = () => undefined
  const commit = new Promise<void>((resolve) => {
    written = resolve
  })
  recorded.hold = () => commit
  const called = host.call('reply', { chat_id: 'place:room', reply_to: 'm60', text: 'all of it' })
  await aTurn()
  expect(evidence().slice(seen)).toEqual(Array.from({ length: 59 }, (_, n) => `t${n + 1} answered`))
  written()
  expect(((await called) as HostAnswer).done).toHaveLength(60)
})
