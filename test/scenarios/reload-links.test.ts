// A reload that changes who may speak touches no link.
import { expect, it } from 'vitest'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { withHistory } from './completeness-river.ts'
import { describeRiver } from './river.ts'

describeRiver(
  'a reload',
  (open) => {
    it('[I35.b34] of access connects nothing anew, holds for the next message, and forgets no last in or out', async () => {
      const { river, history } = await withHistory(open)
      await history.says('anna', 'anna', 'hello')
      await river.settle()
      const link = async () => (await river.operator().status()).integrations.find(({ id }) => id === 'chat')
      const before = await link()
      expect(before).toMatchObject({ last_in_at: expect.any(String), last_out_at: expect.any(String) })
      const connectedAt = history.link().since
      await river.pass(5_000)
      const access = { ...OPEN, dm: 'allowlist' as const, allowFrom: ['bert'] }
      await river.configure({
        integrations: [testIntegration('chat', { access, default: true, scope: 'all' })],
      })
      expect(history.link().since).toBe(connectedAt)
      expect(await link()).toMatchObject({ last_in_at: before?.last_in_at, last_out_at: before?.last_out_at })
      await history.says('anna', 'anna', 'no more')
      await history.says('bert', 'bert', 'now me')
      await river.settle()
      expect(river.agent.texts()).toEqual(['hello', 'now me'])

      // What the adapter is made with does start it anew, and what was last used stays known.
      const used = await link()
      await river.pass(5_000)
      const options = { other: 'server' }
      await river.configure({ integrations: [testIntegration('chat', { access, options })] })
      expect(history.link().since).toBeGreaterThan(connectedAt ?? 0)
      expect(await link()).toMatchObject({ last_in_at: used?.last_in_at, last_out_at: used?.last_out_at })
    })
  },
  ['memory'],
)
