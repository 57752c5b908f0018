// A port for a server that starts later, or restarts on the same port. The kernel chooses it. This process reserves it
// until it ends, so no other process can get it meanwhile.
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'
import { platform } from 'node:os'

let peer: Promise<Server> | undefined
const held = new Set<Socket>()

/**
 * Returns a port on the loopback interface that only a server which names it can get. On Linux a connection from that
 * port reserves it. The kernel then gives it to no process that asks for any port, but a server may still listen on it
 * (SO_REUSEADDR). On other systems the kernel chooses the port and nothing reserves it.
 */
export async function freePort(): Promise<number> {
  if (platform() !== 'linux') return chosenPort()
  peer ??= listen()
  const { port } = (await peer).address() as AddressInfo
  const socket = createConnection({ host: '127.0.0.1', port, localAddress: '127.0.0.1', localPort: 0 })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.on('error', () => undefined)
  socket.unref()
  held.add(socket)
  return socket.localPort ?? 0
}

async function chosenPort(): Promise<number> {
  const server = await listen()
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function listen(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).unref())
  server.unref()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}
