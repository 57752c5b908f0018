// What opens a daemon: the admin token, and the table of all other tokens, whose use is noted.
import { type AdminToken, adminToken } from '../config/instance/data-folder.ts'
import { createTokenUse } from '../gateway/access/token-use.ts'
import { createTokens, type Tokens } from '../gateway/access/tokens.ts'
import type { Instance } from './open-instance.ts'

export interface DaemonCredentials {
  readonly admin: AdminToken
  readonly tokens: Tokens
}

/** Makes an admin token where there is none. Throws `config_invalid` for one that cannot be used. */
export function openCredentials(instance: Instance): DaemonCredentials {
  const { folder, env, settings, secret, store, clock, random, log, undo } = instance
  const { adminToken: reference } = settings().server
  const admin = adminToken(folder, env, reference === undefined ? null : secret(reference))
  const tokenUse = createTokenUse({ store, clock, log })
  undo.push(() => tokenUse.stop())
  return { admin, tokens: createTokens(store, clock, random, tokenUse.used) }
}
