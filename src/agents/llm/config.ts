// The options of the connector `llm`: which model behind which API, what it may do, and where it stops.
import { z } from 'zod'
import { type ConnectorDeps, SECRET_REFERENCE, SwitchboardError } from '../../contract/index.ts'
import { httpUrl, optionsProblem, secret, text, textOrSecret } from '../../kit/option-words.ts'

const whole = (description: string, most: number) => z.int().min(1).max(most).describe(description)

const limits = z
  .strictObject({
    steps: whole('Model calls a turn.', 1_000).default(25),
    minutes: z
      .number()
      .positive()
      .max(1_440)
      .default(10)
      .describe('Minutes of work a turn; waiting for an approval does not count.'),
    tokens: whole('Tokens a turn, input and output.', 100_000_000).default(200_000),
    tokens_per_day: whole('Tokens of this agent a day (UTC). Absent: no limit.', 1e12).optional(),
    cost_per_day: z
      .number()
      .positive()
      .describe('Cost of this agent a day, by prices. Absent: no limit.')
      .optional(),
    calls: whole('Tool calls that are run of one answer.', 100).default(20),
    tool_seconds: whole('Seconds that a tool may take.', 3_600).default(60),
    output_tokens: whole('Tokens of one answer.', 1_000_000).default(8_192),
    history_tokens: whole('Tokens of earlier turns that are shown, about.', 10_000_000).default(50_000),
  })
  .describe('Where a turn, a day and an answer end.')

const price = z.number().min(0)
const prices = z
  .strictObject({
    input: price.describe('A million input tokens.'),
    output: price.describe('A million output tokens.'),
    cache_read: price.describe('A million tokens read from the cache; absent: as input.').optional(),
    cache_write: price.describe('A million tokens written to the cache; absent: as input.').optional(),
  })
  .describe('Prices in any one currency; without them nothing is said of cost.')

const mcpServer = z
  .strictObject({
    command: text('Program to start.').optional(),
    args: z.array(z.string()).default([]).describe('Its arguments.'),
    env: z
      .record(z.string(), textOrSecret)
      .default({})
      .describe('Its environment: only this, plus PATH, HOME and the like.'),
    cwd: text('Folder it runs in.').optional(),
    url: httpUrl('Streamable HTTP address to connect to.').optional(),
    headers: z.record(z.string(), textOrSecret).default({}).describe('Headers of every request.'),
  })
  .refine((one) => (one.command === undefined) !== (one.url === undefined), {
    error: 'an MCP server takes exactly one of "command" and "url"',
  })

export const llmOptions = z
  .strictObject({
    provider: z
      .enum(['anthropic', 'openai', 'openai-compatible'])
      .describe(
        'Which API it speaks; openai-compatible: Ollama, vLLM, OpenRouter and the like, at base_url.',
      ),
    base_url: httpUrl('Base URL of the API; absent: the vendor’s own.').optional(),
    api_key: secret('The API key.').optional(),
    model: text('The model, as the API names it.'),
    fallback: text('The model that is asked when the first one stays away.').optional(),
    system: z
      .string()
      .meta({
        description:
          'System prompt: a text, or file:path. {agent}, {user}, {user_id}, {platform}, {integration} and {chat} are filled in.',
        'x-secret': 'or-text',
      })
      .optional(),
    images: z
      .boolean()
      .default(true)
      .describe('Whether the model takes pictures (and PDFs, where the API does).'),
    mcp: z
      .record(
        z
          .string()
          .regex(/^[A-Za-z0-9_-]{1,32}$/, { error: 'a name has 1 to 32 letters, digits, "_" or "-"' }),
        mcpServer,
      )
      .default({})
      .describe('MCP servers whose tools it may use, by name. Nothing comes in through them.'),
    risky_tools: z
      .array(z.string().min(1))
      .describe(
        'Tools that wait for an approval: names, or a beginning with *. Absent: every tool that does not only read.',
      )
      .optional(),
    limits: limits.prefault({}),
    prices: prices.optional(),
  })
  .superRefine((options, context) => {
    if (options.provider === 'openai-compatible' && options.base_url === undefined)
      context.addIssue({ code: 'custom', path: ['base_url'], message: 'openai-compatible needs a base_url' })
    if (options.provider !== 'openai-compatible' && options.api_key === undefined)
      context.addIssue({ code: 'custom', path: ['api_key'], message: `${options.provider} needs an api_key` })
    if (options.limits.cost_per_day !== undefined && options.prices === undefined)
      context.addIssue({
        code: 'custom',
        path: ['limits', 'cost_per_day'],
        message: 'cost_per_day needs prices',
      })
  })
  .describe('A model behind an API.')

export type LlmOptions = z.output<typeof llmOptions>

export interface LlmConfig extends LlmOptions {
  readonly key: string | null
  /** The operator's own words; empty: none. */
  readonly systemText: string
  /** Resolves secrets in `env` and `headers` of MCP servers. */
  readonly value: (written: string) => string
}

/** Throws `config_invalid` naming the key, never the value. */
export function readConfig(deps: Pick<ConnectorDeps, 'agent' | 'secret'>): LlmConfig {
  const parsed = llmOptions.safeParse(deps.agent.connector.options)
  if (!parsed.success) throw invalid(deps, optionsProblem(parsed) ?? 'malformed')
  const options = parsed.data
  const value = (written: string) => (SECRET_REFERENCE.test(written) ? deps.secret(written) : written)
  const key = options.api_key === undefined ? null : deps.secret(options.api_key).trim()
  if (key === '') throw invalid(deps, `api_key: ${options.api_key} is empty`)
  // A header cannot carry other characters, and the SDK's error would show the key.
  if (key !== null && !/^[\x21-\x7e]+$/.test(key))
    throw invalid(deps, `api_key: ${options.api_key} does not hold a key`)
  return {
    ...options,
    key,
    value,
    systemText: options.system === undefined ? '' : value(options.system).trim(),
  }
}

function invalid(deps: Pick<ConnectorDeps, 'agent'>, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `agent ${deps.agent.id}: connector.${problem}`)
}
