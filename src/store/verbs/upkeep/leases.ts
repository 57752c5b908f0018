// Named leases (a poller, a schedule, a socket): one holder at a time, with a token that grows at each change of
// holder.
import { SwitchboardError } from '../../../contract/index.ts'
import { firstRow, run, type Steps, textOrNull, whole } from '../../statement.ts'
import { oneByOne, type Verb, type VerbContext } from '../../verb-context.ts'
import { heldByOther } from '../turns/lanes.ts'

export interface LeaseCall {
  readonly name: string
  readonly ttlMs: number
}

export const lease = oneByOne(function* (
  context: VerbContext,
  { name, ttlMs }: LeaseCall,
): Steps<{ readonly token: number } | null> {
  const { owner, now } = context
  // A second node waits here and then finds the row.
  yield* run(
    `INSERT INTO leases (name, owner, token, until) VALUES ($1, NULL, 0, 0) ON CONFLICT (name) DO NOTHING`,
    [name],
  )
  const row = yield* firstRow('SELECT owner, token, until FROM leases WHERE name = $1 @lock', [name])
  if (!row) return null
  const holder = textOrNull(row, 'owner')
  if (heldByOther(context, holder, whole(row, 'until'))) return null
  const token = whole(row, 'token') + (holder === owner ? 0 : 1)
  yield* run('UPDATE leases SET owner = $2, token = $3, until = $4 WHERE name = $1', [
    name,
    owner,
    token,
    now + ttlMs,
  ])
  return { token }
})

/**
 * Throws `platform_unavailable` if the lease is lost. A node that slept past its lease must move no position, because
 * another node receives now.
 */
export function* checkFence(
  context: VerbContext,
  fence: { readonly name: string; readonly token: number },
): Steps<void> {
  const row = yield* firstRow('SELECT owner, token FROM leases WHERE name = $1 @lock', [fence.name])
  if (row && textOrNull(row, 'owner') === context.owner && whole(row, 'token') === fence.token) return
  throw new SwitchboardError('platform_unavailable', 'another node receives for this integration by now')
}

export interface ReleaseLeaseCall {
  readonly name: string
  readonly token: number
}

export const releaseLease: Verb<ReleaseLeaseCall, void> = oneByOne(function* (context, { name, token }) {
  yield* run('UPDATE leases SET owner = NULL, until = 0 WHERE name = $1 AND token = $2 AND owner = $3', [
    name,
    token,
    context.owner,
  ])
})
