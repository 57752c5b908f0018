// The true outcome of sends to Slack: after a lost answer the message is found by its metadata or its file's id, and a
// streamed answer ends as one message.
import { describe, expect, it } from 'vitest'
import type { OutboundOp } from '../../contract/index.ts'
import { withScene } from './fixtures/slack-scene.ts'

const GENERAL = 'C0GENERAL'

describe('truth', () => {
  it('[I15.reconcile] what arrived is found by its id, in the channel and in a thread; what did not is absent; what cannot be read is unknown', async () => {
    await withScene(async (scene) => {
      const op = { kind: 'text', text: 'x' } as const
      const kate = scene.fake.person({ channel: GENERAL })
      const { ts } = kate.says('root')
      const to = { integration: 'sl', conversation: GENERAL }
      const asked = (key: string, thread?: string) =>
        scene.adapter.reconcile?.({ to: { ...to, ...(thread ? { thread } : {}) }, op, key, seq: 1 })
      const { platformIds } = await scene.send(GENERAL, op, { key: 'o_here' })
      await scene.send(GENERAL, op, { key: 'o_thread', thread: ts })
      for (let at = 0; at < 250; at++) kate.says(`noise ${at}`)
      expect(await asked('o_here')).toEqual({ outcome: 'sent', receipt: { platformIds } })
      expect(await asked('o_thread', ts)).toMatchObject({ outcome: 'sent' })
      expect(await asked('o_never')).toEqual({ outcome: 'absent' })
      scene.fake.plan([{ on: 'conversations.history', do: 'error' }])
      await expect(asked('o_here')).rejects.toMatchObject({ code: 'platform_unavailable' })
    })
  })

  it('[I15.reconcile] a limit while it is read back is told, and not taken for an unknown', async () => {
    await withScene(async (scene) => {
      const to = { integration: 'sl', conversation: GENERAL }
      const asked = () =>
        scene.adapter.reconcile?.({ to, op: { kind: 'text', text: 'x' }, key: 'o_1', seq: 1 })
      const { platformIds } = await scene.send(GENERAL, { kind: 'text', text: 'x' }, { key: 'o_1' })
      scene.fake.plan([{ on: 'conversations.history', nth: 1, do: 'rate-limit', retryAfter: 50 }])
      await expect(asked()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 50_000 })
      expect(await asked()).toEqual({ outcome: 'sent', receipt: { platformIds } })
    })
  })

  it('[I15.streaming] an answer that is being written ends as exactly one message; one that is gone is sent anew', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person()
      const { adapter } = scene
      const to = { integration: 'sl', conversation: kate.channel.id }
      const request = (text: string) => ({ to, op: { kind: 'text', text } as const, key: 'o_1', seq: 1 })
      const { platformIds: shown } = await adapter.send({
        ...request('once'),
        op: { kind: 'text', text: 'once', partial: true },
      })
      if (adapter.streaming?.by !== 'edits') throw new Error('it streams by edits')
      await adapter.streaming.revise({ ...request('once upon'), shown })
      expect(kate.sees()).toEqual(['once upon'])
      await adapter.send({ ...request('once upon a time'), shown })
      expect(kate.sees()).toEqual(['once upon a time'])
      scene.fake.world.remove(kate.channel.id, shown[0] ?? '')
      await expect(adapter.send({ ...request('x'), shown })).rejects.toMatchObject({ code: 'not_found' })
    })
  })

  it('[I15.metadata-part] each post names its row and the true part; the beginning of an answer and its end name the same', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person()
      await scene.send(kate.channel.id, { kind: 'text', text: 'a' }, { key: 'o_1' })
      await scene.send(kate.channel.id, { kind: 'text', text: 'b' }, { key: 'o_2', part: 3 })
      const { platformIds: shown } = await scene.send(
        kate.channel.id,
        { kind: 'text', text: 'c', partial: true },
        { key: 'o_3' },
      )
      await scene.send(kate.channel.id, { kind: 'text', text: 'c d' }, { key: 'o_3', shown })
      const marks = scene.fake.world.messages(kate.channel.id).map(({ metadata }) => metadata?.event_payload)
      expect(marks).toEqual([
        { id: 'o_1', part: 0 },
        { id: 'o_2', part: 3 },
        { id: 'o_3', part: 0 },
      ])
    })
  })

  it('[I15.reconcile] a server that gives no metadata back makes it unknown, never absent, where the same words stand there', async () => {
    await withScene(async (scene) => {
      const to = { integration: 'sl', conversation: GENERAL }
      const op = { kind: 'text', text: 'x *y* & <z>' } as const
      const asked = (text: string = op.text) =>
        scene.adapter.reconcile?.({ to, op: { ...op, text }, key: 'o_lost', seq: 1 })
      await scene.send(GENERAL, op, { key: 'o_lost' })
      const [message] = scene.fake.world.messages(GENERAL)
      if (!message) throw new Error('nothing stands there')
      delete message.metadata
      expect(await asked()).toEqual({ outcome: 'unknown' })
      expect(await asked('other words')).toEqual({ outcome: 'absent' })
      scene.fake.person({ channel: GENERAL }).says('other words')
      expect(await asked('other words')).toEqual({ outcome: 'absent' })
    })
  })

  it('[I15.reconcile] [I35.b1-readback] where a server says that there is more and names no page, what was not seen is unknown, never absent', async () => {
    await withScene(
      async (scene) => {
        const op = { kind: 'text', text: 'x' } as const
        const kate = scene.fake.person({ channel: GENERAL })
        const { ts } = kate.says('root')
        const to = { integration: 'sl', conversation: GENERAL }
        const asked = (key: string, thread?: string) =>
          scene.adapter.reconcile?.({ to: { ...to, ...(thread ? { thread } : {}) }, op, key, seq: 1 })
        await scene.send(GENERAL, op, { key: 'o_here' })
        expect(await asked('o_here')).toMatchObject({ outcome: 'sent' })
        expect(await asked('o_never')).toEqual({ outcome: 'absent' })
        for (let at = 0; at < 250; at++) kate.says(`noise ${at}`)
        for (let at = 0; at < 250; at++) kate.says(`below ${at}`, { thread: ts })
        await scene.send(GENERAL, op, { key: 'o_thread', thread: ts })
        expect(await asked('o_here')).toEqual({ outcome: 'unknown' })
        expect(await asked('o_thread', ts)).toEqual({ outcome: 'unknown' })
      },
      { cursorless: true },
    )
  })

  it('[I15.reconcile-file] a file whose answer was lost is found by its id, or is absent; after a restart nobody can tell', async () => {
    await withScene(async (scene) => {
      const ref =
        (await scene.adapter.files?.keep?.({
          name: 'a.txt',
          mime: 'text/plain',
          bytes: Buffer.from('abc'),
        })) ?? ''
      const op: OutboundOp = { kind: 'file', name: 'a.txt', mime: 'text/plain', ref }
      const to = { integration: 'sl', conversation: GENERAL }
      const asked = (key: string) => scene.adapter.reconcile?.({ to, op, key, seq: 1 })
      scene.fake.plan([{ on: 'files.completeUploadExternal', nth: 1, do: 'drop-response' }])
      await expect(scene.send(GENERAL, op, { key: 'o_there' })).rejects.toMatchObject({
        code: 'outcome_unknown',
      })
      const [{ ts } = { ts: '' }] = scene.fake.world.messages(GENERAL)
      expect(await asked('o_there')).toEqual({ outcome: 'sent', receipt: { platformIds: [ts] } })
      scene.fake.plan([{ on: 'files.completeUploadExternal', nth: 1, do: 'drop-request' }])
      await expect(scene.send(GENERAL, op, { key: 'o_lost' })).rejects.toMatchObject({
        code: 'outcome_unknown',
      })
      expect(await asked('o_lost')).toEqual({ outcome: 'absent' })
      expect(await asked('o_of_another_life')).toEqual({ outcome: 'unknown' })
      expect(scene.fake.world.messages(GENERAL)).toHaveLength(1)
    })
  })
})
