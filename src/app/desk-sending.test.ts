// The operator's part of sending, where the desk answers by itself: addresses that contradict themselves, the default's own.
import { expect, it } from 'vitest'
import { defaultSettings } from '../config/default-settings.ts'
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
