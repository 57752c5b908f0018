// `switchboard chorus verify`: tests somebody else's agent or service against the protocol. Every check says whether it
// holds, fails, or could not be told; the URL itself is in none of them.
import { randomBytes } from 'node:crypto'
import { asSwitchboardError } from '../contract/index.ts'
import { createGuardedFetch, type GuardedFetch, readEvents } from '../kit/index.ts'
import { openCallbackListener } from '../server/callback-listener.ts'
import { createRealClock } from './real-clock.ts'

export interface ChorusCheck {
  readonly what: string
  readonly result: 'holds' | 'fails' | 'unknown'
  readonly detail: string
}

export interface VerifyAgentOptions {
  readonly url: string
  readonly allowPrivate: boolean
  readonly waitMs: number
  /** Where the agent reaches this machine; absent: the listener's own loopback address. */
  readonly publicBase?: string
}

const TIMEOUT_MS = 15_000

export async function verifyChorusAgent(options: VerifyAgentOptions): Promise<readonly ChorusCheck[]> {
  const clock = createRealClock()
  const ask = asker(createGuardedFetch({ clock }), options)
  const checks: ChorusCheck[] = []
  const events: Readonly<Record<string, unknown>>[] = []
  let heard = () => {}
  const listener = await openCallbackListener((body) => {
    const read = readEvents(body)
    if (read.ok) events.push(...read.events)
    heard()
    return read.ok ? 200 : 400
  })
  try {
    const run = randomBytes(4).toString('hex')
    const callback = `${options.publicBase ?? listener.url}/callback/cb_${run}`
    const delivery = {
      channel: { id: `verify_${run}`, name: 'verify', service: 'switchboard chorus verify' },
      message: { id: `msg_${run}`, sender: 'verify', content: 'hello' },
      callback,
    }
    checks.push(
      status('a delivery is answered 2xx', await ask(delivery), (code) => code >= 200 && code < 300),
    )
    await until(() => events.some((event) => event.type === 'message'), options.waitMs)
    checks.push(...aboutEvents(events))
    const before = count(events)
    checks.push(status('the same message.id again is accepted', await ask(delivery), isOk))
    await until(() => count(events) > before, Math.min(options.waitMs, 3_000))
    checks.push({
      what: 'and is not answered twice',
      result: before === 0 ? 'unknown' : count(events) > before ? 'fails' : 'holds',
      detail: '',
    })
    const incomplete = { ...delivery, message: { id: `msg_${run}_2`, sender: 'verify' } }
    checks.push(status('a missing field is answered 4xx', await ask(incomplete), isRefusal))
    checks.push(status('what is not JSON is answered 4xx', await ask('{'), isRefusal))
    const object = {
      ...delivery,
      message: { ...delivery.message, id: `msg_${run}_3` },
      mcp: { url: `${callback}/mcp` },
    }
    checks.push(status('mcp as an object is accepted', await ask(object), isOk))
    const array = {
      ...object,
      message: { ...delivery.message, id: `msg_${run}_4` },
      mcp: [{ name: 'a', url: `${callback}/mcp` }],
    }
    checks.push(status('mcp as an array is accepted', await ask(array), isOk))
    const wrong = await asker(createGuardedFetch({ clock }), { ...options, url: `${options.url}x` })(delivery)
    checks.push(status('a wrong secret is refused', wrong, isRefusal))
    return checks
  } finally {
    await listener.close()
  }

  function until(done: () => boolean, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(waitMs, resolve)
      heard = () => {
        if (!done()) return
        cancel()
        resolve()
      }
      heard()
    })
  }
}

/** The URL is a live callback: what is sent there may be shown to people, so it says what it is. */
export async function verifyChorusService(options: {
  readonly url: string
  readonly allowPrivate: boolean
}): Promise<readonly ChorusCheck[]> {
  const ask = asker(createGuardedFetch({ clock: createRealClock() }), options)
  const id = randomBytes(4).toString('hex')
  const message = {
    type: 'message',
    content: 'A test of switchboard chorus verify.',
    event_id: `verify_${id}`,
  }
  return [
    status('lifecycle is accepted', await ask({ type: 'lifecycle', status: 'processing' }), isOk),
    status('status is accepted', await ask({ type: 'status', status: 'verifying' }), isOk),
    status(
      'tool_call is accepted',
      await ask({ type: 'tool_call', name: 'verify', args: {}, id: 'tc_1' }),
      isOk,
    ),
    status('tool_result is accepted', await ask({ type: 'tool_result', id: 'tc_1', content: 'ok' }), isOk),
    status('an unknown type is accepted', await ask({ type: `later_${id}` }), isOk),
    status('what is not JSON is answered 4xx', await ask('{'), isRefusal),
    status('message is accepted', await ask(message), isOk),
    status('the same event_id again is accepted', await ask(message), isOk),
    status('lifecycle idle is accepted', await ask({ type: 'lifecycle', status: 'idle' }), isOk),
  ]
}

type Answer = { readonly status: number } | { readonly problem: string }

function asker(guarded: GuardedFetch, to: { readonly url: string; readonly allowPrivate: boolean }) {
  return async (body: unknown): Promise<Answer> => {
    try {
      const { status: code } = await guarded({
        url: to.url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: 65_536,
        allowPrivate: to.allowPrivate,
        allowHttp: false,
      })
      return { status: code }
    } catch (thrown) {
      const error = asSwitchboardError(thrown)
      return { problem: error.hint === undefined ? error.message : `${error.message}: ${error.hint}` }
    }
  }
}

function status(what: string, answer: Answer, good: (code: number) => boolean): ChorusCheck {
  if ('problem' in answer) return { what, result: 'fails', detail: answer.problem }
  return { what, result: good(answer.status) ? 'holds' : 'fails', detail: String(answer.status) }
}

const isOk = (code: number) => code >= 200 && code < 300
const isRefusal = (code: number) => code >= 400 && code < 500

function count(events: readonly Readonly<Record<string, unknown>>[]): number {
  return events.filter((event) => event.type === 'message').length
}

function aboutEvents(events: readonly Readonly<Record<string, unknown>>[]): readonly ChorusCheck[] {
  const [first] = events
  const spoke = count(events) > 0
  return [
    {
      what: 'something comes to the callback',
      result: events.length > 0 ? 'holds' : 'fails',
      detail: events.length > 0 ? `${events.length} events` : 'nothing in time; can it reach --callback?',
    },
    { what: 'a message is among it', result: spoke ? 'holds' : 'fails', detail: '' },
    {
      what: 'lifecycle processing comes first',
      result: first?.type === 'lifecycle' && first.status === 'processing' ? 'holds' : 'unknown',
      detail: first === undefined ? '' : 'a later revision of the protocol asks for it',
    },
  ]
}
