// The fake Slack against Slack's own SDKs: they send and understand what the fake does.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LogLevel, SocketModeClient } from '@slack/socket-mode'
import { WebClient } from '@slack/web-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createFakeSlack, type FakeSlack } from './fake-slack.ts'
import { GENERAL_ID, KATE_ID } from './world.ts'

let fake: FakeSlack
let web: WebClient

beforeEach(async () => {
  fake = await createFakeSlack({ ackMs: 200 })
  web = new WebClient(fake.botToken, {
    slackApiUrl: fake.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  })
})
afterEach(() => fake.stop())

async function until<T>(look: () => T | null | undefined | false): Promise<T> {
  const end = Date.now() + 10_000
  for (;;) {
    const found = look()
    if (found) return found
    if (Date.now() > end) throw new Error('waited in vain')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('[I15.fake-wire] the Web API, by @slack/web-api', () => {
  it('posts, changes, reads back with metadata, and deletes', async () => {
    const metadata = { event_type: 'switchboard_outbox', event_payload: { id: 'o_1', part: 0 } }
    const posted = await web.chat.postMessage({ channel: GENERAL_ID, text: 'hello', metadata })
    expect(posted).toMatchObject({
      ok: true,
      channel: GENERAL_ID,
      message: { text: 'hello', bot_id: fake.world.bot.bot_id },
    })
    const ts = String(posted.ts)
    await web.chat.update({ channel: GENERAL_ID, ts, text: 'hello again' })
    const bare = await web.conversations.history({ channel: GENERAL_ID })
    expect(bare.messages?.[0]?.metadata).toEqual({ event_type: 'switchboard_outbox' })
    const whole = await web.conversations.history({ channel: GENERAL_ID, include_all_metadata: true })
    expect(whole.messages?.[0]).toMatchObject({ text: 'hello again', metadata })
    await web.chat.delete({ channel: GENERAL_ID, ts })
    expect((await web.conversations.history({ channel: GENERAL_ID })).messages).toEqual([])
  })

  it('pages through history and threads, and shows a thread’s first message on each page', async () => {
    const kate = fake.person({ channel: GENERAL_ID })
    const said = Array.from({ length: 7 }, (_, at) => kate.says(`line ${at}`))
    const root = said[0]?.ts ?? ''
    for (let at = 0; at < 5; at++) kate.says(`reply ${at}`, { thread: root })
    const seen: (string | undefined)[] = []
    for await (const page of web.paginate('conversations.history', { channel: GENERAL_ID, limit: 3 }))
      seen.push(...(page as unknown as { messages: { text: string }[] }).messages.map(({ text }) => text))
    expect(seen).toEqual(said.map(({ text }) => text).toReversed())
    const after = await web.conversations.history({ channel: GENERAL_ID, oldest: said[4]?.ts ?? '' })
    expect(after.messages?.map(({ text }) => text)).toEqual(['line 6', 'line 5'])
    const thread = await web.conversations.replies({ channel: GENERAL_ID, ts: root, limit: 2 })
    expect(thread.messages?.map(({ text }) => text)).toEqual(['line 0', 'reply 0', 'reply 1'])
    expect(thread.has_more).toBe(true)
  })

  it('uploads by the external flow, as the client does it', async () => {
    await web.filesUploadV2({
      channel_id: GENERAL_ID,
      filename: 'a.txt',
      content: 'the content',
      initial_comment: 'here',
    })
    const [message] = fake.world.messages(GENERAL_ID)
    expect(message).toMatchObject({ text: 'here', files: [{ name: 'a.txt' }] })
    expect([...fake.world.files.values()][0]?.bytes.toString()).toBe('the content')
  })

  it('streams, reacts, and tells of people', async () => {
    const kate = fake.person()
    const { ts: thread } = kate.says('hi')
    const channel = kate.channel.id
    const { ts = '' } = await web.chat.startStream({ channel, thread_ts: thread, markdown_text: 'one ' })
    await web.chat.appendStream({ channel, ts, markdown_text: 'two' })
    await web.chat.stopStream({ channel, ts })
    expect(kate.sees()).toEqual(['one two'])
    await web.reactions.add({ channel, timestamp: thread, name: 'eyes' })
    await expect(web.reactions.add({ channel, timestamp: thread, name: 'eyes' })).rejects.toThrow(
      'already_reacted',
    )
    expect((await web.users.info({ user: KATE_ID })).user?.name).toBe('kate')
  })

  it('refuses as Slack does: by error, by scope, by status', async () => {
    await expect(web.chat.postMessage({ channel: 'C0NOWHERE', text: 'x' })).rejects.toThrow(
      'channel_not_found',
    )
    const long = { type: 'section' as const, text: { type: 'mrkdwn' as const, text: 'x'.repeat(3_001) } }
    await expect(web.chat.postMessage({ channel: GENERAL_ID, text: 'x', blocks: [long] })).rejects.toThrow(
      'invalid_blocks',
    )
    await expect(new WebClient('xoxb-wrong', { slackApiUrl: fake.apiUrl }).auth.test()).rejects.toThrow(
      'invalid_auth',
    )
    fake.plan([{ on: 'chat.postMessage', do: 'rate-limit', retryAfter: 7 }])
    await expect(web.chat.postMessage({ channel: GENERAL_ID, text: 'x' })).rejects.toMatchObject({
      retryAfter: 7,
    })
    const narrow = await createFakeSlack({ scopes: ['chat:write'] })
    const poor = new WebClient(narrow.botToken, { slackApiUrl: narrow.apiUrl, retryConfig: { retries: 0 } })
    await expect(poor.users.info({ user: KATE_ID })).rejects.toMatchObject({ data: { needed: 'users:read' } })
    expect((await poor.auth.test()).response_metadata?.scopes).toEqual(['chat:write'])
    await narrow.stop()
  })
})

describe('[I15.fake-socket] Socket Mode, by @slack/socket-mode', () => {
  const open = async () => {
    const client = new SocketModeClient({
      appToken: fake.appToken,
      logLevel: LogLevel.ERROR,
      clientOptions: { slackApiUrl: fake.apiUrl },
    })
    const heard: {
      type: string
      body: Record<string, unknown>
      retry_num?: number
      ack: (answer?: object) => Promise<void>
    }[] = []
    client.on('slack_event', (event) => void heard.push(event))
    await client.start()
    return { client, heard }
  }

  it('says hello, delivers events, slash commands and taps, and hears the acknowledgement', async () => {
    const { client, heard } = await open()
    const kate = fake.person()
    kate.says('hello')
    const first = await until(() => heard[0])
    expect(first.body).toMatchObject({
      type: 'event_callback',
      event: { type: 'message', text: 'hello', channel_type: 'im' },
    })
    await first.ack()
    const command = kate.commands('/swb', 'status')
    const second = await until(() => heard.find(({ type }) => type === 'slash_commands'))
    await second.ack({ text: 'fine' })
    await until(() => fake.socket.acknowledged(command))
    expect(fake.socket.answers.get(command)).toEqual({ text: 'fine' })
    const button = {
      type: 'button' as const,
      action_id: 'a',
      text: { type: 'plain_text' as const, text: 'Allow' },
      value: 'v',
    }
    await web.chat.postMessage({
      channel: kate.channel.id,
      text: 'q',
      blocks: [{ type: 'actions', elements: [button] }],
    })
    kate.taps('Allow')
    const tap = await until(() => heard.find(({ type }) => type === 'interactive'))
    expect(tap.body).toMatchObject({
      type: 'block_actions',
      actions: [{ value: 'v' }],
      user: { id: KATE_ID },
    })
    await client.disconnect()
  })

  it('delivers again what is not acknowledged, deals over several connections, and caps them at ten', async () => {
    const one = await open()
    const two = await open()
    const kate = fake.person()
    for (let at = 0; at < 4; at++) kate.says(`m${at}`)
    await until(() => one.heard.length >= 2 && two.heard.length >= 2)
    const again = await until(() => [...one.heard, ...two.heard].find(({ retry_num }) => retry_num === 1))
    expect(again.body.type).toBe('event_callback')
    for (let at = 0; at < 8; at++) fake.socket.addGhost()
    const { url } = (await new WebClient(fake.appToken, { slackApiUrl: fake.apiUrl }).apps.connections.open(
      {},
    )) as { url: string }
    const frame = await new Promise<string>((resolve) => {
      new WebSocket(url).on('message', (data) => resolve(data.toString('utf8')))
    })
    expect(JSON.parse(frame)).toMatchObject({ type: 'disconnect', reason: 'too_many_websockets' })
    await Promise.all([one.client.disconnect(), two.client.disconnect()])
  })
})

describe('[I15.fake-events] the Events API', () => {
  it('asks with a challenge, signs, and comes again with the number and the reason', async () => {
    const requests: { headers: Record<string, string | string[] | undefined>; body: string }[] = []
    const app = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      requests.push({ headers: request.headers, body })
      const { challenge } = body.startsWith('{') ? (JSON.parse(body) as { challenge?: string }) : {}
      response.writeHead(challenge === undefined && requests.length === 2 ? 500 : 200).end(challenge ?? '')
    })
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
    const own = await createFakeSlack({ retryMs: [5] })
    const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/`
    await own.http.use({ url, signingSecret: 'shh' })
    own.person().says('hello')
    const again = await until(() => requests[2])
    expect(again.headers).toMatchObject({ 'x-slack-retry-num': '1', 'x-slack-retry-reason': 'http_error' })
    const signed = `v0:${again.headers['x-slack-request-timestamp']}:${again.body}`
    expect(again.headers['x-slack-signature']).toBe(
      `v0=${createHmac('sha256', 'shh').update(signed).digest('hex')}`,
    )
    await own.stop()
    app.close()
  })
})
