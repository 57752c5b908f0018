// A long list in pages. The newest page is queried again after a change, older ones when the reader scrolls to them.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../shared/http.ts'
import type { Url } from './api.ts'
import { useMoved } from './queries.ts'

interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

export interface Paged<Item> {
  /** Null until the first page has loaded. */
  readonly items: readonly Item[] | null
  readonly problem: string | null
  /** Whether there is nothing older. */
  readonly done: boolean
  readonly more: () => void
  readonly refresh: () => void
  /** Loads from the first page again, because the reader's action moved rows. */
  readonly restart: () => void
}

interface State<Item> {
  readonly path: string
  readonly items: readonly Item[] | null
  readonly next: string | null
  readonly problem: string | null
}

/** A rare search may give many empty pages. After this many, it continues only when the reader scrolls. */
const EMPTY_PAGES = 20

export function usePages<Item>(
  path: Url<PageOf<Item>> | null,
  kinds: readonly string[],
  keyOf: (item: Item) => string,
): Paged<Item> {
  const none: State<Item> = { path: path ?? '', items: null, next: null, problem: null }
  const [state, setState] = useState<State<Item>>(none)
  const latest = useRef(state)
  latest.current = state
  const current = useRef(path)
  current.current = path
  const key = useRef(keyOf)
  key.current = keyOf
  const loading = useRef(false)

  const fresh = useCallback(async () => {
    if (path === null) return
    const answer = await call('GET', path)
    if (current.current !== path) return
    const before = latest.current.path === path ? latest.current : null
    if (!answer.ok) {
      setState({ path, items: before?.items ?? null, next: before?.next ?? null, problem: answer.problem })
      return
    }
    const page = answer.body as unknown as PageOf<Item>
    setState(merged(path, page, before, key.current))
  }, [path])

  const more = useCallback(async () => {
    if (path === null || loading.current) return
    loading.current = true
    for (let tries = 0; tries < EMPTY_PAGES; tries += 1) {
      const { next, path: of } = latest.current
      if (next === null || of !== path) break
      const answer = await call(
        'GET',
        `${path}${path.includes('?') ? '&' : '?'}before=${encodeURIComponent(next)}`,
      )
      if (current.current !== path || !answer.ok) break
      const page = answer.body as unknown as PageOf<Item>
      const known = new Set((latest.current.items ?? []).map(key.current))
      const added = page.items.filter((one) => !known.has(key.current(one)))
      const now = { ...latest.current, items: [...(latest.current.items ?? []), ...added], next: page.next }
      latest.current = now
      setState(now)
      if (added.length > 0) break
    }
    loading.current = false
  }, [path])

  useEffect(() => {
    setState({ path: path ?? '', items: null, next: null, problem: null })
    void fresh()
  }, [fresh, path])
  useMoved(kinds, fresh)
  // The first page is empty, but there are more, so the next one is loaded.
  const isBare = state.items !== null && state.items.length === 0 && state.next !== null
  useEffect(() => {
    if (isBare) void more()
  }, [isBare, more])
  const mine = state.path === (path ?? '')
  return {
    items: mine ? state.items : null,
    problem: mine ? state.problem : null,
    done: mine && state.items !== null && state.next === null,
    more: () => void more(),
    refresh: () => void fresh(),
    restart: () => {
      latest.current = { ...latest.current, path: '' }
      void fresh()
    },
  }
}

/** Joins the new first page with the loaded rows behind its last row. */
function merged<Item>(
  path: string,
  page: PageOf<Item>,
  before: State<Item> | null,
  keyOf: (item: Item) => string,
): State<Item> {
  const old = before?.items ?? []
  const last = page.items.at(-1)
  const at = last === undefined ? -1 : old.findIndex((one) => keyOf(one) === keyOf(last))
  // Either this is everything, or the pages no longer meet: so much is new that the list starts again.
  if (at === -1 || page.next === null) return { path, items: page.items, next: page.next, problem: null }
  const fresh = new Set(page.items.map(keyOf))
  const rest = old.slice(at + 1).filter((one) => !fresh.has(keyOf(one)))
  return {
    path,
    items: [...page.items, ...rest],
    next: rest.length === 0 ? page.next : (before?.next ?? null),
    problem: null,
  }
}
