// The messages between the benchmark and its load generator.
import type { Scheme } from './requests.ts'

export interface LoadPlan {
  /** Connections use these in turn: one server, or the nodes of a cluster. */
  readonly ports: readonly number[]
  readonly path: string
  readonly scheme: Scheme
  readonly secret: string
  readonly people: number
  readonly connections: number
  /** The number of messages that are sent first and not measured, until the server's code is compiled. */
  readonly warmUp: number
  readonly messages: number
  /** The first message number. A second load on the same server continues from there. */
  readonly from: number
}

export interface LoadResult {
  readonly elapsedMs: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The number of answers by status, the warm-up included. */
  readonly statuses: Readonly<Record<string, number>>
}

export type ToGenerator = { readonly do: 'prepare'; readonly plan: LoadPlan } | { readonly do: 'measure' }

export type FromGenerator =
  | { readonly is: 'warm' }
  | { readonly is: 'done'; readonly result: LoadResult }
  | { readonly is: 'failed'; readonly error: string }
