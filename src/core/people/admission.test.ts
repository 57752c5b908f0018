// Repeated access checks: nothing is refused for good that a node may only not know yet.
import { expect, it } from 'vitest'
import type { Settings, TurnRow } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { OPEN, testAgent, testIntegration, testSettings } from '../../testing/test-settings.ts'
import { createAdmission } from './admission.ts'

const known = (allowFrom: readonly string[]) =>
  testSettings({
    integrations: [testIntegration('chat', { access: { ...OPEN, dm: 'allowlist', allowFrom } })],
    agents: [testAgent('demo', ['chat'])],
  })

function opened(settings: Settings, others: readonly { digest: string; alive: boolean }[] = []) {
  const clock = createTestClock()
  const granted = new Set<string>()
  let heard = new Set<string>()
  let away = false
  const nodes = others.map(({ digest }, at) => ({ owner: `n${at}/1`, digest }))
  const admission = createAdmission({
    store: { shared: others.length > 0, owner: 'me/1', session: async () => null } as never,
    clock,
    settings: () => settings,
    grants: {
      has: (_, sender) => heard.has(sender),
      senders: () => [],
      async load() {
        if (away) throw new Error('away')
        heard = new Set(granted)
      },
    },
    cluster: {
      nodes: () => nodes as never,
      isAlive: (owner) => others[nodes.findIndex((one) => one.owner === owner)]?.alive ?? false,
    },
    admitsNow: () => true,
    isRecipient: () => true,
    senderIdIsNotAChat: () => false,
  })
  const row = (more: Partial<TurnRow> = {}): TurnRow =>
    ({
      ...{ id: 't', integration: 'chat', conversation: 'anna', thread: null, sender: 'anna', agent: 'demo' },
      ...{ session: 's', receivedAt: clock.now(), body: { kind: 'message', text: 'x' } },
      ...more,
    }) as TurnRow
  return { clock, admission, row, granted, goAway: () => (away = true) }
}

it('[I14.revoked-agreed] while a living node runs another configuration nothing is refused for good', async () => {
  const settings = known([])
  const judged = (others: readonly { digest: string; alive: boolean }[]) => {
    const { admission, row } = opened(settings, others)
    return admission.ofTurn(row())
  }
  expect(await judged([])).toBe('revoked')
  expect(await judged([{ digest: settings.digest, alive: true }])).toBe('revoked')
  expect(await judged([{ digest: 'another', alive: true }])).toBe('unsure')
  expect(await judged([{ digest: 'another', alive: false }])).toBe('revoked')
})

it('[I14.revoked-agreed] an integration that another node may just have added is waited for', async () => {
  const settings = known(['anna'])
  const { admission, row, clock } = opened(settings, [{ digest: settings.digest, alive: true }])
  const strange = row({ integration: 'added' })
  expect(await admission.ofTurn(strange)).toBe('unsure')
  await clock.advance(16_000)
  expect(await admission.ofTurn(strange)).toBe('revoked')
})

it('[I14.revoked-agreed] a grant that this node has not heard of is asked for before anybody is refused', async () => {
  const { admission, row, granted } = opened(known([]))
  expect(await admission.ofTurn(row())).toBe('revoked')
  granted.add('anna')
  expect(await admission.ofTurn(row())).toBe('admitted')
  const other = opened(known([]))
  other.goAway()
  expect(await other.admission.ofTurn(other.row())).toBe('unsure')
})
