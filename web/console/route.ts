// The current page: the part of the address behind the #. Every row has such an address, so that it can be shared.
import { useEffect, useState } from 'preact/hooks'

export interface Route {
  readonly page: string
  /** The decoded rest behind the page: the id of a row. */
  readonly item: string | null
  readonly query: URLSearchParams
}

function parseRoute(hash: string): Route {
  const mark = hash.indexOf('?')
  const path = (mark === -1 ? hash : hash.slice(0, mark)).replace(/^#?\/?/, '')
  const slash = path.indexOf('/')
  const page = slash === -1 ? path : path.slice(0, slash)
  const item = slash === -1 ? '' : path.slice(slash + 1)
  return {
    page: page === '' ? 'now' : page,
    item: item === '' ? null : decoded(item),
    query: new URLSearchParams(mark === -1 ? '' : hash.slice(mark + 1)),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function hrefOf(page: string, item?: string | null, query?: Readonly<Record<string, string>>): string {
  const asked = new URLSearchParams(
    Object.entries(query ?? {}).filter(([, value]) => value !== ''),
  ).toString()
  const path = item === undefined || item === null ? page : `${page}/${encodeURIComponent(item)}`
  return `#/${path}${asked === '' ? '' : `?${asked}`}`
}

export function go(page: string, item?: string | null, query?: Readonly<Record<string, string>>): void {
  location.hash = hrefOf(page, item, query)
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const look = () => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  return route
}
