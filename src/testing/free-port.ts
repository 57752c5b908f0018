// A port for a server that starts later, or comes back on the same one. The system's own choice (port 0) is from the
// range that outgoing connections take theirs from: one of them may have it by the time the server starts. This is
// from below that range.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const [LOWEST, HIGHEST] = [20_000, 32_000]

/** On the loopback interface; nobody listens there now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST)
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
