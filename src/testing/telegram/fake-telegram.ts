// A fake Bot API on loopback that speaks the real wire. A fault plan makes it fail. Tests and `switchboard emulate
// telegram` use it. `person(…)` scripts the side of a person.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bytesOf, openFakeServer } from '../fake-server.ts'
import { createFaultPlan, type FaultPlan, type FaultRule } from '../faults/fault-plan.ts'
import { type CallBody, readBody } from '../request-body.ts'
import { type Answer, type Refusal, refuse, runMethod } from './methods.ts'
import { createPerson, type Person, type PersonOptions } from './person.ts'
import { createUpdateQueue, type UpdateQueue } from './update-queue.ts'
import { createWorld, type World } from './world.ts'

export interface FakeTelegramOptions {
  readonly token?: string
  readonly username?: string
  readonly port?: number
  readonly faults?: readonly FaultRule[]
  readonly seed?: number
  readonly now?: () => number
  /** Runs after each call except getUpdates. */
  readonly onCall?: (method: string, params: Readonly<Record<string, unknown>>, result: unknown) => void
  /** Answers requests that are not of the Bot API, such as a control page. It returns true when it answered. */
  readonly otherwise?: (request: IncomingMessage, response: ServerResponse, fake: FakeTelegram) => boolean
}

export interface FakeTelegram {
  /** The value for the setting `api_root`. */
  readonly url: string
  readonly token: string
  readonly world: World
  readonly updates: Pick<UpdateQueue, 'polls' | 'confirmed' | 'conflicts'>
  /** The faults of the plan that happened so far. */
  readonly fired: FaultPlan['fired']
  person(options?: PersonOptions): Person
  /** Replaces the fault plan. The counts start anew. */
  plan(faults: readonly FaultRule[], seed?: number): void
  /** Breaks every open connection, as a network failure does. */
  cut(): void
  stop(): Promise<void>
}

export const FAKE_TOKEN = '7000000001:AAfake-token-of-the-emulator_0123456789'
const MAX_BODY_BYTES = 60 * 1_048_576

export async function createFakeTelegram(options: FakeTelegramOptions = {}): Promise<FakeTelegram> {
  const token = options.token ?? FAKE_TOKEN
  const world = createWorld({
    botId: Number(token.split(':')[0]),
    username: options.username ?? 'switchboard_bot',
    now: options.now ?? Date.now,
  })
  const queue = createUpdateQueue(world)
  let plan = createFaultPlan(options.faults, options.seed)

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    const [, given, name] = /^\/bot([^/]+)\/(?:test\/)?(\w+)$/.exec(url.pathname) ?? []
    if (url.pathname.startsWith('/file/')) return file(url.pathname, response)
    if (given === undefined || name === undefined) {
      if (options.otherwise?.(request, response, fake)) return
      return answer(response, refuse('Not Found', 404))
    }
    if (given !== token) return answer(response, refuse('Unauthorized', 401))
    const bytes = await bytesOf(request, MAX_BODY_BYTES)
    if (bytes === null) return answer(response, refuse('Request Entity Too Large', 413))
    const body = readBody(request.headers['content-type'] ?? '', bytes, url.searchParams)
    if (body === null) return answer(response, refuse("Bad Request: can't parse JSON object"))
    await call(name, body, request, response)
  }

  const call = async (name: string, body: CallBody, request: IncomingMessage, response: ServerResponse) => {
    const fault = plan.next(name)
    const early = fault === null ? null : refusedBy(fault)
    if (early !== null) return answer(response, early)
    if (fault?.do === 'drop-request') return void request.socket.destroy()
    if (fault?.do === 'deaf') return
    if (fault?.do === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 300))
    const done = await run(name, body, fault, response)
    if (fault?.do === 'drop-response') return void request.socket.destroy()
    if (fault?.do === 'half-open') return
    if (fault?.do === 'malformed') {
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end('{"ok":true,"result":{"message_id":')
    }
    answer(response, done)
  }

  const run = async (
    name: string,
    body: CallBody,
    fault: FaultRule | null,
    response: ServerResponse,
  ): Promise<Answer> => {
    if (name.toLowerCase() === 'getupdates') {
      return queue.getUpdates(body, fault, { onGone: (gone) => response.once('close', gone) })
    }
    world.calls.push({ method: name, params: body.params })
    const done =
      queue.method(name, body) ?? runMethod(name, body, world) ?? refuse('Not Found: method not found', 404)
    if ('result' in done) options.onCall?.(name, body.params, done.result)
    return done
  }

  const file = (path: string, response: ServerResponse) => {
    const [, given, id] = /^\/file\/bot([^/]+)\/documents\/(.+)$/.exec(decodeURIComponent(path)) ?? []
    const found = given === token ? world.files.get(id ?? '') : undefined
    if (!found) return answer(response, refuse('Not Found', 404))
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': found.bytes.length,
    })
    response.end(found.bytes)
  }

  const server = await openFakeServer({ port: options.port, handle })

  const fake: FakeTelegram = {
    url: server.url,
    token,
    world,
    updates: queue,
    get fired() {
      return plan.fired
    },
    person: (about) => createPerson(world, about),
    plan(faults, seed) {
      plan = createFaultPlan(faults, seed)
    },
    cut: server.cut,
    async stop() {
      queue.stop()
      await server.stop()
    },
  }
  return fake
}

function refusedBy(fault: FaultRule): Answer | null {
  switch (fault.do) {
    case 'rate-limit': {
      const seconds = fault.retryAfter ?? 1
      return refuse(`Too Many Requests: retry after ${seconds}`, 429, { retry_after: seconds })
    }
    case 'error':
      return refuse(fault.status === 502 ? 'Bad Gateway' : 'Internal Server Error', fault.status ?? 500)
    case 'conflict':
      return refuse(
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
        409,
      )
    default:
      return null
  }
}

function answer(response: ServerResponse, given: Answer): void {
  const refusal: Refusal | null = 'refusal' in given ? given.refusal : null
  const body = 'result' in given ? { ok: true, result: given.result } : { ok: false, ...refusal }
  response.writeHead(refusal?.error_code ?? 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
