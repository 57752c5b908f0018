// Where a daemon listens: the place that it wants, the one that it got, and the address that others are given.
import type { Random, Settings } from '../contract/index.ts'
import type { TcpPlace } from '../server/create-server.ts'

export interface DaemonAddress {
  /** What the command line, else the configuration says. A port that nobody chose may be the next free one. */
  readonly wanted: TcpPlace
  /** Its own address; empty until it listens. */
  url(): string
  /** What others are given: `server.public_url`, else its own address. */
  base(): string
  /** 0 until it listens. */
  port(): number
  /** Known to this process alone: with it `doctor --security` asks its own listener through proxies. */
  readonly probeKey: string
  /** It listens at this port now. Tells the wanted port, where another process has that one; else null. */
  listensOn(port: number | null): number | null
}

export function createDaemonAddress(
  options: { readonly host?: string; readonly port?: number },
  settings: () => Pick<Settings, 'server'>,
  random: Random,
): DaemonAddress {
  const host = options.host ?? settings().server.host
  const wanted = options.port ?? settings().server.port
  const chosen = options.port !== undefined || settings().server.portChosen === true
  let url = ''
  let at = 0
  return {
    wanted: { host, port: wanted, orNext: !chosen },
    url: () => url,
    base: () => settings().server.publicUrl?.replace(/\/$/, '') ?? url,
    port: () => at,
    probeKey: Buffer.from(random.bytes(16)).toString('hex'),
    listensOn(port) {
      at = port ?? 0
      url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
      return port === wanted || wanted === 0 ? null : wanted
    },
  }
}
