// The shape of a definition: one operation with its route, its inputs, the right that it needs, and how it runs.
import type { z } from 'zod'
import type { Action } from '../contract/index.ts'
import type { ApiCall, ServedOperation, WholeReply } from '../server/api/operation.ts'
import type { OperationContext } from './context.ts'

type Method = ServedOperation['method']
export type AnyRoute = `${Method} /api/${string}`

/** The parameters of a route: `id` of `GET /api/turns/{id}`. */
export type PathOf<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathOf<Rest>
  : unknown

/** What `run` gets: the context, who calls, and the parsed inputs. */
export type Call<Route extends string = string, Query = unknown, Body = unknown> = OperationContext &
  Omit<ApiCall, 'path' | 'query' | 'body'> & {
    readonly path: PathOf<Route>
    readonly query: Query
    readonly body: Body
  }

export interface Operation<
  Route extends AnyRoute = AnyRoute,
  Query = unknown,
  Body = unknown,
  Answer = unknown,
> extends Omit<ServedOperation, 'run'> {
  readonly route: Route
  /** For types only: what a client writes, and what it gets. */
  readonly types?: { readonly query: Query; readonly body: Body; readonly answer: Answer }
  readonly run: (call: OperationContext & ApiCall) => Promise<unknown>
}

/** Ties the types of route, inputs and answer together, for `run` and for every client. */
export function operation<
  const Route extends AnyRoute,
  Answer,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: {
  readonly route: Route
  readonly summary: string
  /** Default: `admin.read` for GET, else `admin.write`. */
  readonly action?: Action
  readonly query?: Query
  readonly body?: Body
  readonly gives?: (body: z.output<Body>) => boolean
  readonly run: (call: Call<Route, z.output<Query>, z.output<Body>>) => Promise<Answer>
}): Operation<Route, z.input<Query>, z.input<Body>, Exclude<Answer, WholeReply>> {
  const { route, summary, action, query, body, gives, run } = definition
  const [method, path] = route.split(' ') as [Method, string]
  return {
    route,
    method,
    path,
    summary,
    action: action ?? (method === 'GET' ? 'admin.read' : 'admin.write'),
    run: run as Operation['run'],
    ...(query ? { query } : {}),
    ...(body ? { body } : {}),
    ...(gives ? { gives: gives as NonNullable<Operation['gives']> } : {}),
  }
}

/** The operations as the API serves them, each run with this context. */
export function withContext(
  operations: readonly Operation[],
  context: OperationContext,
): readonly ServedOperation[] {
  return operations.map((one) => ({ ...one, run: (call) => one.run({ ...context, ...call }) }))
}
