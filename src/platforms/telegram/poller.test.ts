// Long polling: the offset moves with the commit, rival pollers are reported and not fought, a deaf link is found,
// albums are whole, and one node at a time polls.
import { afterEach, describe, expect, it } from 'vitest'
import { isReply, LEASE_MS, LEASE_RENEW_MS, SwitchboardError } from '../../contract/index.ts'
import { createTestClock, type TestClock } from '../../testing/index.ts'
import { DEFAULT_TIMINGS } from './config.ts'
import {
  memoryCredentials,
  openScene,
  recorded,
  type Scene,
  type SceneOptions,
  SECRET_TOKEN,
  until,
} from './fixtures/telegram-scene.ts'

const open: Scene[] = []
const scene = async (options: SceneOptions = {}) => {
  const made = await openScene(options)
  open.push(made)
  return made
}
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const textsOf = ({ intake }: Scene) =>
  intake.events.map((event) => ('text' in event ? event.text : event.kind))

describe('the offset', () => {
  it('[S2.ack-telegram-offset] [S7.telegram-polling] moves only with the commit', async () => {
    const one = await scene()
    const kate = one.fake.person()
    one.intake.failWith(new SwitchboardError('store_unavailable', 'the disk is full'))
    await one.start()
    const message = kate.says('keep me')
    const [update] = one.fake.world.updates
    await until('asked for again', () => one.fake.updates.polls.length > 3)
    expect(one.fake.updates.confirmed(update?.update_id ?? 0)).toBe(false)
    expect(one.adapter.link?.state()).toMatchObject({ state: 'down', detail: 'the disk is full' })
    one.intake.failWith(null)
    await until('confirmed', () => one.fake.updates.confirmed(update?.update_id ?? 0))
    expect(one.intake.events).toMatchObject([{ messageId: String(message.message_id), text: 'keep me' }])
    expect(one.intake.cursors).toEqual([String((update?.update_id ?? 0) + 1)])
    expect(one.adapter.link?.state()).toEqual({ state: 'up', since: expect.any(Number) })
  })

  it('[S7.catch-up] what came during a downtime is taken in order, from the stored offset', async () => {
    const one = await scene()
    const kate = one.fake.person()
    for (let n = 0; n < 250; n++) kate.says(`word ${n}`)
    const third = one.fake.world.updates[2]?.update_id ?? 0
    await one.start(String(third))
    await until('all are there', () => one.intake.events.length >= 248)
    expect(textsOf(one)).toEqual(Array.from({ length: 248 }, (_, n) => `word ${n + 2}`))
  })

  it('[S7.catch-up] repeated and reordered updates come once and in order', async () => {
    const one = await scene({ faults: [{ on: 'getUpdates', nth: 1, do: 'reorder' }] })
    const kate = one.fake.person()
    for (let n = 0; n < 5; n++) kate.says(`word ${n}`)
    await one.start()
    await until('all are there', () => one.intake.events.length >= 5)
    expect(textsOf(one)).toEqual(['word 0', 'word 1', 'word 2', 'word 3', 'word 4'])
    one.fake.plan([{ on: 'getUpdates', nth: 1, do: 'duplicate' }])
    // The first may still be answered by the waiting poll. The second meets the fault.
    kate.says('once')
    await until('that', () => textsOf(one).includes('once'))
    kate.says('twice')
    const [first, second] = await until('one of them came again under another update', () => {
      const again = one.intake.events.filter(({ messageId }, at, all) =>
        all.some((other, place) => place !== at && other.messageId === messageId),
      )
      return again.length > 1 && again
    })
    // The same key, so the store accepts it once.
    expect(second).toEqual(first)
  })
})

describe('troubles', () => {
  it('[S7.reconnect] a lost connection is made again', async () => {
    const one = await scene({ faults: [{ on: 'getUpdates', nth: [2, 3], do: 'drop-request' }] })
    const kate = one.fake.person()
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    one.fake.cut()
    kate.says('after')
    await until('there', () => textsOf(one).includes('after'))
    expect(one.fake.fired.length).toBeGreaterThan(0)
    expect(one.log.lines.join('\n')).not.toContain(one.fake.token)
  })

  it('[S7.liveness] a poll that neither answers nor fails is given up and renewed', async () => {
    const one = await scene({
      faults: [{ on: 'getUpdates', nth: 2, do: 'deaf' }],
      timings: { pollTimeoutMs: 1_000, pollMarginMs: 100 },
    })
    const kate = one.fake.person()
    await one.start()
    await until('the deaf poll', () => one.fake.fired.length === 1)
    kate.says('do you hear me')
    await until('heard', () => textsOf(one).includes('do you hear me'))
    expect(one.adapter.link?.state().state).toBe('up')
  })

  it('[I5.second-poller] a second poller is told and not fought', async () => {
    const one = await scene({ timings: { conflictBaseMs: 5_000, conflictMaxMs: 60_000 } })
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    await until('waiting', () => one.fake.updates.polls.length >= 2)
    // Another program polls with the same token, so the server ends our request.
    const rival = fetch(`${one.fake.url}/bot${one.fake.token}/getUpdates?timeout=1`)
    await until('told', () => one.adapter.link?.state().state === 'down')
    expect(one.adapter.link?.state().detail).toMatch(
      /terminated by other getUpdates request.*Another program polls with the same token/,
    )
    const polls = one.fake.updates.polls.length
    await rival
    expect(one.fake.updates.polls.length).toBe(polls)
    expect(one.log.lines.filter((line) => line.includes('Another program'))).toHaveLength(1)
  })

  it('a webhook that somebody set is told and left alone', async () => {
    const one = await scene()
    await fetch(`${one.fake.url}/bot${one.fake.token}/setWebhook?url=http://127.0.0.1:9/x`)
    await one.start()
    await until('told', () => one.adapter.link?.state().detail?.includes('A webhook is set for this bot'))
    expect(one.fake.world.calls.map(({ method }) => method)).not.toContain('deleteWebhook')
    await fetch(`${one.fake.url}/bot${one.fake.token}/deleteWebhook`)
    await until('up', () => one.adapter.link?.state().state === 'up')
  })

  it.each(['malformed', 'error', 'rate-limit', 'slow', 'drop-response', 'conflict'] as const)(
    '[S7.reconnect] nothing is lost when getUpdates meets %s',
    async (fault) => {
      const one = await scene({
        faults: [{ on: 'getUpdates', nth: [1, 3], do: fault, retryAfter: 0.05, delayMs: 50 }],
      })
      const kate = one.fake.person()
      kate.says('one')
      await one.start()
      kate.says('two')
      await until('both', () => new Set(textsOf(one)).size === 2)
      kate.says('three')
      await until('the third', () => textsOf(one).includes('three'))
      expect([...new Set(textsOf(one))]).toEqual(['one', 'two', 'three'])
    },
  )

  it('a wrong token is told without being shown', async () => {
    const one = await scene()
    const wrong = await scene({ apiRoot: one.fake.url, token: '7000000001:planted-wrong-token' })
    await wrong.start()
    await until('told', () => wrong.adapter.link?.state().detail?.includes('does not know the bot’s token'))
    expect(JSON.stringify([wrong.adapter.link?.state(), wrong.log.lines])).not.toContain(
      'planted-wrong-token',
    )
  })
})

describe('albums', () => {
  it('[I5.media-groups] are one event, also when a batch ends in the middle, and hold nothing else back', async () => {
    const one = await scene({ timings: { albumSettleMs: 2_000 } })
    const kate = one.fake.person()
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    kate.says('before')
    const [first] = kate.sendsPhotos(['three of them'])
    await until('before', () => textsOf(one).includes('before'))
    expect(textsOf(one)).toEqual(['before'])
    const late = {
      ...first,
      media_group_id: first?.media_group_id,
      caption: undefined,
      message_id: 77,
      photo: [{ file_id: 'b', file_unique_id: 'b', width: 1, height: 1 }],
    }
    one.fake.world.push('message', late)
    await until('the album', () => one.intake.events.length === 2)
    expect(one.intake.events[1]).toMatchObject({ text: 'three of them', attachments: [{}, { id: 'b' }] })
    kate.says('after')
    await until('after', () => one.intake.events.length === 3)
    // The next poll sends the offset that confirms the last one.
    await until('all confirmed', () => one.fake.world.updates.length === 0)
  })
})

describe('[S7.telegram-polling] the lease', () => {
  it('who does not hold it does not poll, and who loses it stops', async () => {
    let held = false
    let released = 0
    const lease = { take: async () => held, release: async () => void released++ }
    const one = await scene({ lease })
    await one.start()
    await until('told', () => one.adapter.link?.state().state === 'waiting')
    expect(one.adapter.link?.state().detail).toBe('another node polls for this integration')
    expect(one.fake.updates.polls).toEqual([])
    held = true
    await one.adapter.stop()
    expect(released).toBe(1)
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
  })

  it('[I6.lease-held] a renewal that fails stops nobody in time; one that hangs keeps nobody beyond it', async () => {
    const clock = createTestClock()
    const asked: string[] = []
    let answer: () => Promise<boolean> = async () => true
    const lease = {
      take: () => {
        asked.push('asked')
        return answer()
      },
      release: async () => undefined,
    }
    const one = await scene({ lease, clock, timings: { pollTimeoutMs: 600_000 } })
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    await until('it waits for messages', () => one.fake.updates.polls.length === 2)
    answer = () => Promise.reject(new Error('the store is away'))
    await clock.advance(LEASE_RENEW_MS)
    expect([one.adapter.link?.state().state, asked.length]).toEqual(['up', 2])
    // The network loses the next renewal.
    let late: (held: boolean) => void = () => undefined
    answer = () =>
      new Promise((resolve) => {
        late = resolve
      })
    await clock.advance(LEASE_MS - LEASE_RENEW_MS - 1)
    expect(one.adapter.link?.state().state).toBe('up')
    await clock.advance(1)
    expect(one.adapter.link?.state()).toEqual({
      state: 'connecting',
      detail: 'the lease of its poller was lost',
    })
    expect(one.fake.updates.polls).toHaveLength(2)
    // The present holder of the lease gets new messages.
    one.fake.person().says('hello')
    const other = await fetch(`${one.fake.url}/bot${one.fake.token}/getUpdates?timeout=1`)
    expect(await other.json()).toMatchObject({ result: [{ message: { text: 'hello' } }] })
    expect(one.intake.events).toEqual([])
    late(false)
    await until('told', () => one.adapter.link?.state().state === 'waiting')
  })

  it('[I6.fenced-position] a batch that another node may have by now is no quarrel over the bot', async () => {
    let held = true
    const lease = { take: async () => held, release: async () => undefined }
    const one = await scene({ lease })
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    held = false
    one.intake.failWith(new SwitchboardError('conflict', 'the lease is held by another node'))
    one.fake.person().says('hello')
    await until('it steps back', () => one.adapter.link?.state().state === 'waiting')
    expect(one.log.lines.filter((line) => line.includes('Another program'))).toEqual([])
  })
})

describe('taps', () => {
  it('[S7.telegram-buttons] are answered with what came of them', async () => {
    const one = await scene()
    const kate = one.fake.person()
    await one.start()
    await one.send(kate.chat.id, {
      kind: 'prompt',
      approval: 'abcde',
      text: '?',
      choices: [{ label: 'Allow', value: 'allow:abcde' }],
    })
    one.intake.answerWith(() => ({ state: 'consumed', reason: 'verdict', answer: 'verdict recorded' }))
    kate.taps('Allow')
    await until('the toast', () => one.fake.world.toasts.length === 1)
    one.intake.answerWith(() => ({ state: 'refused', reason: 'not_approver' }))
    kate.taps('Allow')
    await until('the alert', () => one.fake.world.toasts.length === 2)
    one.intake.answerWith(() => ({ state: 'refused', reason: 'rate_limited' }))
    kate.taps('Allow')
    await until('the other alert', () => one.fake.world.toasts.length === 3)
    expect(one.fake.world.toasts).toMatchObject([
      { text: 'verdict recorded', alert: false },
      { text: 'Not authorized.', alert: true },
      { text: 'The sender is over its limit.', alert: true },
    ])
  })
})

describe('[S7.telegram-webhook] webhook mode', () => {
  it('[S14.http-hooks-platforms] tells Telegram where to post, and is answered 200', async () => {
    const one = await scene({ mode: 'webhook', publicUrl: 'https://sb.example.com/' })
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    expect(one.fake.world.calls.find(({ method }) => method === 'setWebhook')?.params).toMatchObject({
      url: 'https://sb.example.com/hooks/tg',
      secret_token: 'planted-secret-token-4713',
    })
  })

  const ask = (one: Scene, method: string) => fetch(`${one.fake.url}/bot${one.fake.token}/${method}`)
  const settings = (one: Scene) =>
    one.fake.world.calls.filter(({ method }) => method === 'setWebhook').map(({ params }) => params.url)
  /** Waits until the next check of the webhook is over and was reported. */
  const looked = async (one: Scene, clock: TestClock) => {
    const before = one.adapter.link?.state()
    await clock.advance(DEFAULT_TIMINGS.webhookLookMs)
    await until('it looked', () => one.adapter.link?.state() !== before)
  }
  // A port without a listener. The fake tries it when a person writes.
  const URL_OF_NOBODY = 'http://127.0.0.1:9'

  it('[S7.liveness] is set again when somebody took it away, or put another in its place', async () => {
    const clock = createTestClock()
    const one = await scene({ mode: 'webhook', publicUrl: URL_OF_NOBODY, clock })
    const ours = `${URL_OF_NOBODY}/hooks/tg`
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    await ask(one, 'deleteWebhook')
    await looked(one, clock)
    await ask(one, 'setWebhook?url=http://127.0.0.1:9/other')
    await looked(one, clock)
    expect(settings(one)).toEqual([ours, ours, 'http://127.0.0.1:9/other', ours])
    expect(one.adapter.link?.state().state).toBe('up')
  })

  it('[S7.liveness] is down when Telegram cannot post here, with its words, and up with the next update', async () => {
    const clock = createTestClock()
    const one = await scene({ mode: 'webhook', publicUrl: URL_OF_NOBODY, clock, now: clock.now })
    await one.start()
    await until('up', () => one.adapter.link?.state().state === 'up')
    await looked(one, clock)
    expect(one.adapter.link?.state()).toEqual({ state: 'up' })
    one.fake.person().says('hello')
    let tried = false
    while (!tried) tried = (await (await ask(one, 'getWebhookInfo')).text()).includes('last_error_date')
    await looked(one, clock)
    expect(one.adapter.link?.state()).toEqual({
      state: 'down',
      detail: 'Telegram cannot post here: Connection refused',
    })
    const verified = await one.adapter.endpoint?.verify({
      method: 'POST',
      path: '',
      query: new URLSearchParams(),
      headers: { 'x-telegram-bot-api-secret-token': SECRET_TOKEN },
      body: Buffer.from(JSON.stringify(recorded('private-message'))),
      fromLoopback: true,
    })
    if (verified === undefined || isReply(verified)) throw new Error('the secret is right')
    await one.adapter.endpoint?.handle(verified)
    expect(one.adapter.link?.state()).toEqual({ state: 'up' })
  })

  const post = async (one: Scene, update: unknown) => {
    const verified = await one.adapter.endpoint?.verify({
      method: 'POST',
      path: '',
      query: new URLSearchParams(),
      headers: { 'x-telegram-bot-api-secret-token': SECRET_TOKEN },
      body: Buffer.from(JSON.stringify(update)),
      fromLoopback: true,
    })
    if (verified === undefined || isReply(verified)) throw new Error('the secret is right')
    return one.adapter.endpoint?.handle(verified)
  }
  const pictures = (one: Scene) =>
    one.intake.events.map((event) => (event.kind === 'message' ? event.attachments?.length : 0))

  it('[I14.album-webhook] an album is one message, also where the next part is posted only after the last was answered', async () => {
    const one = await scene({ mode: 'webhook', credentials: memoryCredentials() })
    await one.start()
    for (const part of recorded<unknown[]>('album'))
      expect(await post(one, part)).toMatchObject({ status: 200 })
    await until('it is taken', () => one.intake.events.length > 0)
    expect(pictures(one)).toEqual([recorded<unknown[]>('album').length])
  })

  it('[I14.album-webhook] what a stop or a crash left of an album is taken up by the next start, once', async () => {
    const credentials = memoryCredentials()
    const clock = createTestClock()
    const first = await scene({ mode: 'webhook', credentials, clock })
    await first.start()
    for (const part of recorded<unknown[]>('album')) await post(first, part)
    expect(first.intake.events).toEqual([])
    const second = await scene({ mode: 'webhook', credentials })
    await second.start()
    await until('it is taken', () => second.intake.events.length > 0)
    expect(pictures(second)).toEqual([recorded<unknown[]>('album').length])
    await until('it is forgotten', async () => (await credentials.names()).length === 0)
  })

  it('without a public URL it says what to do', async () => {
    const one = await scene({ mode: 'webhook' })
    await one.start()
    await until('told', () => one.adapter.link?.state().detail !== undefined)
    expect(one.adapter.link?.state().detail).toContain('server.public_url is not set')
  })
})
