// Integrations of the embedded default, and what an integration says of its set-up.
import { expect, it } from 'vitest'
import { defaultSettings } from '../../config/default-settings.ts'
import type { OperationContext } from '../context.ts'
import { removeIntegration } from './integration-changes.ts'
import { integrationViews } from './integration-view.ts'

const settings = () => defaultSettings({ defaultStore: 'sqlite::memory:' })

it('what belongs to the embedded default is not looked for in a file', async () => {
  const context = { settings } as unknown as OperationContext
  await expect(removeIntegration(context, 'demo', 'op')).rejects.toMatchObject({
    code: 'conflict',
    message: 'integration "demo" belongs to the embedded default',
    hint: expect.stringContaining('switchboard init'),
  })
})

it('[I13.setup] an integration tells what to paste; a module that throws has nothing', () => {
  let paste: (place: { readonly id: string; readonly base: string }) => unknown = ({ id, base }) => [
    `${base}/${id}`,
  ]
  const setup = () => ({ questions: [], paste: (place: never) => paste(place) })
  const parts = {
    baseUrl: () => 'http://here',
    gateway: { links: new Map(), problems: () => new Map() },
    adapters: { loadedPlatform: () => ({ setup: setup() }) },
  } as unknown as Parameters<typeof integrationViews>[1]
  const pastes = () => integrationViews(settings(), parts).map((one) => one.paste)
  expect(pastes()).toEqual([['http://here/web'], ['http://here/demo']])
  paste = () => {
    throw new Error('no')
  }
  expect(pastes()).toEqual([undefined, undefined])
  paste = () => 'nonsense'
  expect(pastes()).toEqual([undefined, undefined])
})
