// The modules' own results for doctor are shown among the gates, whatever their code does.
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { telegramModule } from '../platforms/telegram/module.ts'
import { testIntegration, testSettings } from '../testing/test-settings.ts'
import { createModuleGates } from './module-gates.ts'

const one = testIntegration('tg', { options: { mode: 'webhook' } })
const gatesBy = (doctor: unknown) =>
  createModuleGates(
    {
      loadedPlatform: () => ({ ...telegramModule, doctor }) as never,
      loadedConnector: () => undefined,
      changed: () => new Set(),
    },
    () => testSettings({}),
  ).ofIntegration(one)

it('[I13.module-doctor] what a module finds is a gate, with the key to change', () => {
  expect(gatesBy(telegramModule.doctor)).toMatchObject([
    {
      gate: 'webhook',
      flagged: true,
      key: 'server.public_url',
      reason: expect.stringContaining('/hooks/tg'),
    },
  ])
  expect(gatesBy(undefined)).toEqual([])
})

it('[I13.module-doctor] one that throws or answers nonsense is a closed gate, and doctor answers', () => {
  const throwing = () => {
    throw new Error('boom')
  }
  expect(gatesBy(throwing)).toMatchObject([
    { gate: 'module', pass: false, reason: 'its module threw: Error: boom' },
  ])
  for (const nonsense of [7, 'x', [null], [{ gate: 1 }]])
    expect(gatesBy(() => nonsense)).toMatchObject([{ pass: false, reason: 'its module answered nonsense' }])
})

const REACH = { host: '0.0.0.0', near: false, public: true }
const findingsBy = (security: unknown, integrations = [one]) =>
  createModuleGates(
    {
      loadedPlatform: () => ({ ...telegramModule, doctor: undefined, security }) as never,
      loadedConnector: () => ({ security }) as never,
      changed: () => new Set(),
    },
    () => testSettings({ integrations, agents: ['kate'] }),
  ).risks(REACH)

it('[I13.module-security] what a module finds open is listed, of what is switched on, and nothing else of it', () => {
  const open = ({ id }: { readonly id: string }, { host }: typeof REACH) => [
    { severity: 'low', what: `${id} is open at ${host}`, key: 'k', fix: 'rm' },
  ]
  const found = (kind: string, id: string) => ({
    subject: `${kind} ${id}`,
    severity: 'low',
    text: `${id} is open at 0.0.0.0`,
    remedy: 'k',
  })
  const kate = found('agent', 'kate')
  expect(findingsBy(open)).toEqual({ found: [found('integration', 'tg'), kate], unjudged: [] })
  expect(findingsBy(open, [{ ...one, enabled: false }]).found).toEqual([kate])
  expect(findingsBy(undefined)).toEqual({ found: [], unjudged: [] })
})

it('[I13.module-security] one that throws or answers nonsense is not judged, and that is said', () => {
  const throwing = () => {
    throw new Error('boom')
  }
  expect(findingsBy(throwing)).toMatchObject({
    found: [],
    unjudged: [
      'what stands open at integration tg: its module threw: Error: boom',
      'what stands open at agent kate: its module threw: Error: boom',
    ],
  })
  for (const nonsense of [7, [null], [{ severity: 'worst', what: 'x', key: 'k' }], [{ severity: 'low' }]])
    expect(findingsBy(() => nonsense).unjudged).toHaveLength(2)
})

it('[I13.modules-restart] a file that changed is told as changed, one that is gone as gone', () => {
  const here = fileURLToPath(import.meta.url)
  const standing = (from: string, file: string) => ({
    ...{ from, file, version: '1', platforms: [], connectors: [], problem: null },
  })
  const modules = [
    standing('./there.mjs', here),
    standing('./gone.mjs', `${here}.gone`),
    standing('./same.mjs', here),
  ]
  const gates = createModuleGates(
    {
      loadedPlatform: () => undefined,
      loadedConnector: () => undefined,
      changed: () => new Set(['./there.mjs', './gone.mjs']),
    },
    () => ({ ...testSettings({}), modules }),
  )
  expect(gates.standing().modules).toEqual([
    { ...modules[0], changed: true },
    { ...modules[1], changed: true, gone: true },
    { ...modules[2], changed: false },
  ])
})
