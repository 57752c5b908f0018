// The API as commands ask it: each route with the inputs and the answer that its operation defines. The types cost
// nothing at run time, so a question to a live daemon loads no operation.
import type { AnswerOf, Asking, AskingOf, ItemOf, ListRoute, Route } from '../operations/routes.ts'

export type Query = Readonly<Record<string, string | number | undefined>>

export interface WireOptions {
  readonly query?: Query
  readonly body?: unknown
  /** How long the daemon may stay silent. */
  readonly timeoutMs?: number
}

/** How a question gets there: the control socket of a daemon, or the operations of this process. */
export interface Wire {
  /** The JSON answer. Throws the daemon's own error, or `daemon_absent`. */
  call(method: string, path: string, options: WireOptions): Promise<unknown>
  /** The raw answer in chunks, for exports of any size. */
  stream(path: string, query: Query): Promise<AsyncIterable<string>>
}

export interface Api {
  /** False: no daemon runs, and this process reads the store. */
  readonly live: boolean
  ask<R extends Route>(route: R, ...asking: Asking<R>): Promise<AnswerOf<R>>
  /** As `ask`, for an answer that may take longer than usual. */
  askSlowly<R extends Route>(timeoutMs: number, route: R, ...asking: Asking<R>): Promise<AnswerOf<R>>
  /** As `ask`; null: there is no such thing. */
  find<R extends Route>(route: R, ...asking: Asking<R>): Promise<AnswerOf<R> | null>
  /** All pages of a list, as they come, at most `limit` items (null: all). */
  list<R extends ListRoute>(route: R, query: QueryPart<R>, limit: number | null): AsyncIterable<ItemOf<R>>
  stream<R extends Route>(route: R, query: QueryPart<R>): AsyncIterable<string>
}

type QueryPart<R extends Route> =
  AskingOf<R> extends { readonly query?: infer Given } ? NonNullable<Given> : object

interface Written {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Query
  readonly body?: unknown
}

const PAGE = 500

export function createApi(wire: Wire, live: boolean): Api {
  async function send(route: string, written: Written = {}, timeoutMs?: number): Promise<unknown> {
    const [method = '', pattern = ''] = route.split(' ')
    const path = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(written.path?.[name] ?? ''))
    return wire.call(method, path, {
      ...(written.query === undefined ? {} : { query: written.query }),
      ...(written.body === undefined && method !== 'POST' ? {} : { body: written.body ?? {} }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
  }

  async function* list(route: string, query: Query, limit: number | null): AsyncGenerator<unknown> {
    let left = limit ?? Number.POSITIVE_INFINITY
    let { before } = query
    while (left > 0) {
      const page = (await send(route, { query: { ...query, limit: Math.min(PAGE, left), before } })) as {
        readonly items: readonly unknown[]
        readonly next?: string | number | null
      }
      yield* page.items.slice(0, left)
      left -= page.items.length
      // A search may find nothing in a page and go on.
      if (page.next === undefined || page.next === null) return
      before = page.next
    }
  }

  const api = {
    live,
    ask: (route: string, asking?: Written) => send(route, asking),
    askSlowly: (timeoutMs: number, route: string, asking?: Written) => send(route, asking, timeoutMs),
    async find(route: string, asking?: Written) {
      try {
        return await send(route, asking)
      } catch (problem) {
        if ((problem as { code?: unknown }).code === 'not_found') return null
        throw problem
      }
    },
    list,
    async *stream(route: string, query: Query) {
      yield* await wire.stream(route.slice(route.indexOf(' ') + 1), query)
    },
  }
  return api as Api
}
