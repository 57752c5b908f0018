// One server object of the SDK for many callers at the same time. Each request gets its own id on the connection, and
// its handler finds the call by that id. So callers share nothing but the code.
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Server,
  Transport,
} from '@modelcontextprotocol/server'

export interface SharedServer<Call> {
  /** Returns the response to a request. */
  answer(request: JSONRPCRequest, call: Call): Promise<JSONRPCMessage>
}

/** `create` makes the server. `callOf` returns the call of a request that is being answered. */
export function createSharedServer<Call>(
  create: (callOf: (id: RequestId) => Call) => Server,
): SharedServer<Call> {
  const pending = new Map<RequestId, { readonly call: Call; respond(message: JSONRPCMessage): void }>()
  let lastId = 0
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    async send(message) {
      if ('id' in message && message.id !== undefined) pending.get(message.id)?.respond(message)
    },
  }
  const server = create((id) => {
    const request = pending.get(id)
    if (request === undefined) throw new Error(`request ${id} is not pending`)
    return request.call
  })
  const connected = server.connect(transport)

  return {
    async answer(request, call) {
      await connected
      lastId += 1
      const id = lastId
      const response = new Promise<JSONRPCMessage>((respond) => pending.set(id, { call, respond }))
      transport.onmessage?.({ ...request, id })
      try {
        return { ...(await response), id: request.id }
      } finally {
        pending.delete(id)
      }
    },
  }
}
