// More approvals than any page holds: all of them are taken up after a restart, expire, are withdrawn and counted, and
// every chat that was asked hears how one ended.
import { expect, it } from 'vitest'
import type { NewSend } from '../../src/contract/index.ts'
import { CHAT, RUN } from './asking.ts'
import { describeRiver, type River } from './river.ts'

const MANY = 1_300
const LETTERS = 'abcdefghijkmnopqrstuvwxyz'
const idOf = (at: number) =>
  [at % 25, Math.floor(at / 25) % 25, Math.floor(at / 625) % 25, 0, 0].map((digit) => LETTERS[digit]).join('')

async function ask(river: River, at: number, turn: string | null, prompts: readonly NewSend[] = []) {
  const expiresAt = river.now() + 600_000
  const about = { hostId: null, agent: 'demo', session: 's', turn, ask: RUN, inputHash: `h${at}`, expiresAt }
  await river.store().ask({ id: idOf(at), ...about }, prompts)
}

describeRiver(
  'many approvals',
  (open) => {
    const opened = async (turn: string | null) => {
      const river = await open({ integrations: [CHAT] })
      await Promise.all(Array.from({ length: MANY }, (_, at) => ask(river, at, turn)))
      return river
    }
    const inState = async (river: River, state: 'pending' | 'expired' | 'withdrawn') =>
      (await river.store().approvals({ states: [state], limit: 10_000 })).length

    it('[I14.approvals-all] [I14.counts-all] all are counted, survive a restart and expire in time', async () => {
      const river = await opened(null)
      await river.restart()
      expect((await river.operator().status()).approvals.pending).toBe(MANY)
      expect((await river.operator().doctor()).agents[0]?.approvals_pending).toBe(MANY)
      await river.pass(601_000)
      expect(await inState(river, 'pending')).toBe(0)
      expect(await inState(river, 'expired')).toBe(MANY)
    })

    it('[I14.approvals-all] all of a turn that was cancelled are withdrawn', async () => {
      const river = await opened('t_1')
      await river.gateway().approvals.withdraw('demo', ['t_1'])
      expect(await inState(river, 'withdrawn')).toBe(MANY)
    })

    it('[I14.approvals-all] all of an agent that was removed are withdrawn, and those of others stay', async () => {
      const river = await opened(null)
      await river.gateway().approvals.endForRemovedAgents(['demo'])
      expect(await inState(river, 'pending')).toBe(MANY)
      await river.gateway().approvals.endForRemovedAgents([])
      expect(await inState(river, 'withdrawn')).toBe(MANY)
    })

    it('[I14.approvals-all] a call that an interrupted turn asks again is the same approval, however many came after it', async () => {
      const river = await open({ integrations: [CHAT] })
      river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
      await river.person('anna').says('go')
      await river.settle()
      await Promise.all(Array.from({ length: 400 }, (_, at) => ask(river, at, `t_${at}`)))
      await river.restart()
      await river.pass(1_000)
      const own = await river.store().approvals({ turn: river.agent.deliveries[0]?.turn ?? '', limit: 10 })
      expect(river.agent.deliveries.length).toBeGreaterThan(1)
      expect(own).toHaveLength(1)
    })

    it('[I14.prompts-all] every chat that was asked hears how it ended', async () => {
      const river = await open({ integrations: [CHAT] })
      const prompts = Array.from({ length: 650 }, (_, at): NewSend => {
        const to = { integration: 'chat', conversation: `approver-${at}` }
        const op = { kind: 'prompt', approval: idOf(0), text: 'Run?', choices: [] } as const
        const about = { cause: 'prompt', agent: 'demo', session: 's', turn: null, approval: idOf(0) } as const
        return { to, platform: 'test', op, ...about }
      })
      await ask(river, 0, 't_1', prompts)
      await river.settle()
      await river.gateway().approvals.withdraw('demo', ['t_1'])
      await river.settle()
      const told = prompts.filter(({ to }) =>
        river.platform.shown(to.conversation).some((text) => text.includes('no longer asked')),
      )
      expect(told).toHaveLength(prompts.length)
    })
  },
  ['sqlite'],
)
