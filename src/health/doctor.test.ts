// The cost of doctor grows with the agents and integrations, not with their product.
import { expect, it } from 'vitest'
import type { Settings } from '../contract/index.ts'
import { testAgent, testIntegration, testSettings } from '../testing/test-settings.ts'
import type { DoctorDeps } from './doctor.ts'
import { createDoctor } from './doctor.ts'

/** Counts how often an entry of a list is read. */
function counted<One extends object>(list: readonly One[], looked: () => void): readonly One[] {
  return new Proxy(list, {
    get(target, key, self) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looked()
      return Reflect.get(target, key, self)
    },
  })
}

async function examine(many: number) {
  let looks = 0
  let asked = 0
  const look = () => {
    looks += 1
  }
  const ids = Array.from({ length: many }, (_, at) => `n${at}`)
  const plain = testSettings({
    integrations: ids.map((id) => testIntegration(id)),
    agents: ids.map((id) => testAgent(`agent-${id}`, [id])),
  })
  const settings: Settings = {
    ...plain,
    integrations: counted(plain.integrations, look),
    agents: counted(plain.agents, look),
  }
  const open = counted(
    ids.map((id) => ({ agent: `agent-${id}`, count: 2 })),
    look,
  )
  const counters = counted(
    ids.map((integration) => ({ integration, name: 'refused', reason: 'no_binding', count: 1 })),
    look,
  )
  const answers: Record<string, unknown> = {
    ...{ counters, queuedTurns: open, pendingApprovals: [{ agent: 'agent-n1', count: 3 }] },
    ...{ durability: { kind: 'sqlite', detail: '' }, foreignChains: 0, restored: null, historyLinks: [] },
    waitingBehind: [],
    waitingSends: [],
    turns: [],
    recentRefusals: [],
    lastReceived: new Map([['agent-n1', 1_000]]),
  }
  const store = new Proxy(
    {},
    {
      get: (_, verb) => async () => {
        asked += 1
        return answers[String(verb)]
      },
    },
  )
  const gateway = {
    cluster: { others: () => [], nodes: () => [] },
    links: { get: () => undefined },
    roster: { get: () => undefined },
    grants: { senders: () => [] },
    problems: () => new Map(),
    servers: () => undefined,
  }
  const doctor = createDoctor({
    ...{ store, gateway, settings: () => settings, clock: { now: () => 5_000 } },
    standing: () => ({ configProblem: null, storeProblem: null, configFile: null, dataDir: '/' }),
  } as unknown as DoctorDeps)
  const report = await doctor()
  return { looks, asked, report }
}

it('[I23.doctor-linear] twice as many agents and integrations are twice the work, and the same questions to the store', async () => {
  const few = await examine(200)
  const many = await examine(400)
  expect(many.looks).toBeLessThanOrEqual(2 * few.looks)
  expect(many.asked).toBe(few.asked)
  expect(many.report.agents).toHaveLength(400)
  expect(many.report.agents[1]).toMatchObject({
    ...{ id: 'agent-n1', queued: 2, approvals_pending: 3, last_message_at: '1970-01-01T00:00:01.000Z' },
    bindings: [{ integration: 'n1' }],
  })
  expect(many.report.agents[2]).toMatchObject({ queued: 2, approvals_pending: 0, last_message_at: null })
  expect(many.report.integrations[7]).toMatchObject({ id: 'n7', drops: { no_binding: 1 } })
})
