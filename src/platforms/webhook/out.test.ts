// Outbound posts: signed so that the reference libraries accept them, in each receiver's form, and judged by the
// answer.
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { describe, expect, it } from 'vitest'
import { defined, type OutboundOp, type SwitchboardError, type Urgency } from '../../contract/index.ts'
import type { GuardedFetch, GuardedRequest } from '../../kit/index.ts'
import { checkMarkdown, checkNote, checkPlain } from '../../testing/suites/cut-suite.ts'
import { HOSTILE_TREES } from '../../testing/suites/hostile-markdown.ts'
import { fakeDeps, request } from './fixtures/webhook-requests.ts'
import { createWebhook } from './index.ts'

const WHSEC = `whsec_${randomBytes(24).toString('base64')}`
const OLD = `whsec_${randomBytes(24).toString('base64')}`
const SECRETS: Readonly<Record<string, string>> = {
  'env:NEW': WHSEC,
  'env:OLD': OLD,
  'env:TOKEN': 'planted-token-4714',
}
const TO = { integration: 'demo', conversation: 'ops' }

function poster(
  out: Record<string, unknown>,
  answer: { status?: number; body?: string; headers?: Record<string, string> } = {},
) {
  const asked: (GuardedRequest & { readonly headers: Record<string, string>; readonly body: string })[] = []
  const fetch: GuardedFetch = async (wanted) => {
    asked.push({ ...wanted, headers: { ...wanted.headers }, body: String(wanted.body) })
    const { status = 200, body = '', headers = {} } = answer
    return { status, headers, body: Buffer.from(body), truncated: false }
  }
  const base = fakeDeps({ out: { url: 'https://taker.example/in?token=planted', ...out } })
  const deps = { ...base, secret: (reference: string) => SECRETS[reference] ?? '' }
  const adapter = createWebhook(deps, fetch)
  const send = (op: OutboundOp, key = 'o_1') => adapter.send({ to: TO, op, key, seq: 1 })
  const say = (text: string, urgency?: Urgency) => send({ kind: 'text', text, ...defined({ urgency }) })
  return { adapter, asked, send, say, clock: base.clock, body: () => JSON.parse(asked.at(-1)?.body ?? '') }
}

describe('out: signed', () => {
  it('[I17.out-standard] [I17.rotation] is taken by the libraries of whoever has the new key or the old one', async () => {
    const { say, asked, clock } = poster({ secret: ['env:NEW', 'env:OLD'] })
    await clock.advance(Date.now() - clock.now())
    await say('disk full', 'high')
    const [post] = asked
    if (post === undefined) throw new Error('nothing was posted')
    for (const key of [WHSEC, OLD])
      for (const library of [new Webhook(key), new Svix(key)])
        expect(library.verify(post.body, post.headers)).toMatchObject({
          message: 'disk full',
          urgency: 'high',
          id: 'o_1',
        })
    expect(() =>
      new Webhook(`whsec_${randomBytes(24).toString('base64')}`).verify(post.body, post.headers),
    ).toThrow()
    expect(post.headers['webhook-id']).toBe('o_1')
    expect(post.headers['x-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/)
  })

  it('[I17.out-standard] every try has the same id, and the time of that try', async () => {
    const { say, asked, clock } = poster({ secret: 'env:NEW' })
    await say('again')
    await clock.advance(3_600_000)
    await say('again')
    const [first, second] = asked.map(({ headers }) => headers)
    expect(second?.['webhook-id']).toBe(first?.['webhook-id'])
    expect(second?.['idempotency-key']).toBe(first?.['idempotency-key'])
    expect(Number(second?.['webhook-timestamp']) - Number(first?.['webhook-timestamp'])).toBe(3_600)
  })

  it('[I17.out-retried] what can help is tried again, with the time to wait; the rest fails for good, with the status', async () => {
    for (const [status, code] of [
      [408, 'platform_unavailable'],
      [429, 'platform_unavailable'],
      [500, 'outcome_unknown'],
      [503, 'outcome_unknown'],
      [301, 'platform_rejected'],
      [400, 'platform_rejected'],
      [401, 'platform_rejected'],
      [404, 'platform_rejected'],
      [410, 'platform_rejected'],
    ] as const) {
      const { say } = poster({ secret: 'env:NEW' }, { status, headers: { 'retry-after': '7' } })
      const error: SwitchboardError = await say('x').then(
        () => expect.fail('it was taken'),
        (thrown: SwitchboardError) => thrown,
      )
      expect([error.code, error.message]).toEqual([code, `out.url answered ${status}`])
      expect(error.retryAfterMs).toBe(code === 'platform_rejected' ? undefined : 7_000)
      expect(JSON.stringify([error.message, error.hint])).not.toContain('planted')
    }
  })

  it('a hook that only posts takes nothing in', async () => {
    const { adapter } = poster({ secret: 'env:NEW' })
    const reply = await adapter.endpoint?.verify(request())
    expect(reply).toMatchObject({ status: 404 })
  })

  it('options that do not hold are told by key', () => {
    for (const [out, told] of [
      [{ format: 'pagerduty' }, 'routing key'],
      [{ format: 'slack', secret: 'env:NEW' }, 'not signed'],
      [{ format: 'slak' }, 'format'],
      [{ url: 'ftp://x' }, 'http://'],
      [{ headers: { 'bad name': 'x' } }, 'headers'],
    ] as const)
      expect(() => poster(out)).toThrow(told)
  })
})

describe('out: formats', () => {
  const urgencies: readonly Urgency[] = ['low', 'normal', 'high']
  const posted = async (out: Record<string, unknown>, text: string, answer = {}) => {
    const all = []
    for (const urgency of urgencies) {
      const { say, asked, body } = poster(out, answer)
      const receipt = await say(text, urgency)
      all.push({ receipt, request: asked[0], body: out.format === 'ntfy' ? asked[0]?.body : body() })
    }
    return all
  }

  it('[I17.out-formats] Slack: mrkdwn that pings nobody, urgency as colour', async () => {
    const [low, normal, high] = await posted(
      { format: 'slack' },
      '**Disk** full, see [here](https://x.example/?a=1&b=2) <!channel> & @all',
      { body: 'ok' },
    )
    expect(normal?.body).toEqual({
      text: '*Disk* full, see <https://x.example/?a=1&amp;b=2|here> &lt;!channel&gt; &amp; @all',
    })
    expect(high?.body.attachments[0]).toMatchObject({ color: '#d0021b', text: normal?.body.text })
    expect(low?.body.attachments[0].color).toBe('#9e9e9e')
    expect(normal?.receipt).toEqual({ platformIds: ['o_1'] })
  })

  it('[I17.out-formats] Discord: waits for the message’s id, and mentions nobody', async () => {
    const [low, normal, high] = await posted({ format: 'discord' }, 'disk full @everyone', {
      body: '{"id":"1234567890"}',
    })
    expect(normal?.request?.url).toBe('https://taker.example/in?token=planted&wait=true')
    expect(normal?.body).toEqual({ content: 'disk full @everyone', allowed_mentions: { parse: [] } })
    expect(normal?.receipt).toEqual({ platformIds: ['1234567890'] })
    expect(low?.body.flags).toBe(4096)
    expect(high?.body.embeds[0].color).toBe(0xd0021b)
    expect(poster({ format: 'discord' }).adapter.abilities.textLimit).toEqual({ size: 2_000, unit: 'utf-16' })
  })

  it('[I17.out-formats] Teams: an adaptive card', async () => {
    const [low, normal, high] = await posted({ format: 'teams' }, 'disk full', { status: 202 })
    const block = (one: typeof normal) => one?.body.attachments[0].content.body[0]
    expect(normal?.body.attachments[0].contentType).toBe('application/vnd.microsoft.card.adaptive')
    expect(block(normal)).toEqual({ type: 'TextBlock', text: 'disk full', wrap: true })
    expect(block(high)).toMatchObject({ color: 'attention', weight: 'bolder' })
    expect(block(low)).toMatchObject({ isSubtle: true })
  })

  it('[I17.out-formats] ntfy: the text itself, priority in a header', async () => {
    const all = await posted({ format: 'ntfy', token: 'env:TOKEN' }, 'disk **full** ✓', {
      body: '{"id":"sPs71M8A2T"}',
    })
    expect(all.map((one) => one.request?.headers?.priority)).toEqual(['2', '3', '5'])
    expect(all[0]?.body).toBe('disk **full** ✓')
    expect(all[0]?.request?.headers).toMatchObject({
      markdown: 'yes',
      authorization: 'Bearer planted-token-4714',
    })
    expect(all[0]?.receipt).toEqual({ platformIds: ['sPs71M8A2T'] })
  })

  it('[I17.out-formats] Gotify: JSON with priority and the application’s token', async () => {
    const all = await posted({ format: 'gotify', token: 'env:TOKEN' }, 'disk full', { body: '{"id":25}' })
    expect(all.map((one) => one.body.priority)).toEqual([2, 5, 8])
    expect(all[0]?.request?.headers?.['x-gotify-key']).toBe('planted-token-4714')
    expect(all[0]?.receipt).toEqual({ platformIds: ['25'] })
  })

  it('[I17.out-formats] PagerDuty: an event whose key makes a second try no second page', async () => {
    const all = await posted(
      { format: 'pagerduty', token: 'env:TOKEN' },
      `**Disk** full\n${'x'.repeat(2_000)}`,
      {
        status: 202,
        body: '{"status":"success","message":"Event processed","dedup_key":"o_1"}',
      },
    )
    expect(all.map((one) => one.body.payload.severity)).toEqual(['info', 'warning', 'critical'])
    expect(all[0]?.body).toMatchObject({
      routing_key: 'planted-token-4714',
      event_action: 'trigger',
      dedup_key: 'o_1',
    })
    expect(all[0]?.body.payload.summary).toBe('Disk full')
    expect(poster({ format: 'pagerduty', token: 'env:TOKEN' }).adapter.abilities.idempotentSend).toBe(true)
  })

  it('[I17.out-formats] headers of one’s own, with secrets by reference', async () => {
    const { say, asked } = poster({ headers: { 'X-Key': 'env:TOKEN', 'X-Plain': 'yes' } })
    await say('x')
    expect(asked[0]?.headers).toMatchObject({ 'x-key': 'planted-token-4714', 'x-plain': 'yes' })
  })

  it('[I17.out-formats] whatever the tree, Slack’s text is made and pings nobody', () => {
    const trees = Object.entries(HOSTILE_TREES)
    expect(trees.length).toBeGreaterThan(3)
    const { markdown = 'written' } = poster({ format: 'slack' }).adapter.abilities
    if (markdown === 'written') throw new Error('Slack has a form of its own')
    for (const [name, tree] of trees) {
      const [one, two] = [markdown.render(tree(2_000)).text, markdown.render(tree(4_000)).text]
      expect([name, two.length <= 2.5 * one.length + 1_000]).toEqual([name, true])
      expect(two).not.toMatch(/<[!@#]/)
    }
  })

  it.each([
    ['slack', '{"ok":false,"error":"no_service"}', 'platform_rejected'],
    [
      'teams',
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413',
      'platform_rejected',
    ],
    [
      'teams',
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
      'platform_unavailable',
    ],
    ['pagerduty', '{"status":"invalid event"}', 'platform_rejected'],
  ])('[I17.out-errors] %s that says 200 and %s has not taken it', async (format, body, code) => {
    const { say } = poster({ format, ...(format === 'pagerduty' ? { token: 'env:TOKEN' } : {}) }, { body })
    await expect(say('x')).rejects.toMatchObject({ code })
  })
})

/** The text that people see at each receiver. */
const READ: Readonly<Record<string, (body: string) => unknown>> = {
  slack: (body) =>
    JSON.parse(body).text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  discord: (body) => JSON.parse(body).content,
  teams: (body) => JSON.parse(body).attachments[0].content.body[0].text,
  ntfy: (body) => body,
  gotify: (body) => JSON.parse(body).message,
  pagerduty: (body) => JSON.parse(body).payload.custom_details.text,
}

describe.each(Object.entries(READ))('out: what was cut for %s', (format, read) => {
  const texts = () => {
    const { adapter, send, asked } = poster({ format, token: 'env:TOKEN' })
    return { abilities: adapter.abilities, send, reads: async () => String(read(asked.at(-1)?.body ?? '')) }
  }

  it('[I13.cut-plain] plain text is read as it was written', () => checkPlain(texts()))
  it('[I13.cut-markdown] Markdown is read with all of its words', () => checkMarkdown(texts()))
  it('[I13.note-fits] a full part is taken with the note', () => checkNote(texts()))
})
