// Where shims attach to the daemon: a socket beside the control socket, for its owner only. Connectors get the hosts of
// their agents from it.
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import {
  type AttachedHost,
  type Clock,
  createBoundedMap,
  type FramePipe,
  type FrameReader,
  type HostEndpoint,
  type HostPost,
  type Logger,
  MAX_FRAME_BYTES,
  SwitchboardError,
} from '../contract/index.ts'
import { createFrameLines } from './frame-lines.ts'
import type { WelcomeFacts } from './frames.ts'
import { gatherWrites } from './gathered-writes.ts'
import { openHostConnection } from './host-connection.ts'

export interface AttachServerDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly version: string
  abilities(agent: string): WelcomeFacts
}

export interface AttachServer extends HostEndpoint {
  /** Takes the frames of one more peer from any transport. */
  accept(pipe: FramePipe): FrameReader
  /** Listens on a socket file of mode 0600. The caller owns the data folder, so an existing file is left over. */
  listen(path: string): Promise<void>
  /** Returns the number of attached hosts. */
  attached(): number
  /** Returns the agents whose hosts were refused, with the last reason, until a host is admitted. */
  turnedAway(): readonly TurnedAway[]
  /** Waits a while for open calls, says goodbye to every shim, and ends the connections. */
  close(): Promise<void>
}

export interface TurnedAway {
  readonly agent: string
  readonly reason: string
  readonly at: number
}

const CLOSE_MS = 500
/** The caller of a call that is cut off cannot know its outcome. Most platforms confirm within this time. */
const CALLS_MS = 3_000
/** Bounded, because names come from outside. */
const MOST_TURNED_AWAY = 20
const MOST_CONNECTIONS = 512
/** Bytes that may wait for a peer that does not read. */
const MOST_WAITING_BYTES = 64 * 1_048_576

export function createAttachServer(deps: AttachServerDeps): AttachServer {
  const { log } = deps
  const posts = new Map<string, HostPost>()
  const hosts = new Set<AttachedHost>()
  const sockets = new Set<Socket>()
  const turnedAway = createBoundedMap<string, TurnedAway>(MOST_TURNED_AWAY)
  const calls = new Set<Promise<void>>()
  let connections = 0

  const accept = (pipe: FramePipe): FrameReader =>
    openHostConnection(pipe, {
      ...deps,
      id: `host-${++connections}`,
      postOf: (agent) => posts.get(agent),
      turnedAway(agent, reason) {
        turnedAway.set(agent, { agent, reason, at: deps.clock.now() })
      },
      calling(call) {
        calls.add(call)
        void call.then(() => calls.delete(call))
      },
      attached(host) {
        hosts.add(host)
        turnedAway.delete(host.facts.agent)
      },
      detached: (host) => void hosts.delete(host),
    })

  const take = (socket: Socket) => {
    const lines = createFrameLines(MAX_FRAME_BYTES)
    const writes = gatherWrites((text) => {
      socket.write(text)
      if (socket.writableLength > MOST_WAITING_BYTES) socket.destroy()
    })
    const reader = accept({
      send: writes.push,
      end() {
        writes.flush()
        socket.end(() => socket.destroySoon())
      },
    })
    socket.on('data', (chunk) => {
      try {
        for (const line of lines.push(chunk)) reader.line(line)
      } catch (thrown) {
        if (!(thrown instanceof RangeError)) throw thrown
        reader.broken(thrown.message)
        socket.destroySoon()
      }
    })
    socket.on('error', (error) => log.debug({ error: error.message }, 'an attached process went away'))
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      reader.closed()
    })
  }

  const callsFinished = () =>
    new Promise<void>((resolve) => {
      const cancel = deps.clock.after(CALLS_MS, resolve)
      void Promise.all(calls).then(() => {
        cancel()
        resolve()
      })
    })

  const server = createServer(take)
  server.maxConnections = MOST_CONNECTIONS

  return {
    accept,
    open(agent, post) {
      posts.set(agent, post)
      return () => {
        if (posts.get(agent) !== post) return
        posts.delete(agent)
        for (const host of [...hosts]) if (host.facts.agent === agent) host.close('the agent was taken away')
      }
    },
    attached: () => hosts.size,
    turnedAway: () => [...turnedAway.values()],
    async listen(path) {
      removeStale(path)
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        // listen() creates the file synchronously. With this umask other users can never open it.
        const before = process.umask(0o177)
        try {
          server.listen({ path }, () => {
            server.off('error', reject)
            resolve()
          })
        } finally {
          process.umask(before)
        }
      })
      chmodSync(path, 0o600)
    },
    async close() {
      if (calls.size > 0) await callsFinished()
      for (const host of [...hosts]) host.close('the daemon stops')
      if (!server.listening) return
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A peer that never sends a hello, or never reads, must not keep the daemon.
      const cancel = deps.clock.after(CLOSE_MS, () => {
        for (const socket of sockets) socket.destroy()
      })
      await closed
      cancel()
    },
  }
}

function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket())
    throw new SwitchboardError('config_invalid', `${path} is in the way: it is not a socket`)
  unlinkSync(path)
}
