// A listener for a moment: `switchboard chorus verify` hears the callbacks of the agent it tests.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readBody } from './read-body.ts'

const MAX_BODY_BYTES = 1_048_576

export interface CallbackListener {
  readonly url: string
  close(): Promise<void>
}

/** `take` gives the status that the agent is answered with. */
export async function openCallbackListener(take: (body: Uint8Array) => number): Promise<CallbackListener> {
  const server = createServer((request, response) => {
    readBody(request, MAX_BODY_BYTES, (body) => {
      response.writeHead(body === 'too large' ? 413 : take(body)).end()
    })
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
