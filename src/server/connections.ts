// Tracks which connections of one listener have a request in progress. The others make room for new peers when places
// get scarce, and never delay the end of the daemon.
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../contract/index.ts'

/** Emitted on a response when the daemon ends while its peer is only still being read. */
export const DRAINING = 'draining'

export interface Connections {
  /** A peer connected. A second call for the same socket changes nothing. */
  take(socket: Duplex): void
  /** A request is in progress until its response closes. */
  work(socket: Duplex, response: ServerResponse): void
  /** Another protocol uses the socket from now on, until our side ends. */
  upgrade(socket: Duplex): void
  /** Ends the connections that wait for their next request, and silent ones except the newest. */
  makeRoom(): void
  /** Ends connections without a request now, and the others when they are answered. */
  drain(): void
  end(): void
}

interface Waiting {
  readonly since: number
  /** Whether it has not sent one whole request yet. */
  readonly silent: boolean
}

/** The time that a peer has for its first request, even when places are scarce. */
const SILENT_MS = 1_000
/** The most places that are kept free of waiting peers. */
const MOST_RESERVED = 64

export function createConnections(max: number, clock: Pick<Clock, 'now' | 'after'>): Connections {
  /** The longest waiting first. */
  const waiting = new Map<Duplex, Waiting>()
  const working = new Map<Duplex, Set<ServerResponse>>()
  const soft = max - Math.max(1, Math.min(MOST_RESERVED, Math.floor(max / 8)))
  let draining = false
  let looking: (() => void) | null = null

  const wait = (socket: Duplex, silent: boolean) => {
    if (draining) socket.destroy()
    else waiting.set(socket, { since: clock.now(), silent })
  }
  const mayGo = ({ since, silent }: Waiting) => !silent || Math.abs(clock.now() - since) >= SILENT_MS
  const oldestFirst = function* () {
    for (const [socket, peer] of waiting) if (mayGo(peer)) yield socket
  }

  const isTight = () => waiting.size + working.size >= soft
  /** Peers that came at the same time are checked again after their time, so that no newcomer must be dropped. */
  const lookAgain = () => {
    looking ??= clock.after(SILENT_MS, () => {
      looking = null
      for (const socket of oldestFirst()) {
        if (!isTight()) return
        waiting.delete(socket)
        socket.destroy()
      }
      if (isTight() && waiting.size > 0) lookAgain()
    })
  }

  return {
    take(socket) {
      if (waiting.has(socket) || working.has(socket)) return
      if (isTight()) {
        oldestFirst().next().value?.destroy()
        lookAgain()
      }
      wait(socket, true)
      // Our side has ended and was sent. A peer that keeps its own side open does not delay the end.
      socket.once('finish', () => working.delete(socket) && wait(socket, false))
      socket.once('close', () => {
        waiting.delete(socket)
        working.delete(socket)
      })
    },
    work(socket, response) {
      waiting.delete(socket)
      const responses = working.get(socket) ?? new Set()
      working.set(socket, responses.add(response))
      response.once('close', () => {
        responses.delete(response)
        if (responses.size > 0 || socket.destroyed || !working.delete(socket)) return
        wait(socket, false)
      })
    },
    upgrade(socket) {
      waiting.delete(socket)
      if (!socket.destroyed) working.set(socket, working.get(socket) ?? new Set())
    },
    makeRoom() {
      for (const socket of oldestFirst()) socket.destroy()
    },
    drain() {
      draining = true
      looking?.()
      for (const socket of waiting.keys()) socket.destroy()
      for (const responses of working.values()) for (const response of responses) response.emit(DRAINING)
    },
    end() {
      for (const socket of [...waiting.keys(), ...working.keys()]) socket.destroy()
    },
  }
}
