// Tools of other services that a session may use beside ours: those of the service whose delivery began the turn.

export interface ServiceTool {
  /** `<server>__<tool>`, unique within 64 characters. */
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** The server's answer. Content blocks and structured content are passed on unread. */
export interface ServiceToolResult {
  readonly content: readonly unknown[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

/** The servers of the session's newest delivery. They are forgotten with it. */
export interface ServiceToolSource {
  /** Lists the tools that can be listed in time. Never throws: an unavailable service affects only its own tools. */
  list(session: string): Promise<readonly ServiceTool[]>
  /** Calls a tool. Null: there is no such tool. */
  call(session: string, name: string, input: unknown): Promise<ServiceToolResult | null>
}
