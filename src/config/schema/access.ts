// The part of the schema that says who may speak and who may approve.
import { z } from 'zod'
import { idList, text } from './words.ts'

const mentionPattern = text('A regular expression; a match counts as a mention.').max(200).refine(compiles, {
  error: 'is not a regular expression that compiles',
})

export const mentionPatterns = z
  .array(mentionPattern)
  .describe('Regular expressions that count as a mention, beside a real one.')

const groupSchema = z
  .strictObject({
    require_mention: z.boolean().default(true).describe('Only messages that mention the agent are taken.'),
    allow_from: idList(
      'Senders who may speak in this group. Empty: the integration’s. ["*"]: any member.',
    ).default([]),
    approvals: z
      .boolean()
      .default(false)
      .describe(
        'Requests of `channel` hosts name no chat: true shows them in this group, too, whatever they are about.',
      ),
  })
  .describe('One group. Groups that are not listed are off.')

/** The policy itself, as written in place or in a file of its own. */
export const policySchema = z
  .strictObject({
    dm: z
      .enum(['pairing', 'allowlist', 'disabled'])
      .optional()
      .describe('Policy for direct messages. Default: what the platform says, in the table below.'),
    allow_from: idList('Sender ids that may talk.').default([]),
    approvers: idList(
      'Sender ids that may decide approvals. Users with the role `owner` or `approver` may, too, and senders who got the right by `pair approve --approver` or `access approver`.',
    ).default([]),
    groups: z.record(z.string(), groupSchema).default({}).describe('Groups by id.'),
    mention_patterns: mentionPatterns.optional(),
  })
  .describe('Who may speak, who may approve.')

export const accessSchema = z
  .strictObject({
    ...policySchema.shape,
    file: text(
      'A file that holds the policy instead (YAML or JSON). If it cannot be read, the door is closed.',
    ).optional(),
  })
  .superRefine((access, context) => {
    if (access.file === undefined) return
    const extra = [
      access.dm !== undefined,
      access.allow_from.length > 0,
      access.approvers.length > 0,
      Object.keys(access.groups).length > 0,
      access.mention_patterns !== undefined,
    ]
    if (extra.some(Boolean)) {
      context.addIssue({
        code: 'custom',
        path: ['file'],
        message: 'access takes either "file" or the policy itself, not both',
      })
    }
  })
  .describe('Who may speak, who may approve.')

export type PolicyConfig = z.output<typeof policySchema>
export type AccessConfig = z.output<typeof accessSchema>

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, 'iu')
    return true
  } catch {
    return false
  }
}
