// The load generator, a process on the other core. It signs everything, warms the server up, and then measures.

import { quantile } from '../statistics.ts'
import { type Connection, openConnection } from './connection.ts'
import type { FromGenerator, LoadPlan, LoadResult, ToGenerator } from './messages.ts'
import { buildRequests } from './requests.ts'

interface Prepared {
  readonly connections: readonly Connection[]
  readonly requests: readonly Buffer[]
  readonly statuses: Record<string, number>
  readonly failed: Promise<never>
}

let prepared: Prepared | null = null

process.on('message', (message: ToGenerator) => {
  const work = message.do === 'prepare' ? prepare(message.plan) : measure()
  work.then(tell, (error) => tell({ is: 'failed', error: String(error) }))
})
process.on('disconnect', () => process.exit(0))

function tell(message: FromGenerator): void {
  process.send?.(message)
}

async function prepare(plan: LoadPlan): Promise<FromGenerator> {
  const count = plan.warmUp + plan.messages
  const requests = buildRequests({ ...plan, count })
  let fail: (error: Error) => void = () => undefined
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => undefined)
  const connections = await Promise.all(
    Array.from({ length: plan.connections }, (_, at) =>
      openConnection(plan.ports[at % plan.ports.length] ?? 0, fail),
    ),
  )
  const statuses: Record<string, number> = {}
  await Promise.race([sendAll(connections, requests.slice(0, plan.warmUp), statuses), failed])
  prepared = { connections, requests: requests.slice(plan.warmUp), statuses, failed }
  return { is: 'warm' }
}

async function measure(): Promise<FromGenerator> {
  if (prepared === null) throw new Error('nothing is prepared')
  const { connections, requests, statuses, failed } = prepared
  prepared = null
  const before = performance.now()
  const latencies = await Promise.race([sendAll(connections, requests, statuses), failed])
  const elapsedMs = performance.now() - before
  for (const connection of connections) connection.close()
  const result: LoadResult = {
    elapsedMs,
    perSecond: (requests.length / elapsedMs) * 1000,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    statuses,
  }
  return { is: 'done', result }
}

/** Every connection sends its next request as soon as it has its answer. */
function sendAll(
  connections: readonly Connection[],
  requests: readonly Buffer[],
  statuses: Record<string, number>,
): Promise<Float64Array> {
  const latencies = new Float64Array(requests.length)
  if (requests.length === 0) return Promise.resolve(latencies)
  let next = 0
  let answered = 0
  return new Promise((resolve) => {
    const go = (connection: Connection): void => {
      const at = next++
      const request = requests[at]
      if (request === undefined) return
      const sentAt = performance.now()
      connection.ask(request, (status) => {
        latencies[at] = performance.now() - sentAt
        statuses[status] = (statuses[status] ?? 0) + 1
        if (++answered === requests.length) resolve(latencies)
        else go(connection)
      })
    }
    for (const connection of connections) go(connection)
  })
}
