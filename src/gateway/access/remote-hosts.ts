// Hosts on other machines: which bearer tokens may attach, and the end of an attachment when its credential ends. It
// uses the same token table and `authorize` as everything else.
import { hash } from 'node:crypto'
import {
  type Authorization,
  type Cancel,
  type Clock,
  type FramePipe,
  type FrameReader,
  type Principal,
  type Store,
  SwitchboardError,
} from '../../contract/index.ts'
import { authorize } from '../../core/people/authorize.ts'
import type { Tokens } from './tokens.ts'

export interface RemoteHostsDeps {
  readonly clock: Clock
  readonly tokens: Pick<Tokens, 'look'>
  readonly authenticate: (bearer: string) => Promise<Principal | null>
  readonly store: Pick<Store, 'onHint'>
  readonly accept: (pipe: FramePipe) => FrameReader
  /** Whether the present configuration has this agent. */
  readonly isAgent: (id: string) => boolean
}

export interface RemoteHosts {
  /** Returns a function that accepts a pipe. Throws `unauthorized` or `forbidden`, with the problem of the token. */
  admit(bearer: string): Promise<(pipe: FramePipe) => FrameReader>
}

/** The store reports revocations. This check finds expired tokens and missed reports. */
const LOOK_AGAIN_MS = 15_000

/** Distinguishes bearer tokens without revealing them. */
function originOf(bearer: string): string {
  return hash('sha256', bearer).slice(0, 16)
}

const REFUSALS: readonly string[] = ['unauthorized', 'forbidden']

function mayAttach(principal: Principal, agent: string): Authorization {
  return authorize(principal, 'agent.attach', { kind: 'agent', id: agent })
}

export function createRemoteHosts(deps: RemoteHostsDeps): RemoteHosts {
  const { clock, tokens } = deps
  const watched = new Set<() => void>()
  deps.store.onHint((hint) => {
    if (hint.kind === 'access') for (const look of [...watched]) look()
  })

  const principalOf = async (bearer: string): Promise<Principal> => {
    const principal = await deps.authenticate(bearer)
    if (principal !== null) return principal
    const row = await tokens.look(bearer)
    const problem =
      row === null
        ? 'this token is not known here'
        : row.revokedAt !== null
          ? 'this token was revoked'
          : row.expiresAt !== null && row.expiresAt <= clock.now()
            ? 'this token has expired'
            : 'whom this token speaks for is not configured any more'
    throw new SwitchboardError('unauthorized', problem, {
      hint: 'mint another: switchboard token mint --kind agent --agent ID',
    })
  }

  /** Returns the principal of the bearer token if it may attach now. Throws `unauthorized` or `forbidden`. */
  const attaching = async (bearer: string): Promise<Principal> => {
    const principal = await principalOf(bearer)
    const own = mayAttach(principal, 'agent' in principal ? principal.agent : principal.id)
    if (!own.allowed)
      throw new SwitchboardError('forbidden', own.reason, {
        hint: 'a token to attach with is minted by: switchboard token mint --kind agent --agent ID',
      })
    // The token outlived its agent.
    if (principal.kind === 'agent' && !deps.isAgent(principal.id))
      throw new SwitchboardError('forbidden', `agent "${principal.id}" is not configured here`, {
        hint: 'see agents: in the configuration, or revoke the token: switchboard token revoke ID',
      })
    return principal
  }

  /** Ends the attachment when its credential or its principal's right ends. */
  const watch = (bearer: string, reader: FrameReader): Cancel => {
    let over = false
    let cancel: Cancel = () => undefined
    const look = () => {
      attaching(bearer).catch((thrown) => {
        // An unavailable store says nothing about the token.
        if (!over && thrown instanceof SwitchboardError && REFUSALS.includes(thrown.code))
          reader.broken(thrown.message)
      })
    }
    const again = () => {
      cancel = clock.after(LOOK_AGAIN_MS, () => {
        look()
        again()
      })
    }
    watched.add(look)
    again()
    // Finds a revocation between the first check and now.
    look()
    return () => {
      over = true
      cancel()
      watched.delete(look)
    }
  }

  return {
    async admit(bearer) {
      const principal = await attaching(bearer)
      const may = (agent: string) => mayAttach(principal, agent)
      return (pipe) => {
        const reader = deps.accept({ ...pipe, may, origin: originOf(bearer) })
        const stop = watch(bearer, reader)
        return {
          ...reader,
          closed() {
            stop()
            reader.closed()
          },
        }
      }
    },
  }
}
