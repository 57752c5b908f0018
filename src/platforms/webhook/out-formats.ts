// The posts to receivers in their formats, with urgency where they know it, and what their answers confirm.
import {
  formatAddress,
  type MarkdownRenderer,
  NO_TEXT_LIMIT,
  type OutboundOp,
  SwitchboardError,
  type TextLimit,
  type Urgency,
} from '../../contract/index.ts'
import { type GuardedResponse, signSha256, signStandard } from '../../kit/index.ts'
import { cutToFit, mrkdwn, plainForm, type Said, sentForm } from '../../kit/markdown/index.ts'
import type { OutFormat, Posting } from './out-options.ts'
import { postBody, type Shown, shownText } from './render.ts'
import { lookUp, parseJson } from './structure.ts'

export interface Posted {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Taker {
  readonly limit: TextLimit
  /** Absent: Markdown is sent as it is written. */
  readonly markdown?: MarkdownRenderer
  /** Sending the same key again shows nothing new. */
  readonly idempotent?: true
  post(out: Posting, shown: Shown, rendered: Rendered): Posted
  /** Returns the ids that the receiver gave. Throws when its 2xx reports a failure. */
  confirm?(response: GuardedResponse): readonly string[]
}

interface Rendered {
  readonly text: string
  readonly urgency: Urgency
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const json = (out: Posting, body: unknown): Posted => ({
  url: out.url,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
})

const idIn = (name: string) => (response: GuardedResponse) => {
  const id = lookUp(parseJson(response.body.toString('utf8')), name)
  return typeof id === 'string' || typeof id === 'number' ? [String(id)] : []
}

/** Shown where attachments are not possible. */
const FALLBACK: TextLimit = { size: 300, unit: 'utf-16' }
const COLOURS = { low: '#9e9e9e', normal: '#4a90d9', high: '#d0021b' } as const

export const TAKERS: Readonly<Record<OutFormat, Taker>> = {
  json: {
    limit: NO_TEXT_LIMIT,
    post(out, shown) {
      const body = postBody(shown)
      const signed =
        out.keys.length === 0 ? {} : signStandard(out.keys, { id: shown.id, atMs: shown.at, body })
      return {
        url: out.url,
        headers: {
          ...JSON_TYPE,
          'idempotency-key': shown.id,
          'webhook-id': shown.id,
          ...signed,
          ...(out.first === null ? {} : { 'x-signature-256': signSha256(out.first, body) }),
        },
        body,
      }
    },
  },
  slack: {
    limit: { size: 12_000, unit: 'utf-16' },
    markdown: mrkdwn,
    post(out, { op }, { text, urgency }) {
      if (urgency === 'normal') return json(out, { text })
      const { text: fallback } = sentForm(cutToFit(saidBy(op), FALLBACK, mrkdwn), mrkdwn)
      return json(out, { attachments: [{ color: COLOURS[urgency], text, fallback, mrkdwn_in: ['text'] }] })
    },
    confirm(response) {
      const answer = parseJson(response.body.toString('utf8'))
      if (lookUp(answer, 'ok') === false || lookUp(answer, 'success') === false) throw saysNo(response)
      return []
    },
  },
  discord: {
    limit: { size: 2_000, unit: 'utf-16' },
    post(out, _, { text, urgency }) {
      const url = new URL(out.url)
      // With this parameter Discord confirms the message and returns its id.
      url.searchParams.set('wait', 'true')
      const quiet = urgency === 'low' ? { flags: 4096 } : {}
      const loud = urgency === 'high' ? { embeds: [{ color: 0xd0021b, description: 'Urgent' }] } : {}
      return {
        ...json(out, { content: text, allowed_mentions: { parse: [] }, ...quiet, ...loud }),
        url: url.href,
      }
    },
    confirm: idIn('id'),
  },
  teams: {
    limit: { size: 20_000, unit: 'bytes' },
    post: (out, _, { text, urgency }) =>
      json(out, {
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            content: {
              $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
              type: 'AdaptiveCard',
              version: '1.4',
              body: [{ type: 'TextBlock', text, wrap: true, ...TEAMS_LOOK[urgency] }],
            },
          },
        ],
      }),
    confirm(response) {
      // Older connectors answer 200 and report failures in the text.
      const words = response.body.toString('utf8')
      if (/^webhook message delivery failed/i.test(words)) {
        if (/\b429\b|throttl/i.test(words))
          throw new SwitchboardError('platform_unavailable', 'out.url is throttled')
        throw saysNo(response)
      }
      return []
    },
  },
  ntfy: {
    limit: { size: 4_000, unit: 'bytes' },
    post: (out, _, { text, urgency }) => ({
      url: out.url,
      headers: {
        'content-type': 'text/markdown; charset=utf-8',
        markdown: 'yes',
        priority: { low: '2', normal: '3', high: '5' }[urgency],
        ...(out.token === null ? {} : { authorization: `Bearer ${out.token}` }),
      },
      body: text,
    }),
    confirm: idIn('id'),
  },
  gotify: {
    limit: { size: 20_000, unit: 'bytes' },
    post(out, _, { text, urgency }) {
      const priority = { low: 2, normal: 5, high: 8 }[urgency]
      const extras = { 'client::display': { contentType: 'text/markdown' } }
      const posted = json(out, { message: text, priority, extras })
      return out.token === null
        ? posted
        : { ...posted, headers: { ...posted.headers, 'x-gotify-key': out.token } }
    },
    confirm: idIn('id'),
  },
  pagerduty: {
    limit: { size: 100_000, unit: 'bytes' },
    markdown: plainForm,
    idempotent: true,
    post(out, shown, { text, urgency }) {
      const [line = ''] = text.trim().split('\n', 1)
      return json(out, {
        routing_key: out.token,
        event_action: 'trigger',
        dedup_key: shown.id,
        payload: {
          summary: [...line].slice(0, 1_000).join('') || 'a message',
          source: formatAddress(shown.to),
          severity: { low: 'info', normal: 'warning', high: 'critical' }[urgency],
          timestamp: new Date(shown.at).toISOString(),
          custom_details: { text },
        },
      })
    },
    confirm(response) {
      const answer = parseJson(response.body.toString('utf8'))
      const status = lookUp(answer, 'status')
      if (status !== undefined && status !== 'success') throw saysNo(response)
      return []
    },
  },
}

const TEAMS_LOOK = {
  low: { isSubtle: true },
  normal: {},
  high: { color: 'attention', weight: 'bolder' },
} as const

/** Returns the request for a message. */
export function postFor(out: Posting, shown: Shown): Posted {
  const taker = TAKERS[out.format]
  const posted = taker.post(out, shown, { text: textFor(taker, shown.op), urgency: urgencyOf(shown.op) })
  return { ...posted, headers: { ...posted.headers, 'user-agent': 'switchboard', ...out.headers } }
}

function textFor({ markdown }: Taker, op: OutboundOp): string {
  const said = saidBy(op)
  return markdown === undefined ? said.text : sentForm(said, markdown).text
}

function saidBy(op: OutboundOp): Said {
  return { text: shownText(op), plain: 'plain' in op && op.plain === true }
}

function urgencyOf(op: OutboundOp): Urgency {
  return op.kind === 'text' ? (op.urgency ?? 'normal') : 'normal'
}

/** The receiver's text is left out, because it may repeat the message or its URL. */
function saysNo({ status }: GuardedResponse): SwitchboardError {
  return new SwitchboardError(
    'platform_rejected',
    `out.url answered ${status}, and that it did not take the message`,
  )
}
