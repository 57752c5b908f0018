// Hints: wake-ups after a change in the store.
import type { Signal } from './message.ts'

/** Sent after the commit, on this node and, with PostgreSQL, on the others. Lossy: sweeps find what a hint missed. */
export type Hint =
  | { readonly kind: 'turns'; readonly lane: string; readonly scope: string }
  /** `settled`: nothing in the lane became due; sent for callers that wait for the outcome. */
  | { readonly kind: 'sends'; readonly lane: string; readonly scope: string; readonly settled?: true }
  | { readonly kind: 'approval'; readonly id: string }
  | { readonly kind: 'turn'; readonly id: string }
  /** A takeover of this address was requested, began or ended. */
  | { readonly kind: 'takeover'; readonly id: string }
  | { readonly kind: 'access' }
  /** A secret, or an integration added by command, changed. */
  | { readonly kind: 'config' }
  /** A node came or left, or an agent attached to one or left it. */
  | { readonly kind: 'nodes' }
  /** Hints may have been lost (a connection was lost and restored): check everything. */
  | { readonly kind: 'missed' }
  /** For people who watch this conversation through another node; null: read its rows. Never stored. */
  | { readonly kind: 'signal'; readonly to: string; readonly signal: Signal | null }
