// Wires that a test can cut: between a node and the database, and between callers and the nodes behind one address.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Wire {
  readonly port: number
  /** Breaks every connection and refuses new ones. */
  cut(): void
  /** Lets nothing pass in either direction, without an error, as a network that drops packets does. */
  freeze(): void
  /** Lets requests pass but drops all answers. Resolves when one with these words was dropped. */
  swallowAnswers(words?: string): Promise<void>
  /** Resolves when a connection was refused because the wire is cut. */
  refused(): Promise<void>
  /** Lets new connections pass again. Frozen ones break, as they do when a network comes back too late. */
  mend(): void
  close(): Promise<void>
}

/** `to` lists the ports for a new connection, tried in this order. */
export async function createWire(to: () => readonly number[]): Promise<Wire> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const waiting = new Set<Socket>()
  let state: 'whole' | 'cut' | 'frozen' = 'whole'
  const onRefused: (() => void)[] = []

  const join = (near: Socket, far: Socket) => {
    const pair = [near, far] as const
    pairs.add(pair)
    const end = () => {
      // A frozen wire does not report that the other end is gone.
      if (state === 'frozen') return
      near.destroy()
      far.destroy()
      pairs.delete(pair)
    }
    for (const socket of pair) {
      socket.on('error', () => undefined)
      socket.once('close', end)
    }
    near.pipe(far)
    far.pipe(near)
  }

  const reach = (near: Socket, [port, ...others]: readonly number[]) => {
    if (port === undefined) return void near.destroy()
    const far = connect({ port, host: '127.0.0.1' })
    far.once('error', () => reach(near, others))
    far.once('connect', () => {
      far.removeAllListeners('error')
      if (near.destroyed) return void far.destroy()
      join(near, far)
    })
  }

  const server = createServer({ pauseOnConnect: true }, (near) => {
    near.on('error', () => undefined)
    if (state === 'cut') {
      near.destroy()
      for (const tell of onRefused.splice(0)) tell()
      return
    }
    if (state === 'frozen') return void waiting.add(near)
    reach(near, to())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const breakAll = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
    pairs.clear()
    for (const near of waiting) near.destroy()
    waiting.clear()
  }

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      breakAll()
    },
    freeze() {
      state = 'frozen'
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause()
    },
    swallowAnswers(words = '') {
      return new Promise<void>((done) => {
        for (const [near, far] of pairs) {
          let swallowed = ''
          const swallow = (chunk: Buffer) => {
            swallowed += chunk.toString('latin1')
            if (swallowed.includes(words)) done()
          }
          far.unpipe(near).on('data', swallow).resume()
        }
      })
    },
    refused: () => new Promise((resolve) => void onRefused.push(resolve)),
    mend() {
      if (state === 'frozen') breakAll()
      state = 'whole'
    },
    async close() {
      state = 'cut'
      breakAll()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
