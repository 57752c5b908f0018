// What modules say to doctor: shown among the gates, whatever their code does.
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
