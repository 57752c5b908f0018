// The part of the schema for agents: connector, channels, bindings, schedules, messaging.
import { z } from 'zod'
import { cronProblem } from './cron.ts'
import { httpUrl, id, rateLimit, secret, text, textOrSecret } from './words.ts'

const channelConnector = z
  .strictObject({
    type: z.literal('channel'),
    dialect: z
      .enum(['claude', 'nexo'])
      .default('claude')
      .describe('Prefix of capabilities and notifications.'),
  })
  .describe('A host that speaks MCP channels (Claude Code and others) attaches.')

const connectorSchema = z.discriminatedUnion('type', [
  channelConnector,
  z
    .strictObject({
      type: z.literal('chorus'),
      url: secret('The agent’s connection string.'),
      allow_private: z.boolean().default(false).describe('Allow private and loopback addresses.'),
      show_tools: z.boolean().default(false).describe('Show the agent’s tool calls in the chat.'),
    })
    .describe('A Chorus agent.'),
  z
    .strictObject({
      type: z.literal('claude-code'),
      command: text('The program.').default('claude'),
      cwd: text('Folder it runs in, relative to this file.').optional(),
      args: z.array(z.string()).default([]).describe('More arguments.'),
      model: text('Model.').optional(),
      permission_mode: text('Permission mode.').optional(),
      max_processes: z.int().min(1).max(1000).default(8).describe('Processes at once.'),
    })
    .describe('Claude Code, one process per session.'),
  z
    .strictObject({
      type: z.literal('acp'),
      command: text('The program.'),
      args: z.array(z.string()).default([]).describe('Arguments.'),
      cwd: text('Folder it runs in, relative to this file.').optional(),
      env: z.record(z.string(), textOrSecret).default({}).describe('Its environment.'),
    })
    .describe('An ACP agent over stdio.'),
  z
    .strictObject({
      type: z.literal('llm'),
      provider: z.enum(['anthropic', 'openai']).describe('Which API it speaks.'),
      base_url: httpUrl('Base URL of the API.').optional(),
      api_key: secret('The API key.').optional(),
      model: text('Model.'),
      system: text('System prompt.').optional(),
      risky_tools: z.array(z.string()).default([]).describe('Tools that need an approval.'),
    })
    .describe('A model behind an API.'),
  z.strictObject({ type: z.literal('demo') }).describe('The built-in demo agent; no key needed.'),
])

export const CONNECTOR_NAMES = connectorSchema.options.map((option) => option.shape.type.value)

export const MIN_CONTENT_CHARS = 64

const approvedSchema = z.strictObject({
  server: text('Name of the server, matched exactly.'),
  plugin_source: text('Where it must have been installed from, e.g. slack@anthropic.').optional(),
  outbound_tool_name: text('Tool that sends.').default('send_message'),
  outbound_arguments: z
    .record(text('An argument of that tool.'), z.enum(['target', 'body', 'thread']))
    .optional()
    .describe('Which arguments of that tool take what; absent: the schema of the tool decides.'),
  rate_limit: rateLimit.optional().describe('Inbound limit of this server; 0/0 lifts the default.'),
})

export const channelsSchema = z
  .strictObject({
    enabled: z.boolean().default(false).describe('The killswitch.'),
    max_content_chars: z
      .int()
      .nonnegative()
      .default(16_000)
      .describe('Longest inbound content in code points; 0 = no cap, else at least 64.'),
    default_rate_limit: rateLimit.optional().describe('Inbound limit of a server without its own.'),
    approved: z.array(approvedSchema).default([]).describe('Servers that were vetted.'),
  })
  .superRefine((channels, context) => {
    const cap = channels.max_content_chars
    if (cap > 0 && cap < MIN_CONTENT_CHARS) {
      context.addIssue({
        code: 'custom',
        path: ['max_content_chars'],
        message: `channels.max_content_chars (${cap}) is below minimum ${MIN_CONTENT_CHARS}`,
      })
    }
    const seen = new Set<string>()
    for (const [index, entry] of channels.approved.entries()) {
      if (seen.has(entry.server)) {
        context.addIssue({
          code: 'custom',
          path: ['approved', index, 'server'],
          message: `channels.approved lists server "${entry.server}" twice`,
        })
      }
      seen.add(entry.server)
    }
  })
  .describe('MCP channel servers of this agent.')

export const bindingSchema = z
  .strictObject({
    plugin: text('The platform: telegram, slack, …'),
    instance: text(
      'The integration’s id. May be left out where the platform has one integration.',
    ).optional(),
    conversations: z
      .array(text('A chat, or chat/topic.'))
      .min(1, { error: 'lists no conversation; leave the key out to take all that no other binding took' })
      .optional()
      .describe('Which conversations; absent: all that no other binding took.'),
    allowed_channel_servers: z
      .array(text('Name of a server.'))
      .default([])
      .describe('Channel servers this binding may route through; empty = none.'),
    rate_limit: rateLimit
      .optional()
      .describe('Limit per sender in this binding; default: the tunable sender_limit.'),
    context: text('What the agent is told about this place.').optional(),
  })
  .describe('Which integration leads to this agent.')

const scheduleSchema = z
  .strictObject({
    id: id('The id of a schedule'),
    cron: z
      .string()
      .superRefine((written, context) => {
        const message = cronProblem(written)
        if (message !== null) context.addIssue({ code: 'custom', message })
      })
      .describe('Five cron fields.'),
    tz: z
      .string()
      .refine(isTimeZone, { error: 'is not a time zone; write e.g. Europe/Oslo or UTC' })
      .default('UTC')
      .describe('Time zone.'),
    prompt: text('What the agent is told.'),
    missed: z.enum(['run', 'skip']).default('run').describe('What happens to one that was missed.'),
  })
  .describe('A turn that starts by itself.')

const messagingSchema = z
  .strictObject({
    allow: z
      .array(
        text('platform:target, platform:* or *').refine(isAllowEntry, {
          error: 'expected platform:target, platform:* or *',
        }),
      )
      .optional()
      .describe('Targets this agent may send to.'),
    file: text('A messaging.json: agent id → list. Missing or malformed denies all.').optional(),
  })
  .superRefine((messaging, context) => {
    if ((messaging.allow === undefined) === (messaging.file === undefined)) {
      context.addIssue({ code: 'custom', path: [], message: 'messaging takes either "allow" or "file"' })
    }
  })
  .describe('Where send_message may go. Nothing listed: denied.')

export const agentSchema = z
  .strictObject({
    id: id('The id of an agent'),
    connector: connectorSchema.prefault({ type: 'channel' }).describe('How the agent is reached.'),
    channels: channelsSchema.optional(),
    inbound_bindings: z.array(bindingSchema).default([]).describe('Integrations that lead here.'),
    schedules: z.array(scheduleSchema).default([]).describe('Turns that start by themselves.'),
    notify_on: z
      .enum(['none', 'completion', 'failure', 'both'])
      .default('none')
      .describe('When the owner hears of a turn that no person started.'),
    messaging: messagingSchema.optional(),
  })
  .describe('One agent, reached through one connector.')

export type AgentConfig = z.output<typeof agentSchema>
export type BindingConfig = z.output<typeof bindingSchema>

export function isAllowEntry(entry: string): boolean {
  return entry === '*' || /^[a-z0-9_-]+:\S/i.test(entry)
}

function isTimeZone(written: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: written })
    return true
  } catch {
    return false
  }
}
