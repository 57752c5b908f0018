// What the benchmark and its load generator say to each other.
import type { Scheme } from './requests.ts'

export interface LoadPlan {
  /** Connections are dealt out to them in turn: one server, or the nodes of a cluster. */
  readonly ports: readonly number[]
  readonly path: string
  readonly scheme: Scheme
  readonly secret: string
  readonly people: number
  readonly connections: number
  /** Sent first and not measured: the server's code gets hot. */
  readonly warmUp: number
  readonly messages: number
  /** First message number; lets a second load follow on the same server. */
  readonly from: number
}

export interface LoadResult {
  readonly elapsedMs: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** How many answers had which status, the warm-up included. */
  readonly statuses: Readonly<Record<string, number>>
}

export type ToGenerator = { readonly do: 'prepare'; readonly plan: LoadPlan } | { readonly do: 'measure' }

export type FromGenerator =
  | { readonly is: 'warm' }
  | { readonly is: 'done'; readonly result: LoadResult }
  | { readonly is: 'failed'; readonly error: string }
