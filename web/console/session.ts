// Signing in: a one-time ticket behind the # becomes a cookie that no script can read.
import { useEffect, useState } from 'preact/hooks'
import type { GatePhase } from '../shared/gate.tsx'
import { call } from '../shared/http.ts'
import type { Me } from './console-context.ts'

export interface Session {
  readonly phase: GatePhase
  readonly me: Me | null
  readonly check: () => void
  readonly leave: () => void
}

const AGAIN_MS = 2_000

export function useSession(): Session {
  const [phase, setPhase] = useState<GatePhase>('starting')
  const [me, setMe] = useState<Me | null>(null)

  async function look(): Promise<void> {
    const answer = await call('GET', '/console/me')
    if (answer.ok) {
      setMe(answer.body as unknown as Me)
      setPhase('open')
    } else if (answer.code === 'unauthorized') {
      setMe(null)
      setPhase((before) => (before === 'stale-link' ? before : 'no-session'))
    } else {
      // The gateway is down, starting, or behind a proxy that answers. The page keeps its content and says so.
      setPhase((before) => (before === 'open' ? before : 'unreachable'))
      setTimeout(() => void look(), AGAIN_MS)
    }
  }

  async function start(): Promise<void> {
    const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket')
    if (ticket !== null) {
      // The ticket leaves the address and the history before anything else happens.
      history.replaceState(null, '', '/')
      const entered = await call('POST', '/console/session', { ticket })
      if (!entered.ok && entered.status === 0) {
        setPhase('unreachable')
        setTimeout(() => {
          history.replaceState(null, '', `/#ticket=${ticket}`)
          void start()
        }, AGAIN_MS)
        return
      }
      // A signed-in person stays signed in. An invalid link changes nothing.
      if (!entered.ok) setPhase('stale-link')
    }
    await look()
  }

  useEffect(() => {
    void start()
    // A link that is pasted into the open page changes only the part behind the #.
    const pasted = () => {
      if (new URLSearchParams(location.hash.slice(1)).has('ticket')) location.reload()
    }
    addEventListener('hashchange', pasted)
    return () => removeEventListener('hashchange', pasted)
  }, [])

  return {
    phase,
    me,
    check: () => void look(),
    leave: () => void call('POST', '/console/logout').then(() => look()),
  }
}
