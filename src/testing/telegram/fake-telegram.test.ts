// The fake Bot API: the wire by its documentation, the wire as grammy speaks it, and the scripted person.
import { Bot, InputFile } from 'grammy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeTelegram, type FakeTelegram } from './fake-telegram.ts'
import { readTelegramHtml } from './telegram-html.ts'

let fake: FakeTelegram
beforeEach(async () => {
  fake = await createFakeTelegram()
})
afterEach(() => fake.stop())

const call = async (method: string, init?: RequestInit | object) => {
  const given =
    init && ('body' in init || 'method' in init)
      ? (init as RequestInit)
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(init ?? {}) }
  const response = await fetch(`${fake.url}/bot${fake.token}/${method}`, given)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const KATE = 412_587_349

describe('the wire', () => {
  it('answers in envelopes, to JSON, forms, multipart and the query alike', async () => {
    fake.person()
    expect((await call('getMe')).body).toMatchObject({
      ok: true,
      result: { is_bot: true, username: 'switchboard_bot' },
    })
    const form = new URLSearchParams({
      chat_id: String(KATE),
      text: '<b>x</b>',
      parse_mode: 'HTML',
      reply_markup: '{"inline_keyboard":[[{"text":"A","callback_data":"a"}]]}',
    })
    expect((await call('sendMessage', { method: 'POST', body: form })).body).toMatchObject({
      ok: true,
      result: {
        message_id: 1,
        text: 'x',
        entities: [{ type: 'bold', offset: 0, length: 1 }],
        reply_markup: { inline_keyboard: [[{ text: 'A' }]] },
      },
    })
    const upload = new FormData()
    upload.set('chat_id', String(KATE))
    upload.set('document', new Blob(['hello']), 'a.txt')
    expect((await call('sendDocument', { method: 'POST', body: upload })).body).toMatchObject({
      result: { document: { file_name: 'a.txt', file_size: 5 } },
    })
    expect((await call(`sendMessage?chat_id=${KATE}&text=q`, { method: 'GET' })).body).toMatchObject({
      ok: true,
    })
  })

  it.each([
    ['sendMessage', {}, 400, 'Bad Request: chat_id is empty'],
    ['sendMessage', { chat_id: 5, text: 'x' }, 400, 'Bad Request: chat not found'],
    ['sendMessage', { chat_id: KATE, text: '' }, 400, 'Bad Request: message text is empty'],
    ['sendMessage', { chat_id: KATE, text: 'x'.repeat(4097) }, 400, 'Bad Request: message is too long'],
    [
      'sendMessage',
      { chat_id: KATE, text: '<b>x', parse_mode: 'HTML' },
      400,
      'Bad Request: can\'t parse entities: Can\'t find end tag corresponding to start tag "b"',
    ],
    [
      'sendMessage',
      { chat_id: KATE, text: 'a<br>b', parse_mode: 'HTML' },
      400,
      'Bad Request: can\'t parse entities: Unsupported start tag "br" at byte offset 1',
    ],
    [
      'sendMessage',
      { chat_id: KATE, text: 'x', reply_parameters: { message_id: 99 } },
      400,
      'Bad Request: message to be replied not found',
    ],
    [
      'sendMessage',
      { chat_id: KATE, text: 'x', message_thread_id: 3 },
      400,
      'Bad Request: message thread not found',
    ],
    [
      'sendMessage',
      {
        chat_id: KATE,
        text: 'x',
        reply_markup: { inline_keyboard: [[{ text: 'A', callback_data: 'x'.repeat(65) }]] },
      },
      400,
      'Bad Request: BUTTON_DATA_INVALID',
    ],
    [
      'editMessageText',
      { chat_id: KATE, message_id: 9, text: 'x' },
      400,
      'Bad Request: message to edit not found',
    ],
    ['setMessageReaction', { chat_id: KATE, message_id: 9 }, 400, 'Bad Request: message to react not found'],
    ['getFile', { file_id: 'x' }, 400, 'Bad Request: invalid file_id'],
    ['noSuchMethod', {}, 404, 'Not Found: method not found'],
  ])('%s %j is refused with %i %s', async (method, params, status, description) => {
    fake.person()
    expect(await call(method, params)).toEqual({
      status,
      body: { ok: false, error_code: status, description },
    })
  })

  it('knows its token, and hides nothing behind another', async () => {
    const response = await fetch(`${fake.url}/bot1:wrong/getMe`)
    expect([response.status, await response.json()]).toEqual([
      401,
      { ok: false, error_code: 401, description: 'Unauthorized' },
    ])
  })

  it('forgets updates only by a later offset, and ends the poll of a rival', async () => {
    const kate = fake.person()
    kate.says('one')
    kate.says('two')
    const updates = async (params: object) =>
      ((await call('getUpdates', params)).body.result as { update_id: number }[]) ?? []
    const [first] = await updates({ limit: 1 })
    expect(await updates({})).toHaveLength(2)
    expect(await updates({ offset: (first?.update_id ?? 0) + 1 })).toHaveLength(1)
    expect(await updates({ offset: (first?.update_id ?? 0) + 2 })).toHaveLength(0)
    const waiting = call('getUpdates', { timeout: 5 })
    while (fake.updates.polls.length < 5) await new Promise((resolve) => setTimeout(resolve, 5))
    void call('getUpdates', { timeout: 0 })
    expect((await waiting).status).toBe(409)
    kate.reacts(1, '👍')
    expect(await updates({})).toHaveLength(0)
    expect(await updates({ allowed_updates: ['message_reaction'] })).toHaveLength(1)
  })

  it('reads HTML as the server does', () => {
    expect(readTelegramHtml('<a href="https://x.y?a&amp;b">l</a>&lt;')).toEqual({
      text: 'l<',
      entities: [{ type: 'text_link', offset: 0, length: 1, url: 'https://x.y?a&b' }],
    })
    expect(readTelegramHtml('<b><i>x</b></i>')).toEqual({
      error: 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"',
    })
    expect(readTelegramHtml('x</b>')).toEqual({ error: 'Unexpected end tag at byte offset 1' })
    expect(readTelegramHtml('a < b')).toEqual({ error: 'Unclosed start tag at byte offset 2' })
  })
})

describe('[I5.person] a bot written with grammy, and a person', () => {
  it('talk, tap, react, edit and send files', async () => {
    const bot = new Bot(fake.token, { client: { apiRoot: fake.url } })
    const heard: string[] = []
    bot.on('message:document', (context) => void heard.push(`file ${context.message.document.file_name}`))
    bot.on('message:text', async (context) => {
      heard.push(`says ${context.message.text}`)
      if (context.message.text === 'ask')
        await context.reply('?', {
          reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] },
        })
    })
    bot.on('edited_message:text', (context) => void heard.push(`edits ${context.editedMessage.text}`))
    bot.on('message_reaction', (context) => void heard.push(`reacts ${context.messageReaction.message_id}`))
    bot.on('callback_query:data', async (context) => {
      heard.push(`taps ${context.callbackQuery.data}`)
      await context.answerCallbackQuery('thanks')
      await context.editMessageText('done')
      await context.replyWithDocument(new InputFile(Buffer.from('bytes'), 'b.txt'), { caption: 'here' })
    })
    const running = bot.start({
      allowed_updates: ['message', 'edited_message', 'callback_query', 'message_reaction'],
    })
    const kate = fake.person()
    const heardAll = async (count: number) => {
      while (heard.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const { message_id } = kate.says('ask')
    while (!kate.sees().includes('?')) await new Promise((resolve) => setTimeout(resolve, 5))
    kate.taps('Yes')
    while (!kate.sees().includes('here')) await new Promise((resolve) => setTimeout(resolve, 5))
    kate.edits(message_id, 'asked')
    kate.reacts(message_id, '👍')
    kate.replies(message_id, 'again')
    kate.sendsFile({ name: 'a.pdf' })
    await heardAll(6)
    expect(heard).toEqual([
      'says ask',
      'taps y',
      'edits asked',
      `reacts ${message_id}`,
      'says again',
      'file a.pdf',
    ])
    expect(kate.sees()).toEqual(['done', 'here'])
    expect(fake.world.toasts).toMatchObject([{ text: 'thanks' }])
    await bot.stop()
    await running
  })
})
