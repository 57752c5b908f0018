// /callback/TOKEN and /inbox/SECRET: the URL is the credential. Every secret is looked up by its hash, whatever its
// form, so a wrong one and a rotated one take the same path. None of them is ever logged.
import {
  CALLBACK_KIND,
  type HeadEndpoint,
  isReply,
  type RequestHead,
  type Settings,
  SwitchboardError,
  type TokenRow,
} from '../../contract/index.ts'
import type { Gateway } from '../gateway.ts'
import type { Tokens } from './tokens.ts'

export const INBOX_KIND = 'chorus-inbox'

export interface UrlCredentials {
  readonly callbacks: HeadEndpoint
  readonly inbox: HeadEndpoint
}

export function createUrlCredentials(deps: {
  readonly tokens: Pick<Tokens, 'look'>
  readonly gateway: () => Pick<Gateway, 'roster' | 'links'>
  readonly settings: () => Pick<Settings, 'agents' | 'integrations'>
  readonly now: () => number
}): UrlCredentials {
  const rowOf = async (head: RequestHead, kind: string): Promise<TokenRow> => {
    const row = await deps.tokens.look(head.path.slice(1))
    if (row?.kind !== kind) throw nothing()
    return row
  }

  /** An agent that is being started is not gone, so the caller must retry. */
  const absent = (agent: string | undefined): SwitchboardError =>
    deps.settings().agents.some(({ id }) => id === agent)
      ? new SwitchboardError('draining', 'the agent is being started', { retryAfterMs: 1_000 })
      : new SwitchboardError('gone', 'the agent of this callback is no longer configured')

  /**
   * For an integration that is being started the caller must retry. A removed or disabled one looks absent, like its
   * hook.
   */
  const notRunning = (integration: string | undefined): SwitchboardError =>
    deps.settings().integrations.some(({ id, enabled }) => id === integration && enabled)
      ? new SwitchboardError('draining', 'the integration behind this is not running', {
          retryAfterMs: 5_000,
        })
      : nothing()

  return {
    callbacks: {
      async admit(head) {
        const row = await rowOf(head, CALLBACK_KIND)
        const over = row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= deps.now())
        if (over) throw new SwitchboardError('gone', 'this callback has expired')
        const post = deps.gateway().roster.get(row.scope.agent ?? '')
        if (!post) throw absent(row.scope.agent)
        const { callback } = post.connector
        if (!callback) throw nothing()
        return (body) => callback(row.scope, { ...head, body })
      },
    },
    inbox: {
      async admit(head) {
        const row = await rowOf(head, INBOX_KIND)
        // A rotated secret looks like an unknown one.
        if (row.revokedAt !== null) throw nothing()
        const endpoint = deps.gateway().links.get(row.scope.integration ?? '')?.adapter.endpoint
        if (endpoint?.at !== 'inbox') throw notRunning(row.scope.integration)
        return async (body) => {
          const verified = await endpoint.verify({ ...head, path: '', body })
          return isReply(verified) ? verified : endpoint.handle(verified)
        }
      },
    },
  }
}

function nothing(): SwitchboardError {
  return new SwitchboardError('not_found', 'there is nothing at this path')
}
