// The part of the schema for numbers and policies. All of them have a default.
import { z } from 'zod'
import { DEFAULT_TUNABLES as D, DEFAULT_TAKEOVER } from '../../contract/index.ts'
import { mentionPatterns } from './access.ts'
import { replyToMode, textChunkLimit } from './integrations.ts'
import { duration, optionalDuration, rateLimit, text } from './words.ts'

export const tunablesSchema = z
  .strictObject({
    max_attempts: z
      .int()
      .min(1)
      .max(100)
      .default(D.maxAttempts)
      .describe('How often a turn is handed over before it is given up.'),
    redeliver_after: duration(
      'How long an agent behind `http` or `chorus` that took a turn may stay silent. Then the turn ends as `failed: agent_silent`. A connector of a module may be offered the turn again instead.',
      D.redeliverAfterMs,
    ),
    unseen_notice: duration(
      'How long a turn may lie at a host of a channel without evidence that it was seen before its sender is told, and doctor names it.',
      D.unseenNoticeMs,
    ),
    queue_expiry: duration('How long a turn may wait for its agent.', D.queueExpiryMs),
    approval_expiry: duration(
      'How long an approval waits. Then the call is denied; a `channel` host gets no verdict, and its dialog stays open.',
      D.approvalExpiryMs,
    ),
    sender_limit: rateLimit.default(D.senderLimit).describe('Limit per sender; 0/0 = none.'),
    flood_limit: rateLimit
      .default(D.floodLimit)
      .describe('Limit per integration of those who may speak; 0/0 = none.'),
    stranger_limit: rateLimit
      .default(D.strangerLimit)
      .describe('Limit per integration of all who may not speak, apart from the others; 0/0 = none.'),
    recipient_limit: rateLimit
      .default(D.recipientLimit)
      .describe('Limit of notices per recipient; 0/0 = none.'),
    tool_wait: duration('How long a sending tool waits for the confirmation.', D.toolWaitMs),
    takeover_timeout: duration(
      'How long after the holder’s last word a takeover ends by itself; 0 = never.',
      D.takeoverTimeoutMs,
    ),
    unknown_policy: z
      .enum(['note', 'hold'])
      .default(D.unknownPolicy)
      .describe(
        'A send whose outcome the platform cannot tell: sent again, at most four times with a visible note, or held for the operator.',
      ),
    max_body_bytes: z.int().min(1024).max(104_857_600).default(D.maxBodyBytes).describe('Largest HTTP body.'),
    send_retry_base: duration('First pause before a send is tried again.', D.sendRetryBaseMs),
    send_retry_max: duration('Longest pause between tries.', D.sendRetryMaxMs),
    send_expiry: duration(
      'How long a send is tried again, and the platform is asked what became of one whose answer was lost.',
      D.sendExpiryMs,
    ),
    ack_reaction: z
      .string()
      .default(D.ackReaction)
      .describe('Reaction once the agent has the message; empty = none.'),
    send_roots: z
      .array(text('A folder: absolute, relative to this file, or ~/…'))
      .max(100)
      .optional()
      .describe(
        'Folders whose files hosts of this machine may attach to an answer; [] = none. Left out: the folder of this file, the host’s working folder and the temporary folder. Never the configuration, keys, `file:` secrets and what begins with a dot in your home.',
      ),
    mention_patterns: mentionPatterns.default([]),
    reply_to_mode: replyToMode.default('first'),
    text_chunk_limit: textChunkLimit.optional(),
  })
  .prefault({})
  .describe('Everything tunable, with its default.')

export const takeoverSchema = z
  .strictObject({
    as: z
      .enum(['bot', 'name'])
      .default(DEFAULT_TAKEOVER.as)
      .describe(
        'How words of a person who holds a conversation are shown: as the bot’s own, or with the person’s name in front.',
      ),
    human: z
      .union([z.boolean(), z.array(text('The id of an integration.')).max(1_000)])
      .default(false)
      .describe(
        'Where people may ask for a person by /human: everywhere, nowhere, or on these integrations.',
      ),
  })
  .prefault({})
  .describe('Stepping in: how a person takes a conversation over from its agent.')

const ROWS_AT_LEAST_MS = 30 * 24 * 3_600_000

export const retentionSchema = z
  .strictObject({
    bodies: duration(
      'Message bodies and the inputs of settled approvals older than this are pruned; 0 keeps them. The ledger keeps counting.',
      D.bodyRetentionMs,
    ),
    attachments: optionalDuration(
      'Attachments older than this (and `tunables.queue_expiry`) are removed, from the disk and from the database. Default: as `bodies`; 0 keeps them.',
    ),
    rows: duration(
      'Settled turns, sends and approvals older than this are removed; at least 30d, 0 keeps them. Counters and ledger stay.',
      D.rowRetentionMs,
    ),
    ledger: duration(
      'Ledger entries older than this, of rows that are gone, are removed behind a checkpoint; at least `rows`, 0 keeps them.',
      D.ledgerRetentionMs,
    ),
  })
  .superRefine((times, context) => {
    if (times.rows > 0 && times.rows < ROWS_AT_LEAST_MS)
      context.addIssue({
        code: 'custom',
        path: ['rows'],
        message: 'a row is what tells a repeated message from a new one: keep rows for 30d or more (or 0)',
      })
    if (times.ledger > 0 && (times.rows === 0 || times.ledger < times.rows))
      context.addIssue({
        code: 'custom',
        path: ['ledger'],
        message:
          'entries of the ledger go after the rows that they tell of: set rows, and ledger not below it',
      })
  })
  .prefault({})
  .describe('How long things are kept.')
