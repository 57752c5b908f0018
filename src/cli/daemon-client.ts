// The command line's end of the control socket: HTTP to the daemon that holds the data folder.
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { ERROR_TABLE, type ErrorCode, SwitchboardError } from '../contract/index.ts'
import { type Api, createApi, type Query, type WireOptions } from './api.ts'
import { daemonAbsent } from './failure.ts'

const DEFAULT_TIMEOUT_MS = 30_000

/** True when a daemon listens there. A socket file that its daemon left behind does not count. */
export function daemonAnswers(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (problem: NodeJS.ErrnoException) => {
      if (isAbsence(problem)) resolve(false)
      else reject(unreachable(socketPath, problem))
    })
  })
}

export function createDaemonClient(target: {
  readonly dataDir: string
  readonly socketPath: string
  /** How a daemon is started here, for who finds none. */
  startHint(): string
}): Api {
  function open(method: string, path: string, options: WireOptions): Promise<IncomingMessage> {
    const body = options.body === undefined ? null : Buffer.from(JSON.stringify(options.body))
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    return new Promise((resolve, reject) => {
      const call: ClientRequest = request({
        socketPath: target.socketPath,
        method,
        path: withQuery(path, options.query ?? {}),
        agent: false,
        headers: {
          host: 'localhost',
          accept: 'application/json',
          ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
        },
      })
      call.setTimeout(timeoutMs, () => call.destroy(silent(timeoutMs)))
      call.once('response', resolve)
      call.once('error', (problem: NodeJS.ErrnoException) => {
        if (problem instanceof SwitchboardError) reject(problem)
        else if (isAbsence(problem)) reject(daemonAbsent(target.dataDir, target.startHint()))
        else reject(unreachable(target.socketPath, problem))
      })
      call.end(body ?? undefined)
    })
  }

  return createApi(
    {
      async call(method, path, options) {
        const response = await open(method, path, options)
        const text = await readText(response, target.socketPath)
        const status = response.statusCode ?? 0
        const answer = parsed(text)
        if (status >= 400) throw refusal(status, answer, text)
        if (answer === undefined && text !== '') {
          throw new SwitchboardError('internal', `the daemon's answer to ${method} ${path} is not JSON`)
        }
        return answer
      },

      async stream(path, query) {
        const response = await open('GET', path, { query })
        if ((response.statusCode ?? 0) >= 400) {
          const text = await readText(response, target.socketPath)
          throw refusal(response.statusCode ?? 0, parsed(text), text)
        }
        return response.setEncoding('utf8')
      },
    },
    true,
  )
}

function withQuery(path: string, query: Query): string {
  const text = Object.entries(query)
    .filter((pair): pair is [string, string | number] => pair[1] !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
  return text === '' ? path : `${path}?${text}`
}

async function readText(response: IncomingMessage, socketPath: string): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer)
  } catch (problem) {
    throw problem instanceof SwitchboardError ? problem : unreachable(socketPath, problem as Error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The daemon's error as it meant it; an answer in a foreign shape still names its status. */
function refusal(status: number, answer: unknown, text: string): SwitchboardError {
  const told = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>
  const code =
    typeof told.code === 'string' && told.code in ERROR_TABLE ? (told.code as ErrorCode) : 'internal'
  const message =
    typeof told.error === 'string' ? told.error : `the daemon answered ${status} ${text.slice(0, 200)}`
  return new SwitchboardError(code, message.trim(), typeof told.hint === 'string' ? { hint: told.hint } : {})
}

function isAbsence(problem: NodeJS.ErrnoException): boolean {
  return problem.code === 'ENOENT' || problem.code === 'ECONNREFUSED' || problem.code === 'ENOTDIR'
}

function unreachable(socketPath: string, problem: Error): SwitchboardError {
  const code = (problem as NodeJS.ErrnoException).code
  if (code === 'EACCES' || code === 'EPERM') {
    return new SwitchboardError('forbidden', `this user may not talk to the daemon at ${socketPath}`, {
      hint: 'run the command as the user who started the daemon',
    })
  }
  return new SwitchboardError('execution_failed', `the daemon went away in the middle: ${problem.message}`, {
    hint: 'look whether it still runs with: switchboard status',
    cause: problem,
  })
}

function silent(timeoutMs: number): SwitchboardError {
  return new SwitchboardError('execution_failed', `the daemon did not answer within ${timeoutMs / 1000} s`, {
    hint: 'look at its log; what you asked for may still happen',
  })
}
