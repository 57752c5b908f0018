// The messages between a worker and the main thread. One task runs at a time, and asks one question at a time.

export type ToWorker =
  | { readonly kind: 'task'; readonly task: string; readonly input: unknown }
  | {
      readonly kind: 'answer'
      readonly value?: unknown
      readonly failed?: { readonly message: string; readonly code?: string }
    }

export type FromWorker =
  /** `thread`: its folder under /proc; null where the system has none. */
  | { readonly kind: 'ready'; readonly thread: string | null }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ask'; readonly question: unknown }
