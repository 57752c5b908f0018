// A message finds its integration and its agent by a table lookup, not by a scan.
import { expect, it } from 'vitest'
import { agentById, bindingsAt, integrationById } from '../../contract/index.ts'
import { testAgent, testIntegration, testSettings } from '../../testing/test-settings.ts'
import { boundAt } from './routing.ts'

function countedSettings(many: number) {
  let looks = 0
  const ids = Array.from({ length: many }, (_, at) => `n${at}`)
  const plain = testSettings({
    integrations: ids.map((id) => testIntegration(id)),
    agents: ids.map((id) => testAgent(`agent-${id}`, [id, 'shared'])),
  })
  const count = <One extends object>(list: readonly One[]) =>
    new Proxy(list, {
      get(target, key, self) {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1
        return Reflect.get(target, key, self)
      },
    })
  const settings = { ...plain, integrations: count(plain.integrations), agents: count(plain.agents) }
  return { settings, looks: () => looks }
}

it('[I23.binding-flat] the list is gone through once, whatever is looked up after that', () => {
  const { settings, looks } = countedSettings(1_000)
  const find = (at: number) => {
    expect(integrationById(settings, `n${at}`)?.id).toBe(`n${at}`)
    expect(agentById(settings, `agent-n${at}`)?.id).toBe(`agent-n${at}`)
    expect(boundAt(settings, { integration: `n${at}`, conversation: 'c' })?.agent).toBe(`agent-n${at}`)
  }
  find(0)
  const first = looks()
  for (let at = 0; at < 1_000; at += 1) find(at)
  expect(looks()).toBe(first)
})

it('what is not there is not found, and bindings come in the order of the agents', () => {
  const { settings } = countedSettings(3)
  expect([integrationById(settings, 'x'), agentById(settings, 'x')]).toEqual([undefined, undefined])
  expect(bindingsAt(settings, 'x')).toEqual([])
  expect(bindingsAt(settings, 'shared').map(({ agent }) => agent.id)).toEqual([
    'agent-n0',
    'agent-n1',
    'agent-n2',
  ])
  expect(boundAt(settings, { integration: 'shared', conversation: 'c' })?.agent).toBe('agent-n0')
  expect(boundAt(settings, { integration: 'x', conversation: 'c' })).toBeNull()
})

it('another list has a table of its own', () => {
  const one = testSettings({ integrations: [testIntegration('a')] })
  const other = testSettings({ integrations: [testIntegration('b')] })
  expect(integrationById(one, 'a')?.id).toBe('a')
  expect(integrationById(other, 'a')).toBeUndefined()
  expect(integrationById(other, 'b')?.id).toBe('b')
})
