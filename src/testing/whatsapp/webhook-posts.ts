// Posts to the business's webhook. The fake sends a challenge first, signs the escaped bytes as Meta does, and repeats
// a post until it gets 200. It does not promise any order.
import { createHmac } from 'node:crypto'
import type { FaultPlan, FaultRule } from '../faults/fault-plan.ts'

export interface WebhookOptions {
  readonly appSecret: string
  readonly verifyToken: string
  /** The delays before the retries of a post that did not get 200. The last one repeats for ever. */
  readonly retryMs: readonly number[]
  readonly answerMs: number
  readonly plan: () => FaultPlan
}

export interface WebhookPosts {
  /** Sets the target of posts. Sends a challenge first, and throws when the business does not return it. */
  use(url: string): Promise<void>
  /** Sets the target without a challenge, for a server that is not up yet. */
  aim(url: string): void
  post(body: unknown): void
  /** The statuses of the posts so far. 0 means no answer. */
  readonly answers: readonly number[]
  /** The number of posts that were not accepted yet. */
  waiting(): number
  stop(): void
}

/** Meta escapes slashes and all characters beyond ASCII, in lower case. The signature covers these escaped bytes. */
export function escapedJson(body: unknown): string {
  return JSON.stringify(body)
    .replaceAll('/', '\\/')
    .replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function signatureOf(appSecret: string, body: string): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
}

export function createWebhookPosts(options: WebhookOptions): WebhookPosts {
  const answers: number[] = []
  const timers = new Set<NodeJS.Timeout>()
  let url: string | null = null
  let stopped = false
  let waiting = 0
  let heldBack: (() => void) | null = null

  const later = (ms: number, run: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      run()
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  const once = async (body: string, impatient = false): Promise<number> => {
    if (url === null) return 0
    const headers = {
      'content-type': 'application/json',
      'x-hub-signature-256': signatureOf(options.appSecret, body),
    }
    const signal = AbortSignal.timeout(options.answerMs)
    const status = await fetch(url, { method: 'POST', redirect: 'manual', signal, headers, body }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status
      },
      () => 0,
    )
    answers.push(status)
    return impatient ? 0 : status
  }

  const attempt = async (text: string, tries: number, fault: FaultRule | null): Promise<void> => {
    if (stopped) return
    const status = await tried(text, fault)
    if (status === 200) {
      waiting -= 1
      return
    }
    const ms = options.retryMs[Math.min(tries, options.retryMs.length - 1)]
    if (ms !== undefined) later(ms, () => void attempt(text, tries + 1, null))
  }

  /** Returns the status. With 0 the post counts as not accepted, whatever the business did with it. */
  const tried = async (text: string, fault: FaultRule | null): Promise<number> => {
    switch (fault?.do) {
      case 'drop-request':
      case 'deaf':
      case 'error':
      case 'conflict':
      case 'rate-limit':
        return 0
      case 'drop-response':
      case 'half-open':
        return once(text, true)
      case 'malformed':
        await once(text.slice(0, -1))
        return 0
      case 'duplicate': {
        const [first] = await Promise.all([once(text), once(text)])
        return first
      }
      default:
        return once(text)
    }
  }

  return {
    answers,
    waiting: () => waiting,
    aim(next) {
      url = next
    },
    async use(next) {
      const asked = new URL(next)
      const challenge = '1158201444'
      asked.searchParams.set('hub.mode', 'subscribe')
      asked.searchParams.set('hub.challenge', challenge)
      asked.searchParams.set('hub.verify_token', options.verifyToken)
      const response = await fetch(asked, {
        redirect: 'manual',
        signal: AbortSignal.timeout(options.answerMs),
      })
      const given = await response.text()
      if (response.status !== 200 || given !== challenge)
        throw new Error(`the webhook did not give the challenge back: ${response.status}`)
      url = next
    },
    post(body) {
      const text = escapedJson(body)
      const fault = options.plan().next('webhook')
      if (fault?.do === 'gap') return
      waiting += 1
      const go = () => void attempt(text, 0, fault)
      if (fault?.do === 'slow') return later(fault.delayMs ?? 300, go)
      if (fault?.do === 'reorder' && heldBack === null) {
        heldBack = go
        // A timer sends it even if no other post follows.
        return later(30, () => {
          if (heldBack === go) heldBack = null
          go()
        })
      }
      go()
    },
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
