// The routes of the API as types: what a client sends to each, and what it gets. They are derived from the operations,
// and nothing of them is left at run time.
import type { OPERATIONS } from './index.ts'
import type { PathOf } from './operation.ts'

type Defined = (typeof OPERATIONS)[number]

/** `GET /api/turns/{id}`, and every other route. */
export type Route = Defined['route']

type Types<R extends Route> = NonNullable<Extract<Defined, { readonly route: R }>['types']>

/** The query as it is written into the URL, before it is parsed. */
export type QueryOf<R extends Route> = Types<R>['query']
export type BodyOf<R extends Route> = Types<R>['body']

/** The JSON of a good answer. An operation without a result answers `{ ok: true }`. */
export type AnswerOf<R extends Route> = Types<R>['answer'] extends infer Answer
  ? [Answer] extends [object]
    ? Answer
    : { readonly ok: true }
  : never

/** Routes that answer with `items` and `next`. */
export type ListRoute = {
  [R in Route]: AnswerOf<R> extends { readonly items: readonly unknown[] } ? R : never
}[Route]

/** One item of a list. */
export type ItemOf<R extends Route> =
  AnswerOf<R> extends { readonly items: readonly (infer Item)[] } ? Item : never

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : Record<never, never> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value }

/** What a route is asked with: the parameters of its path, its query and its body. */
export type AskingOf<R extends Route> = (keyof PathOf<R> extends never
  ? unknown
  : { readonly path: PathOf<R> }) &
  Part<'query', QueryOf<R>> &
  Part<'body', BodyOf<R>>

/** Leaves the argument out where a route needs none. */
export type Asking<R extends Route> =
  Record<never, never> extends AskingOf<R> ? [AskingOf<R>?] : [AskingOf<R>]
