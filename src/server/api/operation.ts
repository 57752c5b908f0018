// The shape of an operation: what an operator may ask or do. The API serves them, and /api/openapi.json describes them.
import type { z } from 'zod'
import type { Action, Desk, HttpReply } from '../../contract/index.ts'

export interface Call<Path = Record<string, string>, Query = unknown, Body = unknown> {
  readonly desk: Desk
  readonly path: Path
  readonly query: Query
  readonly body: Body
  /** Who asks, as the ledger will name it. */
  readonly by: string
  /** The user who asks; null: the operator, by the control socket or the admin token. */
  readonly user: string | null
  /** By which surface: `api`, `cli` or `console`. */
  readonly via: string
  /** Whether the caller may do this, too. */
  readonly may: (action: Action) => boolean
  readonly now: number
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `/api/turns/{id}`. */
  readonly path: string
  readonly summary: string
  readonly action: Action
  /** Whether this call gives rights away: then `rights.give` is needed, too. */
  readonly gives?: (body: unknown) => boolean
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** JSON to answer 200 with, or a whole reply. */
  readonly run: (call: Call) => Promise<unknown>
}

/** Ties the types of an operation's schemas to its `run`; the table holds them all alike. */
export function operation<Query = undefined, Body = undefined>(definition: {
  readonly method: Operation['method']
  readonly path: string
  readonly summary: string
  readonly action?: Action
  readonly gives?: (body: Body) => boolean
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  readonly run: (call: Call<Record<string, string>, Query, Body>) => Promise<unknown>
}): Operation {
  const action = definition.action ?? (definition.method === 'GET' ? 'admin.read' : 'admin.write')
  const { gives, run, ...rest } = definition
  return {
    ...rest,
    action,
    run: run as Operation['run'],
    ...(gives ? { gives: gives as NonNullable<Operation['gives']> } : {}),
  }
}

const REPLY = Symbol('reply')

/** Marks an answer of `run` as a whole reply rather than as JSON to send. */
export function whole(reply: HttpReply): unknown {
  return { [REPLY]: reply }
}

export function wholeReply(answer: unknown): HttpReply | null {
  if (typeof answer !== 'object' || answer === null || !(REPLY in answer)) return null
  return answer[REPLY] as HttpReply
}
