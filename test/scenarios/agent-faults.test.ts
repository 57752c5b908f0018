// The fault table of agents: what each fault of the network does to a turn of an http, a chorus and an llm agent. The turn is
// answered once, or its sender, the agent's state and `doctor` know why it was not.
import { afterEach, expect, it } from 'vitest'
import type { ProxyFault } from '../../src/testing/faults/fault-proxy.ts'
import { type FaultyAgent, KINDS, openFaultyAgent } from './agent-faults.ts'
import { describeRiver } from './river.ts'

interface Row {
  readonly fault: ProxyFault
  /** Nobody read the request: the turn waits for as long as it takes, and no attempt counts. */
  readonly unread?: true
}

const FAULTS: Readonly<Record<string, Row>> = {
  refuse: { fault: { kind: 'refuse' }, unread: true },
  silent: { fault: { kind: 'silent' } },
  'half-open': { fault: { kind: 'half-open' } },
  'reset-before': { fault: { kind: 'reset-before' } },
  'reset-after': { fault: { kind: 'reset-after' } },
  'cut-header': { fault: { kind: 'cut-header' } },
  'cut-body': { fault: { kind: 'cut-body' } },
  '502': { fault: { kind: 'status', status: 502 }, unread: true },
  '503': { fault: { kind: 'status', status: 503, retryAfter: 1 }, unread: true },
  '504': { fault: { kind: 'status', status: 504 }, unread: true },
  '504-done': { fault: { kind: 'status', status: 504, done: true } },
  '429': { fault: { kind: 'status', status: 429, retryAfter: 1 } },
  slow: { fault: { kind: 'slow', byteEveryMs: 1 } },
}

const END = ['answered', 'failed']

describeRiver(
  'the fault table of agents',
  (open) => {
    const opened: FaultyAgent[] = []
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close()
    })

    for (const kind of KINDS)
      for (const [name, { fault, unread }] of Object.entries(FAULTS)) {
        it(`[I35.a2-agents] ${kind}: ${name}, for three minutes and then no more`, async () => {
          const agent = await openFaultyAgent(kind, open)
          opened.push(agent)
          const { river, proxy } = agent
          await proxy.fail(fault)
          const { id = '' } = await river.person('anna').says('hi')
          const turnId = id ?? ''
          const turn = () => river.operator().turn(turnId)
          const from = river.now()
          let known = ''
          await agent.until(async () => {
            const { state = '' } = (await agent.standing()) ?? {}
            if (state !== 'attached') known = state
            const over = END.includes((await turn())?.state ?? '')
            return over || river.now() - from > 180_000 ? true : undefined
          })
          const meanwhile = await turn()
          if (unread) {
            // Known from the first try on, and kept; the person has heard of it once.
            expect([known, meanwhile?.state, meanwhile?.reason]).toEqual([
              ...['unreachable', 'queued', 'agent_unreachable'],
            ])
            expect(river.platform.texts('anna')).toHaveLength(1)
            expect((await river.operator().doctor()).ok).toBe(false)
          }
          await proxy.heal()
          const end = await agent.until(async () => {
            const now = await turn()
            return now && END.includes(now.state) ? now : undefined
          })
          await river.pass(3_000)
          const said = river.platform.texts('anna')
          const answers = said.filter((text) => text === 're: hi')
          if (end?.state === 'answered') expect(answers).toHaveLength(1)
          else {
            expect(end).toMatchObject({ state: 'failed', reason: expect.any(String) })
            expect(answers).toEqual([])
            expect(said.at(-1)).toMatch(/^⚠️ Your message was not answered\./)
            expect(['unreachable', 'failing']).toContain((await agent.standing())?.state)
            expect((await river.operator().doctor()).ok).toBe(false)
          }
          if (unread) expect([end?.state, end?.attempts]).toEqual(['answered', 1])
          // Whatever it was, the next message is answered, and then the agent is well.
          await river.person('anna').says('next')
          await agent.until(() => (river.platform.texts('anna').includes('re: next') ? true : undefined))
          expect(river.platform.texts('anna').filter((text) => text.startsWith('re: '))).toEqual([
            ...answers,
            're: next',
          ])
          const well = async () => ((await agent.standing())?.state === 'attached' ? true : undefined)
          expect(await agent.until(well, 100)).toBe(true)
        })
      }
  },
  ['sqlite'],
)
