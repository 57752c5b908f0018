// `switchboard chorus verify`: tests somebody else's agent or service against the protocol. Each check is told as soon as
// it is known: it holds, fails, or could not be told. The URL itself is in none of them.
import { randomBytes } from 'node:crypto'
import { asSwitchboardError } from '../contract/index.ts'
import { createGuardedFetch, readEvents } from '../kit/index.ts'
import { openCallbackListener } from '../server/callback-listener.ts'
import { createRealClock } from './real-clock.ts'

export interface ChorusCheck {
  readonly what: string
  readonly result: 'holds' | 'fails' | 'unknown'
  readonly detail: string
}

export interface VerifyOptions {
  readonly url: string
  readonly allowPrivate: boolean
  /** How long an answer is waited for; default 15 s. */
  readonly timeoutMs?: number
}

export interface VerifyAgentOptions extends VerifyOptions {
  /** How long callbacks are waited for. */
  readonly waitMs: number
  /** Where the agent reaches this machine; absent: the listener's own loopback address. */
  readonly publicBase?: string
  /** Where callbacks are listened for on loopback, so that something can be put in front; absent: any free port. */
  readonly listenPort?: number
}

type Fields = Readonly<Record<string, unknown>>

const TIMEOUT_MS = 15_000
/** A second answer to the same message, or an `idle`, is not far behind. */
const AFTERWARDS_MS = 3_000

export async function* verifyChorusAgent(options: VerifyAgentOptions): AsyncGenerator<ChorusCheck> {
  const ears = await openEars(options.listenPort ?? 0)
  try {
    const ask = asker(options)
    const run = randomBytes(4).toString('hex')
    const callback = `${options.publicBase ?? ears.url}/callback/cb_${run}`
    const delivery = {
      channel: { id: `verify_${run}`, name: 'verify', service: 'switchboard chorus verify' },
      message: { id: `msg_${run}`, sender: 'verify', content: 'hello' },
      callback,
    }
    const other = (n: number, more: object = {}) => ({
      ...delivery,
      message: { ...delivery.message, id: `msg_${run}_${n}` },
      ...more,
    })
    const first = await ask(delivery)
    yield answered('a delivery is answered 2xx', first, isOk)
    if ('problem' in first) return yield NOT_ASKED
    const taken = isOk(first.status)
    if (taken) await ears.until(() => ears.messages() > 0, options.waitMs)
    if (taken && isBegun(ears.events)) await ears.until(() => isEnded(ears.events), AFTERWARDS_MS)
    yield* aboutEvents(ears.events, taken)
    const before = ears.messages()
    yield answered('the same message.id again is accepted', await ask(delivery), isOk)
    if (before > 0) await ears.until(() => ears.messages() > before, Math.min(options.waitMs, AFTERWARDS_MS))
    const twice = ears.messages() > before ? 'fails' : 'holds'
    yield { what: 'and is not answered twice', result: before === 0 ? 'unknown' : twice, detail: '' }
    const incomplete = { ...delivery, message: { id: `msg_${run}_2`, sender: 'verify' } }
    yield answered('a missing field is answered 4xx', await ask(incomplete), isRefusal)
    yield answered('what is not JSON is answered 4xx', await ask('{'), isRefusal)
    const server = { name: 'a', url: `${callback}/mcp` }
    yield answered('mcp as an object is accepted', await ask(other(3, { mcp: { url: server.url } })), isOk)
    yield answered('mcp as an array is accepted', await ask(other(4, { mcp: [server] })), isOk)
    const stranger = asker({ ...options, url: withWrongSecret(options.url) })
    yield answered('a wrong secret is refused', await stranger(other(5)), isRefusal)
  } finally {
    await ears.close()
  }
}

/** The URL is a live callback: what is sent there may be shown to people, so it says what it is. */
export async function* verifyChorusService(options: VerifyOptions): AsyncGenerator<ChorusCheck> {
  const ask = asker(options)
  const id = randomBytes(4).toString('hex')
  const content = 'A test of switchboard chorus verify.'
  const message = { type: 'message', content, event_id: `verify_${id}` }
  const first = await ask({ type: 'lifecycle', status: 'processing' })
  yield answered('lifecycle is accepted', first, isOk)
  if ('problem' in first) return yield NOT_ASKED
  const call = { type: 'tool_call', name: 'verify', args: {}, id: 'tc_1' }
  const checks: readonly (readonly [string, unknown, (code: number) => boolean])[] = [
    ['status is accepted', { type: 'status', status: 'verifying' }, isOk],
    ['tool_call is accepted', call, isOk],
    ['tool_result is accepted', { type: 'tool_result', id: 'tc_1', content: 'ok' }, isOk],
    ['an unknown type is accepted', { type: `later_${id}` }, isOk],
    ['what is not JSON is answered 4xx', '{', isRefusal],
    ['message is accepted', message, isOk],
    ['the same event_id again is accepted', message, isOk],
    ['lifecycle idle is accepted', { type: 'lifecycle', status: 'idle' }, isOk],
  ]
  for (const [what, body, good] of checks) yield answered(what, await ask(body), good)
}

const NOT_ASKED: ChorusCheck = {
  what: 'everything else',
  result: 'unknown',
  detail: 'not asked: the first request got no answer',
}

/** A listener for the agent's callbacks that can be waited at. */
async function openEars(port: number) {
  const clock = createRealClock()
  const events: Fields[] = []
  let heard = () => {}
  const listener = await openCallbackListener((body) => {
    const read = readEvents(body)
    if (read.ok) events.push(...read.events)
    heard()
    return read.ok ? 200 : 400
  }, port)
  return {
    ...listener,
    events: events as readonly Fields[],
    messages: () => events.filter((event) => event.type === 'message').length,
    until: (done: () => boolean, waitMs: number) =>
      new Promise<void>((resolve) => {
        const cancel = clock.after(waitMs, resolve)
        heard = () => {
          if (!done()) return
          cancel()
          resolve()
        }
        heard()
      }),
  }
}

type Answer = { readonly status: number } | { readonly problem: string }

function asker({ url, allowPrivate, timeoutMs = TIMEOUT_MS }: VerifyOptions) {
  const guarded = createGuardedFetch({ clock: createRealClock() })
  return async (body: unknown): Promise<Answer> => {
    try {
      const { status } = await guarded({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        timeoutMs,
        maxResponseBytes: 65_536,
        allowPrivate,
        allowHttp: false,
      })
      return { status }
    } catch (thrown) {
      const error = asSwitchboardError(thrown)
      return { problem: error.hint === undefined ? error.message : `${error.message}: ${error.hint}` }
    }
  }
}

function answered(what: string, answer: Answer, good: (code: number) => boolean): ChorusCheck {
  if ('problem' in answer) return { what, result: 'fails', detail: answer.problem }
  return { what, result: good(answer.status) ? 'holds' : 'fails', detail: String(answer.status) }
}

const isOk = (code: number) => code >= 200 && code < 300
const isRefusal = (code: number) => code >= 400 && code < 500

function withWrongSecret(text: string): string {
  const url = new URL(text)
  url.pathname = `${url.pathname.replace(/\/$/, '')}x`
  return url.href
}

function isBegun([first]: readonly Fields[]): boolean {
  return first?.type === 'lifecycle' && first.status === 'processing'
}

function isEnded(events: readonly Fields[]): boolean {
  const last = events.at(-1)
  return last?.type === 'lifecycle' && last.status === 'idle'
}

function* aboutEvents(events: readonly Fields[], taken: boolean): Generator<ChorusCheck> {
  const absent = taken ? 'fails' : 'unknown'
  const why = taken ? 'nothing in time; can it reach --callback?' : 'the delivery was not taken'
  yield {
    what: 'something comes to the callback',
    result: events.length > 0 ? 'holds' : absent,
    detail: events.length > 0 ? `${events.length} events` : why,
  }
  const spoke = events.some((event) => event.type === 'message')
  yield { what: 'a message is among it', result: spoke ? 'holds' : absent, detail: '' }
  const begun = isBegun(events)
  const detail = begun || events.length === 0 ? '' : 'only a later revision of the protocol asks for it'
  yield { what: 'lifecycle processing comes first', result: begun ? 'holds' : 'unknown', detail }
  const ended = isEnded(events) ? 'holds' : 'fails'
  yield { what: 'and then idle last', result: begun ? ended : 'unknown', detail: '' }
}
