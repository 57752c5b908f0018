// The operator's part of sending, where the desk answers by itself: addresses that contradict themselves, the default's own.
import { expect, it } from 'vitest'
import { defaultSettings } from '../../config/default-settings.ts'
import { createDeskSending, type DeskSendingDeps } from './desk-sending.ts'

const settings = () => defaultSettings({ defaultStore: 'sqlite::memory:' })
const desk = createDeskSending({ settings, shelf: null } as unknown as DeskSendingDeps)

it('an address of one integration with the name of another is refused, never sent through either', async () => {
  const order = { to: 'demo:dev', text: 'hi', integration: 'nope' }
  await expect(desk.order(order, 'op')).rejects.toMatchObject({
    code: 'input_invalid',
    message: '"demo:dev" is a chat of demo, not of nope',
  })
})

it('what belongs to the embedded default is not looked for in a file', async () => {
  await expect(desk.removeIntegration('demo', 'op')).rejects.toMatchObject({
    code: 'conflict',
    message: 'integration "demo" belongs to the embedded default',
    hint: expect.stringContaining('switchboard init'),
  })
})

it('[I13.setup] an integration tells what to paste; a module that throws has nothing', async () => {
  let paste: (place: { readonly id: string; readonly base: string }) => unknown = ({ id, base }) => [
    `${base}/${id}`,
  ]
  const setup = () => ({ questions: [], paste: (place: never) => paste(place) })
  const telling = createDeskSending({
    ...{ settings, shelf: null, base: () => 'http://here' },
    gateway: { links: new Map(), problems: () => new Map() },
    adapters: { loadedPlatform: () => ({ setup: setup() }) },
  } as unknown as DeskSendingDeps)
  const pastes = async () => (await telling.integrations()).map((one) => one.paste)
  expect(await pastes()).toEqual([['http://here/web'], ['http://here/demo']])
  paste = () => {
    throw new Error('no')
  }
  expect(await pastes()).toEqual([undefined, undefined])
  paste = () => 'nonsense'
  expect(await pastes()).toEqual([undefined, undefined])
})
