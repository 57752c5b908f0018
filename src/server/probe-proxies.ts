// Requests our own /healthz through the ports where proxies usually listen. A proxy that adds no header makes every
// visitor look local, and only such a try detects it.
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../contract/index.ts'

export const PROBE_HEADER = 'x-switchboard-probe'

export interface ProbePlace {
  readonly host: string
  readonly port: number
  readonly tls: boolean
}

export interface Probe {
  /** The server's `probeKey`. */
  readonly key: string
  readonly clock: Pick<Clock, 'after'>
  /** The server's own port, where no proxy listens. */
  readonly ownPort: number
  /** Default: the usual ports of proxies, on each address of this machine. */
  readonly places?: readonly ProbePlace[]
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 1_500
const MOST_ANSWER_CHARS = 8_192
const MOST_ADDRESSES = 4

/** Returns the places through which a request reached this server and looked local. */
export async function probeProxies(probe: Probe): Promise<readonly string[]> {
  const all = (probe.places ?? usualPlaces()).filter(({ port }) => port !== probe.ownPort)
  const believed = await Promise.all(
    all.map(async ({ host, port, tls }) => {
      // Some proxies replace the visitor's Host with ours. Through others a visitor can send our Host.
      const hosts = [`${nameOf(host)}:${port}`, `127.0.0.1:${probe.ownPort}`]
      const answers = await Promise.all(hosts.map((asked) => looksNear({ host, port, tls }, asked, probe)))
      return answers.includes(true)
    }),
  )
  return all.filter((_, at) => believed[at]).map(urlOf)
}

function usualPlaces(): ProbePlace[] {
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address)
  return ['127.0.0.1', ...own.slice(0, MOST_ADDRESSES)].flatMap((host) => [
    ...[80, 81, 8000, 8080, 8888].map((port) => ({ host, port, tls: false })),
    ...[443, 8443].map((port) => ({ host, port, tls: true })),
  ])
}

function urlOf({ host, port, tls }: ProbePlace): string {
  return `${tls ? 'https' : 'http'}://${nameOf(host)}:${port}`
}

function nameOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Uses a plain socket, because the listener may not speak HTTP, and its certificate is for another name. */
function looksNear(
  { host, port, tls }: ProbePlace,
  asked: string,
  { key, clock, timeoutMs = TIMEOUT_MS }: Probe,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = tls ? connectTls({ host, port, rejectUnauthorized: false }) : connect({ host, port })
    let answer = ''
    const request = `GET /healthz HTTP/1.1\r\nHost: ${asked}\r\n${PROBE_HEADER}: ${key}\r\nConnection: close\r\n\r\n`
    const end = () => {
      cancel()
      socket.destroy()
      resolve(answer.includes('"near":true'))
    }
    const cancel = clock.after(timeoutMs, end)
    socket.setEncoding('latin1')
    socket.on('error', end)
    socket.on('close', end)
    socket.on(tls ? 'secureConnect' : 'connect', () => socket.write(request))
    socket.on('data', (chunk: string) => {
      answer += chunk
      if (answer.length > MOST_ANSWER_CHARS) end()
    })
  })
}
