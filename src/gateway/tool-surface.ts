// The tool surface that the daemon serves, behind the token table and `authorize`. Tools and schemas load with the
// first request, so that the start does not wait for them.
import {
  type Action,
  agentById,
  defined,
  type HeadEndpoint,
  type Logger,
  type Principal,
  type Resource,
  type Settings,
  type TokenRow,
  type ToolActions,
} from '../contract/index.ts'
import { authorize } from '../core/people/authorize.ts'
import type { Roster } from '../core/roster.ts'
import { VERSION } from '../runtime/version.ts'
import type { AnswerWay } from '../tools/index.ts'
import type { McpEndpoint, ToolGrant } from '../tools/mcp/create-mcp-endpoint.ts'
import type { ServiceTools } from '../tools/mcp/service-tools.ts'
import type { Tokens } from './access/tokens.ts'

export interface ToolSurfaceDeps {
  readonly actions: ToolActions
  readonly tokens: Pick<Tokens, 'find'>
  readonly settings: () => Settings
  readonly log: Logger
  readonly services?: ServiceTools
  readonly roster: Pick<Roster, 'get'>
}

/** The actions of each kind of token; `authorize` decides on whose behalf. */
const ACTIONS: Readonly<Record<string, readonly Action[]>> = {
  agent: ['message.send', 'notify.send'],
  session: ['message.send', 'notify.send'],
  notify: ['notify.send'],
}

/** Serves `/mcp` and `/mcp/notify`. */
export function createToolSurface(deps: ToolSurfaceDeps): HeadEndpoint {
  const { actions, tokens, settings, log, services, roster } = deps
  let loading: Promise<McpEndpoint> | null = null
  const authenticate = async (bearer: string): Promise<ToolGrant | null> => {
    const row = await tokens.find(bearer)
    // A token may outlive its agent's configuration, but opens nothing meanwhile.
    const agent = row === null ? undefined : agentById(settings(), row.scope.agent ?? '')
    return row === null || agent === undefined
      ? null
      : grantOf(row, { channels: agent.channels !== null, answers: answerWay(roster, agent.id) })
  }
  return {
    async admit(head) {
      loading ??= import('../tools/mcp/create-mcp-endpoint.ts').then(({ createMcpEndpoint }) =>
        createMcpEndpoint({
          actions,
          authenticate,
          log,
          version: VERSION,
          ...defined({ services }),
        }),
      )
      return (await loading).admit(head)
    },
  }
}

/** An attached host answers by tools only; so does an agent that does not run here, as far as is known. */
function answerWay(roster: Pick<Roster, 'get'>, agent: string): AnswerWay {
  const connector = roster.get(agent)?.connector
  if (!connector?.holdsDecisions) return 'tools'
  return connector.endsTurns ? 'final_text' : 'own_answer'
}

/** Returns what the token permits; null: no tools. */
function grantOf(
  row: Pick<TokenRow, 'kind' | 'scope'>,
  facts: Pick<ToolGrant, 'channels' | 'answers'>,
): ToolGrant | null {
  const { agent = '', session = null, user = null, turn = null } = row.scope
  const actions = ACTIONS[row.kind]
  if (actions === undefined || agent === '') return null
  const principal: Principal =
    session === null ? { kind: 'agent', id: agent } : { kind: 'session', id: session, agent, user }
  const own: Resource =
    session === null ? { kind: 'agent', id: agent } : { kind: 'session', id: session, agent }
  return {
    agent,
    session,
    turn,
    user,
    ...facts,
    may: (action) => actions.includes(action) && authorize(principal, action, own).allowed,
  }
}
