// An operation as the API serves it: its route, what it needs, and how it runs. `src/operations/` defines them.
import type { z } from 'zod'
import type { Action, HttpReply } from '../../contract/index.ts'

export interface ApiCall {
  readonly path: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  /** The caller's name in the ledger. */
  readonly by: string
  /** The user who calls; null: the operator, by the control socket or the admin token. */
  readonly user: string | null
  /** The surface of the call: `api`, `cli` or `console`. */
  readonly via: string
  /** Whether the caller has this right, too. */
  readonly may: (action: Action) => boolean
  readonly now: number
}

export interface ServedOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `/api/turns/{id}`. */
  readonly path: string
  readonly summary: string
  readonly action: Action
  /** Whether this call gives rights away. It then needs `rights.give`, too. */
  readonly gives?: (body: unknown) => boolean
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** Returns JSON to answer 200 with, or a whole reply. */
  readonly run: (call: ApiCall) => Promise<unknown>
}

const REPLY = Symbol('reply')

/** An answer of `run` that is a whole reply rather than JSON. */
export interface WholeReply {
  readonly [REPLY]: HttpReply
}

export function whole(reply: HttpReply): WholeReply {
  return { [REPLY]: reply }
}

export function wholeReply(answer: unknown): HttpReply | null {
  if (typeof answer !== 'object' || answer === null || !(REPLY in answer)) return null
  return answer[REPLY] as HttpReply
}
