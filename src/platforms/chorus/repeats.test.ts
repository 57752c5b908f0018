// Repeated, refused and taken-over deliveries: none of the owed events may be lost.
import { describe, expect, it } from 'vitest'
import { defined, type Received, type TranscriptEntry } from '../../contract/index.ts'
import { deliverTo } from '../../testing/suites/platform-suite.ts'
import { intakeWith, post, seed } from './fixtures/chorus-scene.ts'
import { opened } from './fixtures/opened-chorus.ts'
import { createChorus } from './index.ts'

const tools = { url: 'https://miriad.example.com/mcp/1' }
const first = { ...seed('minimal'), mcp: tools }
const again = {
  ...first,
  callback: 'https://slack-adapter.example.com/cb/second',
  mcp: { url: 'https://miriad.example.com/mcp/2' },
}
const LIMITED: Partial<Received> = { id: null, state: 'refused', reason: 'rate_limited' }

const anotherNode = async ({ deps, callbacks }: Awaited<ReturnType<typeof opened>>) => {
  const intake = intakeWith(deps)
  const adapter = createChorus(deps, callbacks.fetch)
  await adapter.start(intake, null)
  const receive = async (body: unknown) => adapter.endpoint && deliverTo(adapter.endpoint, post(body))
  const say = (text: string, turn?: string) =>
    adapter.send({
      to: { integration: 'miriad', conversation: first.channel.id },
      op: { kind: 'text', text },
      key: 'o_other_1',
      seq: 1,
      ...defined({ turn }),
    })
  return { adapter, intake, receive, say }
}

describe('a repeat that is refused by a limit', () => {
  it('[S8.repeat-id] takes nothing from the delivery that is being worked on', async () => {
    const { receive, say, intake, callbacks, deps } = await opened()
    await receive(first)
    const shelf = [...deps.kept]
    intake.answerWith(() => LIMITED)
    expect((await receive(again)).status).toBe(429)
    expect([...deps.kept]).toEqual(shelf)
    await say('msg_1', 'Hello Alice!')
    expect(callbacks.posts.at(-1)).toMatchObject({ url: first.callback, event: { content: 'Hello Alice!' } })
  })

  it('[S8.repeat-id] nor when another node took it', async () => {
    const scene = await opened()
    const other = await anotherNode(scene)
    await scene.receive(first)
    other.intake.answerWith(() => LIMITED)
    expect((await other.receive(again))?.status).toBe(429)
    const third = await anotherNode(scene)
    await third.say('Hello Alice!', scene.deps.rows[0]?.id)
    expect(scene.callbacks.posts.at(-1)?.event).toMatchObject({ content: 'Hello Alice!' })
  })

  it('leaves nothing behind where nobody works on it, also twice in one batch', async () => {
    const { receive, intake, deps } = await opened()
    intake.answerWith(() => LIMITED)
    await receive(first)
    await receive([first, again])
    expect(deps.kept.size).toBe(0)
  })
})

describe('a repeat while idle is still to come', () => {
  it('[F7.chorus-lifecycle] [S8.repeat-id] brings answer and idle to the newer callback, and that one stays', async () => {
    const { receive, move, say, callbacks, deps } = await opened()
    await receive(first)
    const waiting: TranscriptEntry = {
      seq: 1,
      direction: 'out',
      id: 'o_fake_1',
      conversation: first.channel.id,
      at: 0,
      text: '',
      state: 'queued',
      reason: null,
    }
    deps.rows.push(waiting)
    await move('msg_1', 'answered')
    expect((await receive(again)).sentBack).toContain('duplicate')
    await say('msg_1', 'Hello Alice!')
    deps.rows[deps.rows.indexOf(waiting)] = { ...waiting, state: 'sent' }
    await deps.clock.advance(1_000)
    const told = callbacks.posts.map(({ url, event }) => [event.type, url])
    expect(told.slice(1)).toEqual([
      ['message', again.callback],
      ['lifecycle', again.callback],
    ])
    expect(deps.kept.size).toBe(1)
    await say(null, 'by the way')
    expect(callbacks.posts.at(-1)?.url).toBe(again.callback)
  })
})

describe('a message that a callback does not take', () => {
  const tried = (state: string): TranscriptEntry => ({
    seq: 1,
    direction: 'out',
    id: 'o_1',
    conversation: first.channel.id,
    // During its pause it is due later, like a reminder.
    at: Number.MAX_SAFE_INTEGER,
    text: 'long',
    state,
    reason: null,
  })

  it.each([400, 413, 422])('[S8.lifecycle] idle comes although it was refused with %i', async (status) => {
    const { receive, move, say, shown, callbacks, deps } = await opened()
    await receive(first)
    callbacks.statuses.push(200, status)
    await expect(say('msg_1', 'long')).rejects.toMatchObject({ code: 'platform_rejected' })
    deps.rows.push(tried('failed'))
    await move('msg_1', 'answered')
    await deps.clock.advance(1_000)
    expect(shown()).toEqual(['lifecycle processing', 'lifecycle idle'])
  })

  it('[S8.lifecycle] idle waits while it is tried again, and comes when it is given up', async () => {
    const { receive, move, say, shown, callbacks, deps } = await opened()
    await receive(first)
    callbacks.statuses.push(200, 503)
    await expect(say('msg_1', 'long')).rejects.toMatchObject({ code: 'platform_unavailable' })
    deps.rows.push(tried('queued'))
    await move('msg_1', 'answered')
    await deps.clock.advance(600_000)
    expect(shown()).toEqual(['lifecycle processing'])
    deps.rows.pop()
    deps.rows.push(tried('failed'))
    await deps.clock.advance(30_000)
    expect(shown()).toEqual(['lifecycle processing', 'lifecycle idle'])
  })
})

describe('a batch of which some are refused', () => {
  const from = (sender: string, id: string) => ({ ...first, message: { id, sender, content: 'x' } })
  const batch = [from('alice', 'a'), from('bob', 'b'), from('alice', 'c')]
  const refusing = async (reasons: Record<string, Received['reason']>) => {
    const scene = await opened()
    scene.intake.answerWith(({ sender }) => {
      const reason = reasons[sender.id]
      return reason ? { state: 'refused', reason, retryAfterMs: 7_000 } : {}
    })
    const { status, sentBack } = await scene.receive(batch)
    const [headers, body] = JSON.parse(sentBack) as [Record<string, string>, string]
    return { status, headers, told: JSON.parse(body), kept: scene.deps.kept.size }
  }
  const states = (told: { messages: { state: string; code?: string }[] }) =>
    told.messages.map(({ state, code }) => code ?? state)

  it('is answered one by one: what was taken is not called refused, nor the other way round', async () => {
    const { status, told, kept } = await refusing({ bob: 'sender_not_allowed' })
    expect([status, told.ok, states(told)]).toEqual([200, false, ['queued', 'forbidden', 'queued']])
    expect(kept).toBe(4)
  })

  it('is to come again while a limit refused one of them', async () => {
    const { status, headers, told } = await refusing({ bob: 'rate_limited' })
    expect(headers['retry-after']).toBe('7')
    expect([status, states(told)]).toEqual([429, ['queued', 'rate_limited', 'queued']])
  })

  it('is refused where all are', async () => {
    const { status, told, kept } = await refusing({ alice: 'sender_not_allowed', bob: 'sender_not_allowed' })
    expect([status, told.code, states(told)]).toEqual([403, 'forbidden', Array(3).fill('forbidden')])
    expect(kept).toBe(0)
  })
})

describe('several nodes', () => {
  it('[S8.output-order] unasked words find the callback that another node took', async () => {
    const scene = await opened()
    const other = await anotherNode(scene)
    await scene.receive(first)
    await scene.deps.clock.advance(1_000)
    await scene.receive({ ...again, message: { ...again.message, id: 'msg_2' } })
    await other.say('by the way')
    expect(scene.callbacks.posts.at(-1)).toMatchObject({
      url: again.callback,
      event: { content: 'by the way' },
    })
  })
})
