// Hosts on other machines: who a bearer lets in to attach, and the end of an attachment whose credential ends. The one
// token table and the one authorize, as everywhere.
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
  /** Whether the configuration in force has such an agent. */
  readonly isAgent: (id: string) => boolean
}

export interface RemoteHosts {
  /** Throws `unauthorized` or `forbidden`, with what is wrong with the token. */
  admit(bearer: string): Promise<(pipe: FramePipe) => FrameReader>
}

/** Revoking is told by the store; this finds what expired, and what was told while nobody listened. */
const LOOK_AGAIN_MS = 15_000

/** Tells two bearers apart, and nobody what they are. */
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

  /** Whom the bearer speaks for, if that one may attach at all now. Throws `unauthorized` or `forbidden`. */
  const attaching = async (bearer: string): Promise<Principal> => {
    const principal = await principalOf(bearer)
    const own = mayAttach(principal, 'agent' in principal ? principal.agent : principal.id)
    if (!own.allowed)
      throw new SwitchboardError('forbidden', own.reason, {
        hint: 'a token to attach with is minted by: switchboard token mint --kind agent --agent ID',
      })
    // The token outlived its agent: nothing that it could ask for is there.
    if (principal.kind === 'agent' && !deps.isAgent(principal.id))
      throw new SwitchboardError('forbidden', `agent "${principal.id}" is not configured here`, {
        hint: 'see agents: in the configuration, or revoke the token: switchboard token revoke ID',
      })
    return principal
  }

  /** Ends the attachment when its credential ends, or the right of whom it speaks for. */
  const watch = (bearer: string, reader: FrameReader): Cancel => {
    let over = false
    let cancel: Cancel = () => undefined
    const look = () => {
      attaching(bearer).catch((thrown) => {
        // A store that is away says nothing about the token.
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
    // What was revoked between the answer and now was told to nobody.
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
