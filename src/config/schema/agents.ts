// The part of the schema for agents: connector, channels, bindings, schedules, messaging.
import { z } from 'zod'
import type { LoadedAdapters } from '../../contract/index.ts'
import { adapterEntry, namesOfOthers } from './adapter-entry.ts'
import { cronProblem } from './cron.ts'
import { someModuleFailed } from './integrations.ts'
import { id, rateLimit, text } from './words.ts'

/** The key that says which connector, and the one of an agent that names none. */
export const CONNECTOR_KEY = 'type'
export const DEFAULT_CONNECTOR = { type: 'channel' }

function connectorSchema(catalog: LoadedAdapters) {
  return adapterEntry({
    key: CONNECTOR_KEY,
    shared: z.strictObject({}),
    find: (name) => catalog.connector(name),
    mayBeMissing: someModuleFailed(catalog),
    others: namesOfOthers(catalog),
  })
    .transform(({ name, options, adapter }) => ({ type: name, options, adapter }))
    .prefault(DEFAULT_CONNECTOR)
    .describe('How the agent is reached.')
}

const MIN_CONTENT_CHARS = 64

const approvedSchema = z.strictObject({
  server: text('Name of the server, matched exactly.'),
  plugin_source: text('Where it must have been installed from, e.g. slack@anthropic.').optional(),
  outbound_tool_name: text('Tool that sends.').default('send_message'),
  outbound_arguments: z
    .record(text('An argument of that tool.'), z.enum(['target', 'body', 'thread']))
    .optional()
    .describe('Which arguments of that tool take what; absent: the schema of the tool decides.'),
  single_conversation: z
    .boolean()
    .optional()
    .describe(
      'The server has one conversation, so that a reply goes out also where its tool has no argument for a target; absent: as long as one conversation spoke.',
    ),
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
    plugin: text('The platform of the integration.'),
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
    trust: z
      .enum(['full', 'read_only', 'none'])
      .default('full')
      .describe(
        'Which tools may run for what is said here. read_only: the reading tools of Switchboard, and read_only_tools. none: no tool. Answers pass always.',
      ),
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

export const agentSchema = (catalog: LoadedAdapters) =>
  z
    .strictObject({
      id: id('The id of an agent'),
      connector: connectorSchema(catalog),
      channels: channelsSchema.optional(),
      inbound_bindings: z.array(bindingSchema).default([]).describe('Integrations that lead here.'),
      schedules: z.array(scheduleSchema).default([]).describe('Turns that start by themselves.'),
      notify_on: z
        .enum(['none', 'completion', 'failure', 'both'])
        .default('none')
        .describe('When the owner hears of a turn that no person started.'),
      messaging: messagingSchema.optional(),
      read_only_tools: z
        .array(text('Name of a tool.'))
        .default([])
        .describe('Tools that only read, by your word: they run where the trust of a binding is read_only.'),
    })
    .describe('One agent, reached through one connector.')

export type AgentConfig = z.output<ReturnType<typeof agentSchema>>
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
