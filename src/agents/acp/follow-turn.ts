// Follows a written prompt to its end: the agent's stop reason, its error, its silence, or the end of its process.
import type { Clock, Delivery } from '../../contract/index.ts'
import { tookTooLong } from '../../kit/index.ts'
import { createHangWatch } from '../../kit/processes/index.ts'
import type { AcpTurn } from './acp-turn.ts'
import { isAuthRequired, problemOf } from './agent-link.ts'
import type { AcpConfig } from './config.ts'
import type { LiveSession } from './live-sessions.ts'

const PROBE_MS = 30_000
/** After a broken pipe, the process ends within this time. */
const GONE_MS = 5_000

interface Followed {
  readonly delivery: Delivery
  readonly live: LiveSession
  readonly turn: AcpTurn
  /** The agent's stop reason. */
  readonly stopped: Promise<string>
  onHeard(hear: () => void): void
}

interface FollowDeps {
  readonly clock: Clock
  readonly config: Pick<AcpConfig, 'silence' | 'turn_timeout'>
  /** The turn was cancelled or the connector stopped, so the end is not reported. */
  readonly wasCancelled: (turn: string) => boolean
  readonly giveBack: (delivery: Delivery, detail: string) => Promise<void>
}

export async function followTurn(followed: Followed, deps: FollowDeps): Promise<void> {
  const { delivery, live, turn, stopped } = followed
  const { clock, config } = deps
  const probeMs = Math.min(PROBE_MS, config.silence)
  let late: 'silent' | 'long' | null = null
  const lost = (why: 'silent' | 'long') => {
    late ??= why
    void live.end(why === 'silent' ? 'it hangs' : 'its turn took too long', 'now')
  }
  const watch = createHangWatch({
    ...{ clock, silentMs: config.silence, answerMs: probeMs },
    // The agent may be silent while a person is asked.
    probe: async () => {
      if (!turn.isAsking() && !(await live.link.isAlive(probeMs))) throw new Error('silent')
    },
    hung: () => lost('silent'),
  })
  followed.onHeard(() => watch.heard())
  const cancelLong = clock.after(config.turn_timeout, () => lost('long'))
  const wasCancelled = () => deps.wasCancelled(delivery.turn)

  /** The process ended during the turn. The session continues as after a restart, unless we ended it for good. */
  const gone = async (words: string) => {
    if (late === 'long') return turn.failed('agent_silent', tookTooLong(config.turn_timeout))
    if (late === 'silent') return turn.failed('agent_silent', 'it hung: no sign, and no answer when asked')
    turn.end()
    await deps.giveBack(delivery, `its process ended in the middle: ${words}`)
  }

  try {
    const end = await Promise.race([stopped.then((reason) => ({ reason })), live.ended])
    if (wasCancelled()) return turn.end()
    if ('reason' in end) return await turn.stopped(end.reason)
    await gone(end.words)
  } catch (thrown) {
    // Either the agent answered with an error, or its pipe broke and the process ends soon.
    const ended = live.link.isOpen() ? null : await Promise.race([live.ended, soon(clock, GONE_MS)])
    if (wasCancelled()) return turn.end()
    if (ended) return await gone(ended.words)
    await turn.failed(
      'agent_failed',
      isAuthRequired(thrown) ? 'the agent is not signed in' : problemOf(thrown),
    )
    if (!live.link.isOpen()) await live.end('its pipe broke', 'now')
  } finally {
    watch.stop()
    cancelLong()
  }
}

/** Resolves with null after this time. For races. */
export function soon(clock: Clock, ms: number): Promise<null> {
  return new Promise((resolve) => void clock.after(ms, () => resolve(null)))
}
