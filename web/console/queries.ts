// Queries that are repeated after a change, and actions with their progress and result.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Answer, call } from '../shared/http.ts'
import type { Url } from './api.ts'
import { useConsole } from './console-context.ts'
import { type Link, REFRESH_MS } from './live.ts'

export interface Asked<Data> {
  readonly data: Data | null
  readonly problem: string | null
  readonly refresh: () => void
}

/** The time between two queries of the same thing, because a busy gateway changes a hundred rows a second. */
const PAUSE_MS = 400

/** Runs after events of these kinds, and when the stream is back, at most once per pause. */
export function useMoved(kinds: readonly string[], run: () => Promise<unknown>): void {
  const { live } = useConsole()
  const latest = useRef(run)
  latest.current = run
  const wanted = kinds.join(' ')
  useEffect(() => {
    const heard = new Set([...wanted.split(' '), 'up', 'missed'])
    let timer: ReturnType<typeof setTimeout> | undefined
    let running = false
    let again = false
    const fire = async () => {
      timer = undefined
      if (running) {
        again = true
        return
      }
      running = true
      await latest.current()
      running = false
      if (again) {
        again = false
        soon()
      }
    }
    const soon = () => {
      timer ??= setTimeout(() => void fire(), PAUSE_MS)
    }
    const forget = live.listen((kind) => {
      if (heard.has(kind) && !document.hidden) soon()
    })
    const sweep = setInterval(() => {
      if (!document.hidden) soon()
    }, REFRESH_MS)
    const shown = () => {
      if (!document.hidden) soon()
    }
    document.addEventListener('visibilitychange', shown)
    return () => {
      forget()
      clearTimeout(timer)
      clearInterval(sweep)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [live, wanted])
}

/** Queries a path, and repeats it after events of these kinds. `path` null: no query. */
export function useAsked<Data>(path: Url<Data> | null, kinds: readonly string[]): Asked<Data> {
  const [state, setState] = useState<{ path: string | null; data: Data | null; problem: string | null }>({
    path: null,
    data: null,
    problem: null,
  })
  const current = useRef(path)
  current.current = path
  const ask = useCallback(async () => {
    if (path === null) return
    const answer = await call('GET', path)
    if (current.current !== path) return
    setState((before) =>
      answer.ok
        ? { path, data: answer.body as Data, problem: null }
        : // What was known stays on the page while the gateway is away.
          { path, data: before.path === path ? before.data : null, problem: answer.problem },
    )
  }, [path])
  useEffect(() => void ask(), [ask])
  useMoved(kinds, ask)
  const mine = state.path === path
  return {
    data: mine ? state.data : null,
    problem: mine ? state.problem : null,
    refresh: () => void ask(),
  }
}

export function useLink(): Link {
  const { live } = useConsole()
  const [link, setLink] = useState(live.link())
  useEffect(() => live.onLink(setLink), [live])
  return link
}

/** An action, its progress and its result. */
export function useAct(): {
  readonly busy: string | null
  readonly outcome: { readonly tone: 'good' | 'bad'; readonly text: string } | null
  readonly act: <One extends Answer>(
    name: string,
    run: () => Promise<One>,
    done?: string,
  ) => Promise<One | null>
  readonly clear: () => void
} {
  const [busy, setBusy] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<{ tone: 'good' | 'bad'; text: string } | null>(null)
  const running = useRef(false)
  const act = useCallback(
    async <One extends Answer>(name: string, run: () => Promise<One>, done?: string) => {
      if (running.current) return null
      running.current = true
      setBusy(name)
      const answer = await run()
      running.current = false
      setBusy(null)
      // A message that was accepted but not sent also shows its error.
      const { ok, error } = answer.body
      if (!answer.ok) setOutcome({ tone: 'bad', text: answer.problem })
      else if (ok === false && typeof error === 'string') setOutcome({ tone: 'bad', text: error })
      else setOutcome(done === undefined ? null : { tone: 'good', text: done })
      return answer
    },
    [],
  )
  return { busy, outcome, act, clear: () => setOutcome(null) }
}
