// `reply_url`: the accepted forms of programs, and the refusals.
import { describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { delivery } from '../../testing/suites/connector-suite.ts'
import { FILE_DESK, failure, opened } from './fixtures/agent-scene.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const { session } = delivery('')

describe('reply_url', () => {
  it.each<[unknown, Record<string, string>, readonly string[]]>([
    [{ text: 'hi' }, {}, ['hi']],
    [['a', { text: 'b' }], {}, ['a', 'b']],
    [{ messages: ['a', 'b'] }, {}, ['a', 'b']],
    ['hi', { 'content-type': 'text/plain' }, ['hi']],
    ['hi', {}, ['hi']],
    ['{"text":"hi"}', {}, ['hi']],
    ['{"text":"by curl -d"}', FORM, ['by curl -d']],
    ['text=by+a+form&final=true', FORM, ['by a form']],
    ['{"text":"Hel"}\n{"text":"lo"}', { 'content-type': 'application/x-ndjson' }, ['Hello']],
    ['data: Hel\n\ndata: lo\n\n', { 'content-type': 'text/event-stream' }, ['Hello']],
    [{ text: '' }, {}, ['']],
  ])('[I16.http-reply] takes %j %j as the answer', async (body, headers, texts) => {
    const { callback, last } = await opened()
    const answered = await callback(body, headers)
    expect(answered?.status).toBe(200)
    expect(JSON.parse(String(answered?.body))).toMatchObject({ ok: true, state: 'answered' })
    expect(last()).toMatchObject({ kind: 'say', turn: 't_test_1', session, final: true, sole: true })
    const said = last()
    expect(said?.kind === 'say' && [...(said.before ?? []), said.text]).toEqual(texts)
  })

  it('[I16.http-reply] takes signs of life, messages that are not the last, and trouble', async () => {
    const { callback, recorded, kinds } = await opened()
    await callback({ status: 'looking it up' })
    await callback({ text: 'a moment', final: false })
    await callback({ error: { message: 'no more quota', code: 'quota' } })
    expect(kinds()).toEqual(['seen', 'status', 'say', 'failed'])
    expect(recorded.outputs.slice(1)).toMatchObject([
      { text: 'looking it up' },
      { text: 'a moment', final: false, sole: true },
      { reason: 'agent_failed', detail: 'no more quota', code: 'quota' },
    ])
  })

  it('[I16.http-files] takes files as base64 in JSON, and as a form with several parts', async () => {
    const { callback, recorded } = await opened()
    const data = Buffer.from('abc').toString('base64')
    await callback({ text: 'see', files: [{ name: 'a.txt', mime: 'text/plain', data }] })
    const form = new FormData()
    form.set('text', 'and this')
    form.set('file', new File(['xyz'], 'b.csv', { type: 'text/csv' }))
    const encoded = new Response(form)
    const body = await encoded.text()
    await callback(body, { 'content-type': encoded.headers.get('content-type') ?? '' })
    expect(recorded.outputs).toMatchObject([
      { text: 'see', files: [{ name: 'a.txt', mime: 'text/plain', bytes: Buffer.from('abc') }] },
      { text: 'and this', files: [{ name: 'b.csv', mime: 'text/csv', bytes: Buffer.from('xyz') }] },
    ])
  })

  it('[I16.http-one-answer] a key makes a repeated post the same one', async () => {
    const { callback, recorded } = await opened()
    const key = { 'idempotency-key': 'k1' }
    await callback({ text: 'once' }, key)
    await callback({ text: 'once' }, key)
    await callback({ text: 'two' }, { 'idempotency-key': 'k2' })
    const keys = recorded.outputs.map((one) => (one.kind === 'say' ? one.idempotencyKey : ''))
    expect(keys[0]).toBe(keys[1])
    expect(new Set(keys).size).toBe(2)
    expect(keys[0]).toContain('t_test_1')
  })

  it('[I16.http-reply] two posts at once cannot overtake each other', async () => {
    const { callback, recorded } = await opened()
    await Promise.all(['1', '2', '3'].map((text) => callback({ text, final: false })))
    expect(recorded.outputs.map((one) => (one.kind === 'say' ? one.text : ''))).toEqual(['1', '2', '3'])
  })

  it.each<[unknown, Record<string, string>, string]>([
    ['{', { 'content-type': 'application/json' }, 'not JSON'],
    [Buffer.from([0xff]).toString('latin1'), { 'content-type': 'application/json' }, 'not JSON'],
    [{}, {}, 'text, messages, files, status, ask or error is needed'],
    [7, {}, 'a text or an object'],
    [{ text: 7 }, {}, '"text" must be a string'],
    [{ status: 7 }, {}, 'status must be a string'],
    [{ text: 'x', final: 'soon' }, {}, 'final must be true or false'],
    [{ text: '', final: false }, {}, 'text must not be empty'],
    [{ ask: { tool: 'Bash' }, text: 'x' }, {}, 'ask and text exclude each other'],
    [{ ask: {} }, {}, 'ask.tool is required'],
    [{ ask: 'Bash' }, {}, 'ask must be an object'],
    [{ ask: { tool: 'Bash', description: 7 } }, {}, 'ask.description'],
    [{ ask: { tool: 'Bash', id: 7 } }, {}, 'ask.id'],
    [{ error: 7 }, {}, 'error must be a text'],
    [{ error: 'x', text: 'y' }, {}, 'error and text exclude each other'],
    [{ files: [{ name: 'x' }] }, {}, 'files[0].data'],
    ['nonsense', { 'content-type': 'multipart/form-data; boundary=x' }, 'the form cannot be read'],
    ['{"text":"a"}\nx', { 'content-type': 'application/x-ndjson' }, 'line 2'],
  ])(
    '[I16.http-reply-ends] %j %j is refused with the field, and nothing is taken',
    async (body, headers, named) => {
      const { callback, recorded } = await opened()
      const error = await failure(callback(body, headers))
      expect(error.code).toBe('input_invalid')
      expect(error.message).toContain(named)
      expect(recorded.outputs).toEqual([])
    },
  )

  it('[I16.http-reply-ends] [I16.deep-input] types that say nothing, methods and sizes are refused as such', async () => {
    const { callback, connector } = await opened()
    expect(await failure(callback('x', { 'content-type': 'image/png' }))).toMatchObject({
      code: 'unsupported_media',
    })
    expect(await failure(callback({ text: 'x'.repeat(100_001) }))).toMatchObject({ code: 'too_large' })
    expect(await failure(callback({ ask: { tool: 'x', input: 'x'.repeat(100_001) } }))).toMatchObject({
      code: 'too_large',
    })
    const deep = `{"ask":{"tool":"x","input":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`
    expect(await failure(callback(deep))).toMatchObject({ code: 'too_large' })
    expect((await callback('', {}, 'GET'))?.status).toBe(405)
    expect((await callback('', {}, 'DELETE'))?.status).toBe(405)
    await connector.stop()
    expect(await failure(callback({ text: 'x' }))).toMatchObject({ code: 'draining' })
  })

  it('[I14.status-bounded] a status that is no line is refused, and nothing of it is taken', async () => {
    const { callback, recorded } = await opened()
    await callback({ status: 'x'.repeat(2_000) })
    const before = recorded.outputs.length
    expect(await failure(callback({ status: 'x'.repeat(2_001) }))).toMatchObject({ code: 'too_large' })
    expect(await failure(callback({ status: 'x'.repeat(900_000), text: 'hi' }))).toMatchObject({
      code: 'too_large',
    })
    expect(recorded.outputs).toHaveLength(before)
  })

  it('[I16.http-one-answer] what the outlet refuses as conflict is answered so', async () => {
    const { callback, recorded } = await opened()
    recorded.hold = () => Promise.reject(new SwitchboardError('conflict', 'this message was answered before'))
    expect(await failure(callback({ text: 'late' }))).toMatchObject({ code: 'conflict' })
  })

  it('[I16.http-attachments] gives an attachment as a download, and none that is not the turn’s own', async () => {
    const { callback } = await opened(undefined, {}, { tools: FILE_DESK })
    const file = await callback('', {}, 'GET', 'attachment=f1')
    expect(file).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/plain',
        'content-disposition': "attachment; filename*=UTF-8''a__1_.txt",
        'x-content-type-options': 'nosniff',
      },
      body: Buffer.from('abc'),
    })
    expect(await failure(callback('', {}, 'GET', 'attachment=f2'))).toMatchObject({ code: 'not_found' })
  })
})
