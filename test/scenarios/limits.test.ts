// The limits that hold without being asked for: strangers draw from a bucket of their own, and a known sender is told once.
import { expect, it } from 'vitest'
import { DEFAULT_TUNABLES, type InboundEvent } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'

const { senderLimit, floodLimit, strangerLimit } = DEFAULT_TUNABLES
const team = {
  integrations: [
    testIntegration('chat', { access: { ...OPEN, dm: 'allowlist' as const, allowFrom: ['owner'] } }),
  ],
  agents: [testAgent('demo', ['chat'])],
}

it('[I14.limit-defaults] are those of the specification', () => {
  expect({ senderLimit, floodLimit, strangerLimit }).toEqual({
    senderLimit: { rps: 20, burst: 500 },
    floodLimit: { rps: 200, burst: 2_000 },
    strangerLimit: { rps: 1, burst: 30 },
  })
})

describeRiver(
  'limits by default',
  (open) => {
    it('[I14.stranger-bucket] a crowd of strangers takes nothing from those who may speak', async () => {
      const tunables = { senderLimit, floodLimit: { rps: 1, burst: 50 }, strangerLimit }
      const river = await open({ ...team, tunables })
      const reasons: (string | null)[] = []
      for (let n = 0; n < 100; n++) {
        reasons.push((await river.person(`s${n}`, `s${n}`).says('let me in')).reason)
      }
      expect(reasons.filter((one) => one === 'sender_not_allowed')).toHaveLength(30)
      expect(reasons.filter((one) => one === 'flood')).toHaveLength(70)
      for (let n = 0; n < 40; n++) expect((await river.person('owner').says(`m${n}`)).state).toBe('queued')
      // And the owner's own flood leaves the strangers theirs.
      await river.pass(5_000)
      expect((await river.person('s1').says('again')).reason).toBe('sender_not_allowed')
    })

    it('[I14.unproven-bucket] mail that bears the name of somebody who may speak, and proves nothing, takes nothing of theirs', async () => {
      const river = await open({
        ...team,
        tunables: { senderLimit, floodLimit: { rps: 1, burst: 20 }, strangerLimit },
      })
      const forged = (n: number): InboundEvent => ({
        ...{ kind: 'barred', conversation: 'owner', chat: 'direct', sender: { id: 'owner' } },
        ...{ at: 0, messageId: `forged-${n}`, reason: 'sender_unproven', key: 'require_auth_results' },
      })
      const reasons = []
      for (let n = 0; n < 40; n++)
        reasons.push((await river.platform.receive('chat', [forged(n)]))[0]?.reason)
      expect(reasons.filter((one) => one === 'sender_unproven')).toHaveLength(30)
      expect(reasons.filter((one) => one === 'flood')).toHaveLength(10)
      await river.settle()
      // Whoever is only named is written to by nobody.
      expect(river.platform.texts('owner')).toEqual([])
      for (let n = 0; n < 15; n++) expect((await river.person('owner').says(`m${n}`)).state).toBe('queued')
    })

    it('[I14.limit-told] a known sender over the limit is told once, until a message comes through again', async () => {
      const river = await open({ ...team, tunables: { senderLimit: { rps: 1, burst: 2 } } })
      const owner = river.person('owner')
      const notices = () =>
        river.platform.texts('owner').filter((text) => text.startsWith('You are sending too many'))
      river.agent.script = () => undefined
      const states = []
      for (let n = 0; n < 10; n++) states.push((await owner.says(`m${n}`)).reason)
      expect(states.filter((one) => one === 'rate_limited')).toHaveLength(8)
      await river.settle()
      expect(notices()).toHaveLength(1)
      await river.pass(10_000)
      for (let n = 0; n < 5; n++) await owner.says(`n${n}`)
      await river.settle()
      expect(notices()).toHaveLength(2)
      // Strangers are told nothing.
      const stranger = river.person('mallory')
      for (let n = 0; n < 40; n++) await stranger.says('x')
      await river.settle()
      expect(river.platform.texts('mallory')).toEqual([])
    })
  },
  ['sqlite', 'postgres'],
)
