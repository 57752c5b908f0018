// The operator's side of a real daemon: /api with a bearer token, and the configuration as a file that is written anew.
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Daemon } from '../faults/daemon.ts'
import type { Scene } from '../faults/scene.ts'

export interface Answer<T = Record<string, unknown>> {
  readonly status: number
  readonly json: T
  readonly text: string
}

/** The token that the daemon made for itself. */
export function adminTokenOf(data: string): string {
  return readFileSync(join(data, 'admin.token'), 'utf8').trim()
}

export async function callApi<T = Record<string, unknown>>(
  daemon: Daemon,
  bearer: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<T>> {
  const response = await fetch(`${daemon.url}${path}`, {
    method,
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, json: (isJson ? JSON.parse(text) : {}) as T, text }
}

/** Writes the configuration as an editor does: the whole file at once. */
export function writeYaml(data: string, yaml: string): string {
  const file = join(data, 'switchboard.yaml')
  writeFileSync(file, yaml)
  return file
}

export function githubSignature(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

export interface Taken {
  readonly body: string
  readonly headers: IncomingMessage['headers']
}

export interface Listener {
  readonly url: string
  readonly taken: Taken[]
  /** Sets the status that it answers with from now on. */
  answerWith(status: number): void
}

/** A receiver of outbound webhooks on loopback. */
export function listen(scene: Scene): Promise<Listener> {
  const taken: Taken[] = []
  let status = 200
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      if (status < 300) taken.push({ body, headers: request.headers })
      response.writeHead(status).end('{}')
    })
  })
  scene.onEnd(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  scene.onEnd(() => server.closeAllConnections())
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      resolve({
        url: `http://127.0.0.1:${port}/in`,
        taken,
        answerWith: (code) => {
          status = code
        },
      })
    })
  })
}
