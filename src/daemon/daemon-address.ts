// The address of a daemon: the place that it wants, the place that it got, and the address that it publishes.
import type { Random, Settings } from '../contract/index.ts'
import type { TcpPlace } from '../server/create-server.ts'

export interface DaemonAddress {
  /** From the command line, else the configuration. A port that was not chosen may become the next free one. */
  readonly wanted: TcpPlace
  /** Its own address. Empty until it listens. */
  url(): string
  /** The published address: `server.public_url`, else its own. */
  base(): string
  /** 0 until it listens. */
  port(): number
  /** A secret of this process. `doctor --security` uses it to probe its own listener through proxies. */
  readonly probeKey: string
  /** Records the port. Returns the wanted port if another process has it, else null. */
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
