// The listener and peers that do not wait for their answer.
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { type Endpoint, markVerified } from '../contract/index.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { createBodyBudget } from './body-budget.ts'
import { DEFAULT_LIMITS } from './deps.ts'
import { handleRequest } from './handle-request.ts'
import type { RequestContext } from './request-context.ts'

it('a peer that left before its stream was opened does not stay among the streams', async () => {
  const streams = new Set<ServerResponse>()
  let letIn = () => {}
  let arrived = () => {}
  const arriving = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const hook: Endpoint = {
    verify: (request) =>
      new Promise((resolve) => {
        letIn = () => resolve(markVerified(request, 'dev'))
        arrived()
      }),
    handle: async () => ({ status: 200, stream: () => {} }),
  }
  const bodies = createBodyBudget(DEFAULT_LIMITS, createTestClock())
  const door = {
    deps: { settings: () => ({ maxBodyBytes: 1_000, publicUrl: null }), endpoints: { hook: () => hook } },
    limits: { maxUrlBytes: 1_000, streamBacklogBytes: 1_000 },
    metrics: { countHook: () => {} },
    draining: () => false,
    streams,
  } as unknown as RequestContext
  let left: Promise<unknown> = Promise.resolve()
  const server = createServer((request, response) => {
    left = once(response, 'close')
    handleRequest(door, { local: false, loopback: true, bodies }, request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const peer = get({ port: (server.address() as AddressInfo).port, path: '/hooks/demo/events' })
  peer.on('error', () => {})
  await arriving
  peer.destroy()
  await left
  letIn()
  await new Promise((resolve) => setImmediate(resolve))
  expect(streams.size).toBe(0)
  server.close()
})
