// `switchboard chorus verify`: tests somebody else's agent or service against the protocol. Each check is told as soon as
// it is known: it holds, fails, or could not be told. The URL itself is in none of them.
import { randomBytes } from 'node:crypto'
import { asSwitchboardError } from '../contract/index.ts'
import { createGuardedFetch, readEvents } from '../kit/index.ts'
import { createRealClock } from '../runtime/real-clock.ts'
import { type CalledBack, openCallbackListener } from '../server/callback-listener.ts'

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
  /** After this long without an event an agent without `lifecycle` is taken to be done; default 3 s. */
  readonly quietMs?: number
  /** Where the agent reaches this machine; absent: the listener's own loopback address. */
  readonly publicBase?: string
  /** Where callbacks are listened for on loopback, so that something can be put in front; absent: any free port. */
  readonly listenPort?: number
}

type Fields = Readonly<Record<string, unknown>>

const TIMEOUT_MS = 15_000
const QUIET_MS = 3_000

export async function* verifyChorusAgent(options: VerifyAgentOptions): AsyncGenerator<ChorusCheck> {
  const { waitMs, quietMs = QUIET_MS } = options
  const ears = await openEars(options)
  try {
    const ask = asker(options)
    const run = randomBytes(4).toString('hex')
    const channel = { id: `verify_${run}`, name: 'verify', service: 'switchboard chorus verify' }
    const message = { id: `msg_${run}`, sender: 'verify', content: 'hello' }
    // A callback of its own for every delivery: what comes late to one is no answer to another.
    const delivery = (to: Mailbox, more: object = {}) => ({ channel, message, callback: to.url, ...more })
    const other = (n: number, more: object = {}) =>
      delivery(ears.open(), { message: { ...message, id: `msg_${run}_${n}` }, ...more })

    const mine = ears.open()
    const stopwatch = createRealClock()
    const begunAt = stopwatch.now()
    const first = await ask(delivery(mine))
    yield answered('a delivery is answered 2xx', first, isOk)
    if ('problem' in first) return yield NOT_ASKED
    const taken = isOk(first.status)
    if (taken) await ears.until(() => mine.messages() > 0 || isEnded(mine.events), waitMs)
    const tookMs = stopwatch.now() - begunAt
    if (taken) await finished(ears, mine, { leftMs: waitMs - tookMs, quietMs })
    yield* aboutEvents(mine, taken, { strays: ears.strays, near: options.publicBase === undefined })

    const again = ears.open()
    const spoke = mine.messages() > 0
    yield answered('the same message.id again is accepted', await ask(delivery(again)), isOk)
    // Whoever answers it again thinks about it as long as before.
    if (spoke) await ears.until(() => again.messages() > 0, Math.max(quietMs, 1.5 * tookMs))
    const twice = again.messages() > 0 ? 'fails' : 'holds'
    yield { what: 'and is not answered twice', result: spoke ? twice : 'unknown', detail: '' }
    const incomplete = other(2, { message: { id: `msg_${run}_2`, sender: 'verify' } })
    yield answered('a missing field is answered 4xx', await ask(incomplete), isRefusal)
    yield answered('what is not JSON is answered 4xx', await ask('{'), isRefusal)
    const server = { name: 'a', url: `${mine.url}/mcp` }
    yield answered('mcp as an object is accepted', await ask(other(3, { mcp: { url: server.url } })), isOk)
    const array = answered('mcp as an array is accepted', await ask(other(4, { mcp: [server] })), isOk)
    // The draft has one object, and that is what Switchboard sends: who knows nothing else keeps to it.
    yield array.result === 'fails'
      ? { ...array, result: 'unknown', detail: `${array.detail}: the draft has one object` }
      : array
    const stranger = asker({ ...options, url: withWrongSecret(options.url) })
    yield answered('a wrong secret is refused', await stranger(other(5)), isRefusal)
  } finally {
    await ears.close()
  }
}

/** An agent that speaks lifecycle says when it is done; of another that is known when it has been quiet for a while. */
async function finished(
  ears: Ears,
  { events }: Mailbox,
  { leftMs, quietMs }: { readonly leftMs: number; readonly quietMs: number },
): Promise<void> {
  if (isBegun(events)) return ears.until(() => isEnded(events), leftMs)
  for (let left = leftMs, heard = -1; left > 0 && events.length > heard; left -= quietMs) {
    heard = events.length
    await ears.until(() => events.length > heard, Math.min(quietMs, left))
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
    ['an event without its text is answered 4xx', { type: 'message' }, isRefusal],
    ['message is accepted', message, isOk],
    ['the same event_id again is accepted', message, isOk],
    ['error is accepted', { type: 'error', message: content, code: 'verify' }, isOk],
    ['lifecycle idle is accepted', { type: 'lifecycle', status: 'idle' }, isOk],
  ]
  for (const [what, body, good] of checks) yield answered(what, await ask(body), good)
  const stranger = asker({ ...options, url: withWrongSecret(options.url) })
  yield answered('a wrong token is refused', await stranger({ type: 'status', status: 'x' }), isRefusal)
}

const NOT_ASKED: ChorusCheck = {
  what: 'everything else',
  result: 'unknown',
  detail: 'not asked: the first request got no answer',
}

/** What came to one callback. */
interface Mailbox {
  readonly url: string
  readonly events: readonly Fields[]
  /** What is wrong with those that were refused. */
  readonly problems: readonly string[]
  messages(): number
}

type Ears = Awaited<ReturnType<typeof openEars>>

/** A listener for the agent's callbacks that can be waited at. */
async function openEars({ listenPort = 0, publicBase }: VerifyAgentOptions) {
  const clock = createRealClock()
  const boxes = new Map<string, { readonly events: Fields[]; readonly problems: string[] }>()
  const strays: string[] = []
  let heard = () => {}
  const take = ({ method, path, body }: CalledBack): number => {
    // A proxy in front may take the base's own path away, or leave it.
    const box = boxes.get(path.slice(path.lastIndexOf(CALLBACK_PATH)))
    if (!box || method !== 'POST') {
      strays.push(box ? `by ${method.slice(0, 10)} instead of POST` : 'to another path')
      return box ? 405 : 404
    }
    const read = readEvents(body)
    if (read.ok) box.events.push(...read.events)
    else box.problems.push(read.problem)
    heard()
    return read.ok ? 200 : 400
  }
  const listener = await openCallbackListener(take, listenPort)
  return {
    close: listener.close,
    strays: strays as readonly string[],
    open(): Mailbox {
      const path = `${CALLBACK_PATH}cb_${randomBytes(8).toString('hex')}`
      const box = { events: [] as Fields[], problems: [] as string[] }
      boxes.set(path, box)
      const messages = () => box.events.filter((event) => event.type === 'message').length
      return { ...box, url: (publicBase ?? listener.url) + path, messages }
    },
    until: (done: () => boolean, waitMs: number) =>
      new Promise<void>((resolve) => {
        const cancel = clock.after(Math.max(0, waitMs), resolve)
        heard = () => {
          if (!done()) return
          cancel()
          resolve()
        }
        heard()
      }),
  }
}

const CALLBACK_PATH = '/callback/'

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
      const hint = closed(error.code) ? 'private and loopback addresses need --allow-private' : error.hint
      return { problem: hint === undefined ? error.message : `${error.message}: ${hint}` }
    }
  }
}

const closed = (code: string) => code === 'forbidden' || code === 'input_invalid'

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

function* aboutEvents(
  { events, problems }: Mailbox,
  taken: boolean,
  { strays: [stray], near }: { readonly strays: readonly string[]; readonly near: boolean },
): Generator<ChorusCheck> {
  const absent = taken ? 'fails' : 'unknown'
  const silent = near
    ? 'nothing in time; the callback is on loopback, which an agent calls only where it lets private addresses in (allowPrivate: true of switchboard/chorus), or give a public one with --callback'
    : 'nothing in time; can it reach --callback?'
  const nothing = stray === undefined ? silent : `something came ${stray}`
  const count = events.length + problems.length
  const why = taken ? nothing : 'the delivery was not taken'
  yield {
    what: 'something comes to the callback',
    result: count > 0 ? 'holds' : absent,
    detail: count > 0 ? `${count} events` : why,
  }
  const spoke = events.some((event) => event.type === 'message')
  yield { what: 'a message is among it', result: spoke ? 'holds' : absent, detail: '' }
  const wellFormed = problems.length > 0 ? 'fails' : events.length > 0 ? 'holds' : 'unknown'
  yield { what: 'every event is well-formed', result: wellFormed, detail: problems[0] ?? '' }
  const begun = isBegun(events)
  const detail = begun || events.length === 0 ? '' : 'only a later revision of the protocol asks for it'
  yield { what: 'lifecycle processing comes first', result: begun ? 'holds' : 'unknown', detail }
  const ended = isEnded(events) ? 'holds' : 'fails'
  yield { what: 'and then idle last', result: begun ? ended : 'unknown', detail: '' }
}
