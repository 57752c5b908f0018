// The Events API of the fake Slack: signed requests to the app's URL, three seconds to answer, and three retries.
import { createHmac } from 'node:crypto'
import type { FaultPlan } from '../faults/fault-plan.ts'

export interface HttpTarget {
  readonly url: string
  readonly signingSecret: string
}

export interface EventsApiOptions {
  readonly now: () => number
  /** The delays before the retries of a request that did not get 2xx. */
  readonly retryMs: readonly number[]
  readonly answerMs: number
  readonly plan: () => FaultPlan
}

export interface EventsApi {
  /** Sets the target for events. Sends a challenge first, and throws when the app does not return it. */
  use(target: HttpTarget): Promise<void>
  readonly target: HttpTarget | null
  event(body: unknown): void
  /** Posts an interaction or slash command once, form-encoded. Returns the answer of the app. */
  form(fields: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly body: string }>
  /** The statuses of the requests so far. 0 means no answer. */
  readonly answers: readonly { readonly status: number; readonly retry: number }[]
  stop(): void
}

export function createEventsApi(options: EventsApiOptions): EventsApi {
  const answers: { status: number; retry: number }[] = []
  const timers = new Set<NodeJS.Timeout>()
  let target: HttpTarget | null = null
  let stopped = false
  let heldBack: (() => void) | null = null

  const post = async (
    { url, signingSecret }: HttpTarget,
    request: {
      readonly type: string
      readonly body: string
      readonly headers?: Readonly<Record<string, string>>
    },
  ) => {
    const timestamp = String(Math.floor(options.now() / 1_000))
    const signature = createHmac('sha256', signingSecret)
      .update(`v0:${timestamp}:${request.body}`)
      .digest('hex')
    return fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(options.answerMs),
      headers: {
        'content-type': request.type,
        'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `v0=${signature}`,
        ...request.headers,
      },
      body: request.body,
    }).then(
      async (response) => ({
        status: response.status,
        body: await response.text(),
        headers: response.headers,
      }),
      (thrown: Error) => ({
        status: 0,
        body: thrown.name === 'TimeoutError' ? 'http_timeout' : 'connection_failed',
        headers: new Headers(),
      }),
    )
  }

  const attempt = async (body: string, retry: number, reason: string): Promise<void> => {
    if (target === null || stopped) return
    const headers: Record<string, string> =
      retry === 0 ? {} : { 'x-slack-retry-num': String(retry), 'x-slack-retry-reason': reason }
    const made = await post(target, { type: 'application/json', body, headers })
    answers.push({ status: made.status, retry })
    if (made.status >= 200 && made.status < 300) return
    const ms = options.retryMs[retry]
    if (ms === undefined || made.headers.get('x-slack-no-retry') === '1') return
    const why = made.status === 0 ? made.body : 'http_error'
    const timer = setTimeout(() => {
      timers.delete(timer)
      void attempt(body, retry + 1, why)
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  return {
    answers,
    get target() {
      return target
    },
    async use(next) {
      const challenge = 'emulated-challenge-3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P'
      const body = JSON.stringify({
        token: 'emulated-verification-token',
        challenge,
        type: 'url_verification',
      })
      const made = await post(next, { type: 'application/json', body })
      if (made.status !== 200 || !made.body.includes(challenge))
        throw new Error(`the URL did not give the challenge back: ${made.status}`)
      target = next
    },
    event(body) {
      const text = JSON.stringify(body)
      const fault = options.plan().next('event')
      if (fault?.do === 'gap') return
      const go = () => void attempt(text, 0, '')
      if (fault?.do === 'reorder' && heldBack === null) {
        heldBack = go
        setTimeout(() => {
          if (heldBack === go) heldBack = null
          go()
        }, 30).unref()
        return
      }
      go()
      if (fault?.do === 'duplicate' || fault?.do === 'drop-response') go()
    },
    async form(fields) {
      if (target === null) throw new Error('the app has no URL')
      const body = new URLSearchParams(fields).toString()
      const made = await post(target, { type: 'application/x-www-form-urlencoded', body })
      answers.push({ status: made.status, retry: 0 })
      return made
    },
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
