// The module of the connector `llm`: what Switchboard knows before it runs one.
import type {
  AgentSettings,
  ConnectorModule,
  GateView,
  Options,
  SecurityFinding,
} from '../../contract/index.ts'
import { llmOptions } from './config.ts'

const COMPATIBLE = 'openai-compatible'

/** A private server may be anywhere, and most need no key. Options with only a base URL mean one. */
const isCompatible = ({ provider, base_url }: Options) =>
  provider === undefined ? base_url !== undefined : provider === COMPATIBLE

export const llmModule: ConnectorModule = {
  name: 'llm',
  options: llmOptions,
  docs: 'docs/agents/llm.md',
  asks: ({ risky_tools: risky }) => !Array.isArray(risky) || risky.length > 0,
  title: 'A model behind an API key',
  setup: {
    questions: [
      {
        key: 'provider',
        flag: 'provider',
        ask: 'API (anthropic, openai or openai-compatible)',
        default: 'anthropic',
        when: ({ base_url }) => base_url === undefined,
      },
      { key: 'model', flag: 'model', ask: 'Model, as the API names it' },
      {
        key: 'base_url',
        flag: 'base-url',
        ask: 'Where the API is (http://127.0.0.1:11434/v1 for Ollama)',
        when: isCompatible,
      },
      { key: 'api_key', flag: 'api-key', ask: 'API key', secret: true, optional: isCompatible },
    ],
    complete: (answers) =>
      answers.provider === undefined && isCompatible(answers) ? { provider: COMPATIBLE } : {},
    /** Asks the model for one token. This proves the key, the model and the address, or names the wrong one. */
    async try(options, deps) {
      const { tryModel } = await import('./try-model.ts')
      return tryModel(options, deps)
    },
  },
  doctor(agent) {
    const parsed = llmOptions.safeParse(agent.connector.options)
    if (!parsed.success) return []
    const { provider, model, base_url, limits, risky_tools } = parsed.data
    const at = `${agent.origin}.connector`
    const where = base_url === undefined ? provider : `${provider} at ${new URL(base_url).host}`
    const dayless = limits.tokens_per_day === undefined && limits.cost_per_day === undefined
    return [
      { gate: 'model', pass: true, reason: `${model} (${where})`, key: `${at}.model` },
      ...(base_url !== undefined && isPlain(new URL(base_url)) ? [plainGate(`${at}.base_url`)] : []),
      {
        gate: 'limits',
        pass: true,
        reason: dayless
          ? `${limits.steps} steps, ${limits.minutes} min and ${limits.tokens} tokens a turn; none a day`
          : `${limits.steps} steps, ${limits.minutes} min and ${limits.tokens} tokens a turn, and a limit a day`,
        key: `${at}.limits.tokens_per_day`,
      },
      ...(risky_tools === undefined
        ? []
        : [
            {
              gate: 'approvals',
              pass: true,
              flagged: true as const,
              reason: `only ${risky_tools.length} listed tools wait for an approval`,
              key: `${at}.risky_tools`,
            },
          ]),
    ]
  },
  security: spending,
  create: async (deps) => (await import('./index.ts')).createLlmConnector(deps),
}

/** Findings about the daily cost, and about tools that do not ask. */
function spending({ id, origin, connector }: AgentSettings): readonly SecurityFinding[] {
  const parsed = llmOptions.safeParse(connector.options)
  if (!parsed.success) return []
  const { limits, risky_tools } = parsed.data
  const found: SecurityFinding[] = []
  if (limits.tokens_per_day === undefined && limits.cost_per_day === undefined)
    found.push({
      severity: 'low',
      what: `agent ${id} has no limit of tokens or cost a day`,
      key: `${origin}.connector.limits.tokens_per_day`,
    })
  if (risky_tools !== undefined)
    found.push({
      severity: 'medium',
      what: `of the tools of agent ${id} only those that are listed wait for an approval`,
      key: `${origin}.connector.risky_tools`,
    })
  return found
}

function plainGate(key: string): GateView {
  const reason = 'the API key and what people write go over the network unencrypted'
  return { gate: 'connection', pass: true, flagged: true, open: 'medium', reason, key }
}

function isPlain({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
