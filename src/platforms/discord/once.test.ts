// Every send to Discord appears once: by its nonce, and after a lost answer by the echo and the history.
import { afterEach, describe, expect, it } from 'vitest'
import type { OutboundOp, TranscriptEntry } from '../../contract/index.ts'
import {
  FORUM,
  GENERAL,
  openStarted,
  type Scene,
  type SceneOptions,
  sendRequest,
  textOp,
} from './fixtures/discord-scene.ts'

let scene: Scene
afterEach(() => scene.close())

async function begin(options: SceneOptions = {}) {
  scene = await openStarted(options)
  return scene
}
const posts = () => scene.fake.world.calls.filter(({ name }) => name === 'create-message')

describe('once', () => {
  it('[I20.nonce] [S7.discord-nonce] the same row twice is one message; another row is another', async () => {
    const { fake } = await begin()
    const first = await scene.send(GENERAL, textOp('once'), { key: 'o_same' })
    expect(await scene.send(GENERAL, textOp('once'), { key: 'o_same' })).toEqual(first)
    await scene.send(GENERAL, textOp('once'), { key: 'o_other' })
    expect(fake.world.messages(GENERAL)).toHaveLength(2)
    const [body] = posts().map((call) => call.body)
    expect(body).toMatchObject({ enforce_nonce: true, nonce: expect.stringMatching(/^[\w-]{25}$/) })
  })

  it('[I20.reconcile] a lost answer is found by the echo, or in the history by what stands there; else it is absent', async () => {
    const { fake, adapter } = await begin()
    fake.plan([{ on: 'create-message', nth: 1, do: 'drop-response' }])
    await expect(scene.send(GENERAL, textOp('lost *answer*'), { key: 'o_lost' })).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
    const [shown] = fake.world.messages(GENERAL)
    const sent = { outcome: 'sent', receipt: { platformIds: [shown?.id] } }
    const asked = sendRequest(GENERAL, textOp('lost *answer*'), { key: 'o_lost' })
    expect(await adapter.reconcile?.(asked)).toEqual(sent)
    // A new process has no echo.
    const next = scene.make()
    expect(await next.reconcile?.(asked)).toEqual(sent)
    expect(await next.reconcile?.(sendRequest(GENERAL, textOp('never sent'), { key: 'o_never' }))).toEqual({
      outcome: 'absent',
    })
    await next.stop()
  })

  it('[I20.reconcile] what another row is known to be is not taken for it, and of two alike none is guessed', async () => {
    let rows: readonly Partial<TranscriptEntry>[] = []
    const { fake } = await begin({ transcript: () => rows as readonly TranscriptEntry[] })
    const first = fake.world.put(GENERAL, { author: fake.world.bot, content: 'ok' })
    rows = [{ id: 'o_other', platformMessageId: first.id }]
    const fresh = scene.make()
    const ask = () => fresh.reconcile?.(sendRequest(GENERAL, textOp('ok'), { key: 'o_mine' }))
    expect(await ask()).toEqual({ outcome: 'absent' })
    const second = fake.world.put(GENERAL, { author: fake.world.bot, content: 'ok' })
    expect(await ask()).toMatchObject({ outcome: 'sent', receipt: { platformIds: [second.id] } })
    fake.world.put(GENERAL, { author: fake.world.bot, content: 'ok' })
    expect(await ask()).toEqual({ outcome: 'unknown' })
    fake.world.put(GENERAL, { author: fake.person().user, content: 'by another' })
    expect(await fresh.reconcile?.(sendRequest(GENERAL, textOp('by another')))).toEqual({ outcome: 'absent' })
    await fresh.stop()
  })

  it('[I20.reconcile] [I35.b1-readback] words of ours that are older than the try are not taken for it, also where no row is known by them', async () => {
    const { fake } = await begin()
    const now = Date.now()
    const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
    const put = (channel: string, minutes: number) =>
      fake.world.put(channel, { author: fake.world.bot, content: 'ok', timestamp: ago(minutes) })
    const fresh = scene.make()
    const tried = { since: now - 90_000, endedAt: now - 80_000 }
    const ask = (channel: string) =>
      fresh.reconcile?.(sendRequest(channel, textOp('ok'), { key: 'o_mine', tried }))
    put(GENERAL, 20)
    expect(await ask(GENERAL)).toEqual({ outcome: 'absent' })
    const { id } = put(GENERAL, 1)
    expect(await ask(GENERAL)).toMatchObject({ outcome: 'sent', receipt: { platformIds: [id] } })
    await scene.send(FORUM, textOp('ok'))
    const post = fake.world.channels().find(({ parent_id }) => parent_id === FORUM)?.id ?? ''
    expect(await ask(FORUM)).toMatchObject({ outcome: 'sent' })
    fake.world.remove(post, post)
    fake.world.put(post, { author: fake.world.bot, content: 'ok', id: post, timestamp: ago(20) })
    expect(await ask(FORUM)).toEqual({ outcome: 'absent' })
    await fresh.stop()
  })

  it('[I20.reconcile] files by their name', async () => {
    const { fake } = await begin()
    fake.plan([{ on: 'create-message', nth: 1, do: 'drop-response' }])
    const op: OutboundOp = {
      kind: 'text',
      text: 'whole',
      asFile: { name: 'question-1.md', caption: 'Run it?' },
    }
    await expect(scene.send(GENERAL, op, { key: 'o_file' })).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
    const next = scene.make()
    expect(await next.reconcile?.(sendRequest(GENERAL, op, { key: 'o_file' }))).toMatchObject({
      outcome: 'sent',
    })
    await next.stop()
  })

  it('[I20.reconcile] a post in a forum by what stands first in it, also where it was archived; else it is absent', async () => {
    let rows: readonly Partial<TranscriptEntry>[] = []
    const { fake } = await begin({ transcript: () => rows as readonly TranscriptEntry[] })
    fake.plan([{ on: 'create-thread', nth: 1, do: 'drop-response' }])
    await expect(scene.send(FORUM, textOp('lost **news**'), { key: 'o_post' })).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
    const ownPosts = () => fake.world.channels().filter(({ parent_id }) => parent_id === FORUM)
    const [post] = ownPosts()
    // Posts of others, and other posts of ours, are not taken for it.
    fake.person({ channel: FORUM }).opens('lost news', 'lost **news**')
    await scene.send(FORUM, textOp('other news'))
    const next = scene.make()
    const ask = (said: string) => next.reconcile?.(sendRequest(FORUM, textOp(said), { key: 'o_post' }))
    const sent = { outcome: 'sent', receipt: { platformIds: [post?.id] } }
    expect(await ask('lost **news**')).toEqual(sent)
    expect(await ask('never sent')).toEqual({ outcome: 'absent' })
    if (post?.thread_metadata) post.thread_metadata.archived = true
    expect(await ask('lost **news**')).toEqual(sent)
    rows = [{ id: 'o_other', platformMessageId: post?.id ?? '' }]
    expect(await ask('lost **news**')).toEqual({ outcome: 'absent' })
    rows = []
    await scene.send(FORUM, textOp('lost **news**'))
    expect(await ask('lost **news**')).toEqual({ outcome: 'unknown' })
    fake.plan([{ on: 'archived-threads', do: 'error', status: 404 }])
    expect(await ask('never sent')).toEqual({ outcome: 'unknown' })
    await next.stop()
  })
})
