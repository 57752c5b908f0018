// A reload of hosted channel servers while one of them ends slowly.
import { expect, it } from 'vitest'
import { until } from '../../test/faults/until.ts'
import { withChannelServers } from '../config/channel-integrations.ts'
import type { McpServerSettings } from '../contract/index.ts'
import { badServer, openPool, QUICK } from '../platforms/mcp/fixtures/pool-scene.ts'
import { createTestClock, testAgent, testSettings } from '../testing/index.ts'
import { createHostedServers } from './hosted-servers.ts'

const settingsOf = (mcpServers: readonly McpServerSettings[]) => {
  const names = mcpServers.map(({ name }) => name)
  const bindings = [{ plugin: 'web', instance: 'web', allowedChannelServers: names }]
  return withChannelServers(
    testSettings({ integrations: [], mcpServers, agents: [testAgent('kate', [], { bindings })] }),
  )
}

it('[I8.reload-holds-none] the others are heard while one ends, a newcomer only when all is in place', async () => {
  const clock = createTestClock()
  const line = (content: string) =>
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/nexo/channel', params: { content } })
  const keep = badServer('keep', {})
  const servers = [keep, badServer('stubborn', { stayOnEof: true })]
  const scene = await openPool(servers, { clock, timings: QUICK })
  for (const name of ['keep', 'stubborn']) await scene.reached(name, 'up')
  const hosted = createHostedServers(async () => scene.pool)
  let done = false
  const heard: unknown[] = []
  const newcomer = badServer('new', { after: [line('first words')] })
  const applied = hosted.apply(settingsOf([keep, newcomer])).finally(() => {
    done = true
  })
  await until('the newcomer is there', () => scene.pool.get('new') !== undefined)
  scene.server('new').onNews(({ params }) => void heard.push(params))
  await scene.reached('new', 'up')
  await scene.server('keep').call('emit', { lines: [line('meanwhile')] }, { timeoutMs: 20_000 })
  await until('it is there', () => scene.texts('keep').includes('meanwhile'))
  expect(done).toBe(false)
  await clock.advance(2 * QUICK.graceMs)
  const release = await applied
  expect(heard).toEqual([])
  release()
  await until('the newcomer is heard', () => heard.length === 1)
})
