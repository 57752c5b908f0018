// The part of the schema for integrations: the keys that all platforms share. The others are checked by the schema in the
// platform's own folder.
import { z } from 'zod'
import { CHANNEL_PLATFORM, type LoadedAdapters } from '../../contract/index.ts'
import { accessSchema } from './access.ts'
import { type AdapterEntry, adapterEntry, namesOfOthers } from './adapter-entry.ts'
import { id, text } from './words.ts'

export const replyToMode = z
  .enum(['off', 'first', 'all'])
  .describe('Which parts of an answer quote the message they answer.')
export const textChunkLimit = z
  .int()
  .min(64)
  .max(100_000)
  .describe('Longest text of one message, in characters; never above the platform’s own limit.')

export const sharedSchema = z.strictObject({
  id: id('The id of an integration'),
  enabled: z.boolean().default(true).describe('False keeps it configured but off.'),
  default: z
    .boolean()
    .default(false)
    .describe('Where notify_user goes when no channel is named. One at most.'),
  scope: z
    .union([z.literal('all'), z.strictObject({ agents: z.array(text('An agent’s id.')) })], {
      error: 'expected "all" or { agents: [id, …] }',
    })
    .optional()
    .describe('Which agents may send through it: all, or named ones. Default: the agents bound to it.'),
  access: accessSchema.optional(),
  ack_reaction: z
    .string()
    .optional()
    .describe('Reaction once the agent has the message. Default: the tunable.'),
  reply_to_mode: replyToMode.optional(),
  text_chunk_limit: textChunkLimit.optional(),
})

/** The key that says which platform. */
export const PLATFORM_KEY = 'platform'

export type IntegrationConfig = z.output<typeof sharedSchema> &
  Pick<AdapterEntry<typeof sharedSchema>, 'options' | 'adapter'> & { readonly platform: string }

export function integrationSchema(catalog: LoadedAdapters) {
  return adapterEntry({
    key: PLATFORM_KEY,
    shared: sharedSchema,
    // Integrations of channel servers are made from mcp_servers.
    find: (name) => (name === CHANNEL_PLATFORM ? undefined : catalog.platform(name)),
    mayBeMissing: someModuleFailed(catalog),
    others: namesOfOthers(catalog),
  }).transform(
    ({ name, shared, options, adapter }): IntegrationConfig => ({
      ...shared,
      platform: name,
      options,
      adapter,
    }),
  )
}

export function someModuleFailed({ modules }: LoadedAdapters): boolean {
  return modules.some((one) => one.problem !== null)
}
