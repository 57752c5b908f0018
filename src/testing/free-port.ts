// A port for a server that starts later, or comes back on the same one. The system's own choice (port 0) is from the
// range that outgoing connections take theirs from: one of them may have it by the time the server starts. This is
// from below that range, and from a share of this process: another one would not choose the same before it is taken.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const LOWEST = 20_000
const SHARES = 100
const SHARE = 120

/** On the loopback interface; nobody listens there now. */
export async function freePort(): Promise<number> {
  const first = LOWEST + (process.pid % SHARES) * SHARE
  for (;;) {
    const port = first + randomInt(SHARE)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
