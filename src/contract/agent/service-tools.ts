// Tools of others that a session may use beside ours: those of the service whose delivery began the turn.

export interface LentTool {
  /** `<server>__<tool>`, unique within 64 characters. */
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** As the server answered: content blocks and structured content go on unread. */
export interface LentToolResult {
  readonly content: readonly unknown[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

/** The servers are those of the session's newest delivery; they are forgotten with it. */
export interface LentToolSource {
  /** Those that can be listed in time. Never throws: a service that is away takes nothing else away. */
  list(session: string): Promise<readonly LentTool[]>
  /** Null: there is no such tool. */
  call(session: string, name: string, input: unknown): Promise<LentToolResult | null>
}
