// The options of the connector `chorus`: whom it posts to, and what it may reach.
import { z } from 'zod'
import { type ConnectorDeps, SwitchboardError, type TokenBook } from '../../contract/index.ts'

export const chorusOptions = z.strictObject({
  type: z.literal('chorus').optional(),
  url: z.string().min(1).describe('Reference to the connection string.'),
  allow_private: z.boolean().default(false).describe('Allow private and loopback addresses.'),
  show_tools: z.boolean().default(false).describe('Show tool calls in the chat.'),
})

export interface ChorusAgentConfig {
  /** A secret: whoever has it can speak to the agent. */
  readonly url: string
  readonly allowPrivate: boolean
  readonly showTools: boolean
  readonly tokens: TokenBook
  readonly publicBase: () => string
}

/** Throws `config_invalid` naming the key, never the value. */
export function readConfig(deps: ConnectorDeps): ChorusAgentConfig {
  const parsed = chorusOptions.safeParse(deps.agent.connector.options)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalid(deps, `${issue?.path.join('.') || 'options'}: ${issue?.message ?? 'malformed'}`)
  }
  if (!deps.tokens || !deps.publicBase) throw invalid(deps, 'it needs a server that callbacks can come to')
  const { url: reference, allow_private, show_tools } = parsed.data
  const url = deps.secret(reference).trim()
  if (!/^https?:\/\/\S+$/.test(url)) throw invalid(deps, `${reference} does not hold a connection string`)
  const { tokens, publicBase } = deps
  return { url, allowPrivate: allow_private, showTools: show_tools, tokens, publicBase }
}

function invalid(deps: ConnectorDeps, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `agent ${deps.agent.id}: connector.${problem}`)
}
