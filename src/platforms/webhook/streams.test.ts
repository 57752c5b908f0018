// The stream of a two-way webhook: who may watch, no gap and no repeat between replay and live events, holes, formats.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isReply } from '../../contract/index.ts'
import { data, read, setUp } from './fixtures/stream-scene.ts'
import { fakeDeps, request, SECRET } from './fixtures/webhook-requests.ts'
import { createWebhook } from './index.ts'

describe('webhook stream', () => {
  it('[S7.webhook-two-way] [S7.webhook-connected] opens with a comment and shows what is sent from now on', async () => {
    const { deps, row, send, reader } = setUp()
    row(1, 'sent')
    const watching = await reader()
    expect(watching.text()).toBe(': connected\n\n')
    await send(2, { op: { kind: 'text', text: 'two\nlines' } })
    await deps.clock.settle()
    expect(watching.text()).toContain('id: 2\ndata: two\ndata: lines\n\n')
    expect(data(watching)).toEqual(['two\nlines'])
  })

  it('[S7.webhook-two-way] what stands right behind the last row is shown without a look, as its row tells it', async () => {
    const { deps, row, send, reader } = setUp()
    row(1, 'sent')
    const watching = await reader('format=json')
    deps.looks = 0
    await send(2, { at: 5_000 })
    await deps.clock.settle()
    expect([watching.events().length, deps.looks]).toEqual([1, 0])
    // An unreported row between them is looked up, and stays a hole while it is pending.
    row(3, 'queued')
    await send(4, { at: 6_000 })
    await deps.clock.settle()
    expect(watching.events().map(({ id }) => id)).toEqual(['2', '4-3'])
    expect(deps.looks).toBeGreaterThan(0)
    // While a row before it is missing, the next one is looked up too.
    deps.looks = 0
    await send(5)
    await deps.clock.settle()
    expect(watching.events().at(-1)?.id).toBe('5-3')
    expect(deps.looks).toBeGreaterThan(0)
    const replayed = (await reader('format=json&after=1')).events().map((event) => event.data)
    expect(watching.events().map((event) => event.data)).toEqual(replayed)
  })

  it('[I14.status-stream] a status is an event of its own kind, without an id, and moves no position', async () => {
    const { adapter, deps, row, send, reader } = setUp()
    row(1, 'sent')
    const watching = await reader()
    const other = await reader('conversation=elsewhere')
    const to = { integration: 'demo', conversation: 'webhook' }
    await send(2)
    await deps.clock.settle()
    adapter.signal?.(to, { kind: 'status', turn: 't', text: 'reading\nfiles' })
    adapter.signal?.(to, { kind: 'typing', on: true })
    expect(watching.events().slice(-2)).toEqual([
      { id: '2', data: 'm2' },
      { id: '', data: 'reading\nfiles', event: 'status' },
    ])
    expect(other.text()).not.toContain('status')
    await send(3)
    await deps.clock.settle()
    expect(watching.events().at(-1)?.id).toBe('3')
    expect(data(await reader('after=2'))).toEqual(['m3'])
  })

  it('[S7.webhook-resumable] a position beyond the newest row, of another store, begins at the first', async () => {
    const { deps, row, send, reader } = setUp()
    for (let seq = 1; seq <= 3; seq++) row(seq, 'sent')
    const watching = await reader('after=99-2')
    expect(data(watching)).toEqual(['m1', 'm2', 'm3'])
    await send(4)
    await deps.clock.settle()
    expect(data(watching)).toEqual(['m1', 'm2', 'm3', 'm4'])
    expect(data(await reader('after=4'))).toEqual([])
  })

  it('[S7.webhook-resumable] resumes after Last-Event-ID with nothing lost and nothing twice', async () => {
    const { deps, row, send, reader } = setUp()
    for (let seq = 1; seq <= 250; seq++) row(seq, 'sent')
    const watching = await reader('', { authorization: `Bearer ${SECRET}`, 'last-event-id': '3' })
    const sending = send(251)
    await deps.clock.settle(60)
    await sending
    await deps.clock.settle(20)
    expect(data(watching)).toEqual(Array.from({ length: 248 }, (_, index) => `m${index + 4}`))
    expect(data(await reader('after=250'))).toEqual(['m251'])
  })

  it('[S7.webhook-resumable] a row that is sent later than its neighbours is not lost to a reader who was away', async () => {
    const { deps, row, send, reader } = setUp()
    row(1, 'sent')
    row(2, 'queued') // a reminder, due later
    const watching = await reader('after=0')
    await send(3)
    await deps.clock.settle()
    expect(watching.events().at(-1)).toEqual({ id: '3-2', data: 'm3' })
    watching.close()
    await send(2)
    const back = await reader('after=3-2')
    expect(back.events()).toEqual([{ id: '3', data: 'm2' }])
    expect(data(await reader('after=3'))).toEqual([])
  })

  it('shows a late row live, once, and forgets rows that failed', async () => {
    const { deps, row, send, reader } = setUp()
    row(1, 'queued')
    row(2, 'queued')
    const watching = await reader()
    await send(3)
    await send(1)
    await send(1)
    row(2, 'failed')
    await deps.clock.advance(5_000)
    await send(4)
    await deps.clock.settle()
    expect(watching.events()).toEqual([
      { id: '3-1-2', data: 'm3' },
      { id: '3-2', data: 'm1' },
      { id: '4', data: 'm4' },
    ])
  })

  it('finds what another node sent, and keeps the stream alive', async () => {
    const { deps, row, reader } = setUp()
    const watching = await reader()
    row(1, 'sent')
    await deps.clock.advance(5_000)
    expect(data(watching)).toEqual(['m1'])
    expect(watching.text()).toContain(': alive\n\n')
  })

  it('[S7.webhook-events-cred] needs a credential', async () => {
    const secret = setUp()
    expect((await secret.open('', {})).status).toBe(401)
    expect((await secret.open('', { authorization: 'Bearer nope' })).status).toBe(401)
    const header = setUp({ sender_header: 'X-Sender', two_way: true })
    expect((await header.open('', {})).status).toBe(403)
    expect((await header.open('', { 'x-sender': 'dev', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await header.open('', { 'x-sender': 'dev' })).status).toBe(200)
  })

  it('a sender sees its own conversation, and another only where it spoke', async () => {
    const { deps, row, send, open, reader } = setUp({ sender_header: 'X-Sender', two_way: true })
    const dev = { 'x-sender': 'dev' }
    const own = await reader('', dev)
    await send(1, { conversation: 'dev' })
    await send(2, { conversation: 'kate' })
    await deps.clock.settle()
    expect(data(own)).toEqual(['m1'])
    expect((await open('conversation=kate', dev)).status).toBe(403)
    row(1, 'refused', { direction: 'in', conversation: 'kate', sender: 'dev' })
    expect((await open('conversation=kate', dev)).status).toBe(403)
    row(2, 'answered', { direction: 'in', conversation: 'ci', sender: 'dev' })
    expect((await open('conversation=ci', dev)).status).toBe(200)
  })

  it('shows prompts with the way to answer, edits as events of their own, and JSON on request', async () => {
    const { deps, send, reader } = setUp()
    const plain = await reader()
    const json = await reader('format=json')
    await send(1, { op: { kind: 'prompt', approval: 'abcde', text: 'Run rm?', choices: [] } })
    await send(2, { op: { kind: 'edit', on: 'o_1', text: 'Allowed by kate' } })
    await deps.clock.settle()
    expect(plain.events()).toEqual([
      { id: '1', data: 'Run rm?\n\nReply "yes abcde" or "no abcde"' },
      { id: '2', data: 'Allowed by kate', event: 'edit' },
    ])
    expect(JSON.parse(json.events()[0]?.data ?? '')).toMatchObject({
      ...{ id: 'o_1', chat_id: 'demo:webhook', conversation: 'webhook', kind: 'prompt', approval: 'abcde' },
    })
    expect(JSON.parse(json.events()[1]?.data ?? '')).toMatchObject({
      kind: 'edit',
      on: 'o_1',
      text: 'Allowed by kate',
    })
  })

  it('[S16.400] tells a bad format and a bad id, and bounds the readers', async () => {
    const { open, reader, adapter } = setUp()
    expect((await open('format=xml')).status).toBe(400)
    expect((await open('after=x')).status).toBe(400)
    for (let count = 0; count < 100; count++) await open()
    expect((await open()).status).toBe(429)
    await adapter.stop()
    expect(data(await reader())).toEqual([])
  })

  it('[I14.stream-gate] [I23.reader-share] a stream is for those who may speak, and one of them has so many places', async () => {
    const deps = {
      ...fakeDeps({ sender_header: 'X-Sender', two_way: true }),
      mayTalk: (who: string) => who !== 'mallory',
    }
    const adapter = createWebhook(deps)
    const open = async (sender: string) => {
      const raw = request({ method: 'GET', path: '/events', headers: { 'x-sender': sender } })
      const verified = await adapter.endpoint?.verify(raw)
      if (!verified || isReply(verified)) throw new Error('not verified')
      const reply = await adapter.endpoint?.handle(verified)
      reply?.stream?.({ write: () => true, end: () => undefined, onClose: () => undefined } as never)
      return reply?.status
    }
    for (let count = 0; count < 150; count++) expect(await open('mallory')).toBe(403)
    for (let count = 0; count < 20; count++) expect(await open('bert')).toBe(200)
    expect(await open('bert')).toBe(429)
    expect(await open('owner')).toBe(200)
  })

  it('[I14.listen-gate] a reader who may not speak any more is shown nothing further, and its stream ends', async () => {
    let may = true
    const deps = { ...fakeDeps({ sender_header: 'X-Sender', two_way: true }), mayTalk: () => may }
    const adapter = createWebhook(deps)
    const raw = request({ method: 'GET', path: '/events', headers: { 'x-sender': 'bert' } })
    const verified = await adapter.endpoint?.verify(raw)
    if (!verified || isReply(verified)) throw new Error('not verified')
    const reply = await adapter.endpoint?.handle(verified)
    const written: string[] = []
    let ended = 0
    const sink = { write: (text: string) => written.push(text), end: () => (ended += 1), onClose: () => {} }
    reply?.stream?.({ ...sink, drained: async () => {}, closed: false } as never)
    await deps.clock.advance(5_000)
    expect([ended, written.join('')]).toEqual([0, expect.stringContaining(': connected')])
    may = false
    const before = written.length
    adapter.watchers?.heard('bert')
    adapter.signal?.(
      { integration: 'hook', conversation: 'bert' },
      { kind: 'status', turn: 't1', text: 'secret' },
    )
    await deps.clock.advance(5_000)
    expect([ended, written.slice(before).filter((text) => !text.startsWith(':'))]).toEqual([1, []])
  })

  it('ends the stream when the store is away: the reader comes back with its position', async () => {
    const { deps, open } = setUp()
    Object.assign(deps, { transcript: () => Promise.reject(new Error('away')) })
    const adapter = createWebhook(deps)
    const raw = request({
      method: 'GET',
      path: '/events',
      headers: { authorization: `Bearer ${SECRET}` },
      text: '',
    })
    const verified = await adapter.endpoint?.verify(raw)
    if (verified === undefined || 'status' in verified) throw new Error('it should be verified')
    const reply = await adapter.endpoint?.handle(verified)
    if (reply?.stream === undefined) throw new Error('it should stream')
    let ended = false
    read((sink) =>
      reply.stream?.({
        ...sink,
        write: () => {},
        closed: false,
        onClose: () => {},
        end: () => {
          ended = true
        },
      }),
    )
    await deps.clock.settle()
    expect(ended).toBe(true)
    expect((await open()).status).toBe(200)
  })

  it('[S7.webhook-resumable] whatever the order of sending and of coming back, each message is seen once', async () => {
    const order = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 })
    const breaks = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(order, breaks, async (seqs, reconnects) => {
        const { deps, row, send, reader } = setUp()
        for (let seq = 1; seq <= 12; seq++) row(seq, 'queued')
        let watching = await reader('after=0')
        let last = '0'
        const seen: string[] = []
        const leave = () => {
          seen.push(...data(watching))
          last = watching.events().at(-1)?.id ?? last
          watching.close()
        }
        for (const [at, seq] of seqs.entries()) {
          if (reconnects[at] === true) leave()
          await send(seq)
          if (reconnects[at] === true) watching = await reader(`after=${last}`)
          await deps.clock.settle()
        }
        leave()
        expect([...seen].sort()).toEqual(seqs.map((seq) => `m${seq}`).sort())
      }),
      { numRuns: 40 },
    )
  })
})
