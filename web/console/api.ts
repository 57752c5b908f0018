// Requests to the API. The types come from the routes, so a page cannot ask for a route that does not exist.
import type { AnswerOf, Asking, Route } from '../../src/operations/routes.ts'
import { type Answer, call } from '../shared/http.ts'

/** A URL of the API. Its type says what it answers. */
export type Url<Body> = string & { readonly answers?: Body }

/** The answer of a route: its fields, or those of a refusal. */
export type AnswerTo<R extends Route> = Answer & { readonly body: Partial<AnswerOf<R>> }

export function post<R extends Route>(route: R, ...asking: Asking<R>): Promise<AnswerTo<R>> {
  const [asked] = asking as readonly [Written?]
  return call('POST', urlOf(route, { ...asked, query: undefined }), asked?.body) as Promise<AnswerTo<R>>
}

/** Returns the URL of a route, with encoded parameters and query. */
export function api<R extends Route>(route: R, ...asking: Asking<R>): Url<AnswerOf<R>> {
  return urlOf(route, asking[0] as Written | undefined)
}

interface Written {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly body?: unknown
}

function urlOf(route: string, { path = {}, query = {} }: Written = {}): string {
  const pattern = route.slice(route.indexOf(' ') + 1)
  const asked = new URLSearchParams()
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '') asked.set(key, String(value))
  const text = asked.toString()
  const filled = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''))
  return `${filled}${text === '' ? '' : `?${text}`}`
}
