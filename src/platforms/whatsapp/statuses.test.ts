// Later reports of WhatsApp about our messages, and how a lost answer is settled.
import { afterEach, describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../contract/index.ts'
import { fromKate, openScene, type Scene } from './fixtures/whatsapp-scene.ts'

let scene: Scene
afterEach(() => scene.close())

const open = async (options: Parameters<typeof openScene>[0] = {}) => {
  scene = await openScene({ statuses: [], ...options })
  await scene.start()
  await scene.change(fromKate('text', { body: 'hi' }))
  scene.fake.person()
}
const status = (name: string, more: object = {}) =>
  scene.change({
    statuses: [
      { id: 'wamid.S', status: name, timestamp: '1763294400', recipient_id: '4915112345678', ...more },
    ],
  })
const last = () => scene.intake.events.at(-1)

describe('statuses', () => {
  it('[I24.wa-receipts] [I24.wa-failed-later] are reports on the send whose id went along', async () => {
    await open()
    for (const [given, outcome] of [
      ['sent', 'sent'],
      ['delivered', 'delivered'],
      ['read', 'read'],
      ['played', 'read'],
    ] as const) {
      await status(given, { biz_opaque_callback_data: 'o_t_7' })
      expect(last()).toMatchObject({ kind: 'report', send: 'o_t_7', outcome, platformId: 'wamid.S' })
    }
    const errors = [
      { code: 131026, title: 'Message undeliverable', error_data: { details: 'no WhatsApp there' } },
    ]
    await status('failed', { biz_opaque_callback_data: 'o_t_7', errors })
    expect(last()).toMatchObject({ kind: 'report', outcome: 'failed', detail: '131026: no WhatsApp there' })
    // Each is identified by message and status, so a repeat is the same event.
    expect(last()).toMatchObject({ messageId: 'status:wamid.S:failed' })
    await status('exploded')
    expect(last()).toMatchObject({ kind: 'filtered' })
  })

  it('[I24.wa-unknown-status] without our data are found by what this process sent, then by what stands in the chat', async () => {
    const entry: TranscriptEntry = {
      seq: 1,
      direction: 'out',
      id: 'o_t_99',
      conversation: '4915112345678',
      at: 0,
      text: '',
      state: 'sent',
      reason: null,
      platformMessageId: 'wamid.OLD',
    }
    await open({ transcript: ({ direction }) => (direction === 'out' ? [entry] : []) })
    const { platformIds } = await scene.send('4915112345678', { kind: 'text', text: 'hello' })
    await status('delivered', { id: platformIds[0] })
    expect(last()).toMatchObject({ send: 'o_t_1', outcome: 'delivered' })
    await status('read', { id: 'wamid.OLD' })
    expect(last()).toMatchObject({ send: 'o_t_99', outcome: 'read' })
    await status('read', { id: 'wamid.STRANGE' })
    expect(last()).toMatchObject({ kind: 'report', send: '' })
  })

  it('[I24.wa-settled] a lost answer is known by its status, once that came', async () => {
    await open({ faults: [{ on: 'messages', do: 'drop-response' }] })
    const op = { kind: 'text', text: 'hello' } as const
    const request = { to: { integration: 'wa', conversation: '4915112345678' }, op, key: 'o_t_1', seq: 1 }
    await expect(scene.adapter.send(request)).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(await scene.adapter.reconcile?.(request)).toEqual({ outcome: 'unknown' })
    await status('sent', { biz_opaque_callback_data: 'o_t_1' })
    expect(await scene.adapter.reconcile?.(request)).toEqual({
      outcome: 'sent',
      receipt: { platformIds: ['wamid.S'] },
    })
    await status('failed', { biz_opaque_callback_data: 'o_t_3' })
    expect(await scene.adapter.reconcile?.({ ...request, key: 'o_t_3' })).toEqual({ outcome: 'unknown' })
  })
})
