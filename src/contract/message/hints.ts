// Wake-ups: what whoever waits is told when something changed in the store.
import type { Signal } from './message.ts'

/** Told after the commit, on this node and (PostgreSQL) on the others. Lossy: sweeps find what a hint missed. */
export type Hint =
  | { readonly kind: 'turns'; readonly lane: string; readonly scope: string }
  /** `settled`: nothing in the lane became due; told for those who wait for the outcome. */
  | { readonly kind: 'sends'; readonly lane: string; readonly scope: string; readonly settled?: true }
  | { readonly kind: 'approval'; readonly id: string }
  | { readonly kind: 'turn'; readonly id: string }
  /** A takeover was asked for, began or ended: of this address. */
  | { readonly kind: 'takeover'; readonly id: string }
  | { readonly kind: 'access' }
  /** A secret or an integration that was added by command changed. */
  | { readonly kind: 'config' }
  /** A node came or went, or an agent attached to one or left it. */
  | { readonly kind: 'nodes' }
  /** Hints may have been missed (a connection was lost and is back): look around. */
  | { readonly kind: 'missed' }
  /** News for whoever looks at this conversation through another node; null: look at its rows. Never stored. */
  | { readonly kind: 'signal'; readonly to: string; readonly signal: Signal | null }
