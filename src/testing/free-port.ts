// A port for a server that starts later, or starts again on the same port. The kernel chooses it, and this process
// holds it until it ends, so that no other process can be given it meanwhile.
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'
import { platform } from 'node:os'

let peer: Promise<Server> | undefined
const held = new Set<Socket>()

/**
 * A port on the loopback interface that only a server which names it can have. On Linux a connection from that port
 * holds it: the kernel gives the port to nobody who asks for any port, and a server may still listen on it
 * (SO_REUSEADDR). Elsewhere the port is chosen by the kernel and not held.
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
