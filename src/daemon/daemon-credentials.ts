// The credentials of a daemon: the admin token, and the table of the other tokens with their last use.
import { type AdminToken, adminToken } from '../config/instance/data-folder.ts'
import { createTokenUse } from '../gateway/access/token-use.ts'
import { createTokens, type Tokens } from '../gateway/access/tokens.ts'
import type { Instance } from './open-instance.ts'

export interface DaemonCredentials {
  readonly admin: AdminToken
  readonly tokens: Tokens
}

/** Creates an admin token if there is none. Throws `config_invalid` if the token cannot be used. */
export function openCredentials(instance: Instance): DaemonCredentials {
  const { folder, env, settings, secret, store, clock, random, log, undo } = instance
  const { adminToken: reference } = settings().server
  const admin = adminToken(folder, env, reference === undefined ? null : secret(reference))
  const tokenUse = createTokenUse({ store, clock, log })
  undo.push(() => tokenUse.stop())
  return { admin, tokens: createTokens(store, clock, random, tokenUse.used) }
}
