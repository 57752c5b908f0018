// A temporary listener: `switchboard chorus verify` receives the callbacks of the tested agent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SwitchboardError } from '../contract/index.ts'
import { readBody } from './read-body.ts'

const MAX_BODY_BYTES = 1_048_576

export interface CallbackListener {
  readonly url: string
  close(): Promise<void>
}

export interface CalledBack {
  readonly method: string
  readonly path: string
  readonly body: Uint8Array
}

/** `take` returns the status of the answer. `port` 0: any free port. Throws if the port is taken. */
export async function openCallbackListener(
  take: (called: CalledBack) => number,
  port = 0,
): Promise<CallbackListener> {
  const server = createServer((request, response) => {
    readBody(request, MAX_BODY_BYTES, (body) => {
      const { method = '', url = '' } = request
      const path = url.split('?', 1)[0] ?? ''
      response.writeHead(typeof body === 'string' ? 413 : take({ method, path, body })).end()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (problem: NodeJS.ErrnoException) =>
      reject(
        problem.code === 'EADDRINUSE' || problem.code === 'EACCES'
          ? new SwitchboardError('input_invalid', `port ${port} cannot be listened on: ${problem.code}`, {
              hint: 'choose another with --listen',
              cause: problem,
            })
          : problem,
      ),
    )
    server.listen({ host: '127.0.0.1', port }, resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
