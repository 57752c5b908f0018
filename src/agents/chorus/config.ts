// The options of the connector `chorus`: the agent's URL, and what may be reached.
import { z } from 'zod'
import { type ConnectorDeps, SwitchboardError, type TokenList } from '../../contract/index.ts'
import { optionsProblem, secret } from '../../kit/option-words.ts'

export const chorusOptions = z
  .strictObject({
    url: secret('The agent’s connection string.'),
    allow_private: z.boolean().default(false).describe('Allow private and loopback addresses.'),
    show_tools: z.boolean().default(false).describe('Show the agent’s tool calls in the chat.'),
  })
  .describe('A Chorus agent.')

export interface ChorusAgentConfig {
  /** A secret: everybody who has it can speak to the agent. */
  readonly url: string
  readonly allowPrivate: boolean
  readonly showTools: boolean
  readonly tokens: TokenList
  readonly publicBase: () => string
}

/** Throws `config_invalid` naming the key, never the value. */
export function readConfig(deps: ConnectorDeps): ChorusAgentConfig {
  const parsed = chorusOptions.safeParse(deps.agent.connector.options)
  if (!parsed.success) throw invalid(deps, optionsProblem(parsed) ?? 'malformed')
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
