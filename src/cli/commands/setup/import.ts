// `switchboard import claude-access DIR`: the access.json of the official Claude Code plugins, as an `access:` block to
// paste, or as rights granted at once. It opens nothing that was closed in the plugin.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutNulls } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import { type ClaudeState, claudeState, isFolder } from '../../claude-state.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine } from '../../output/text.ts'

interface ClaudeAccess {
  readonly dm: 'pairing' | 'allowlist' | 'disabled'
  readonly allowFrom: readonly string[]
  readonly groups: readonly {
    readonly id: string
    readonly requireMention: boolean
    readonly allowFrom: readonly string[]
  }[]
  readonly mentionPatterns: readonly string[]
  readonly ackReaction: string | null
  readonly replyToMode: string | null
  readonly textChunkLimit: number | null
  readonly chunkMode: string | null
  /** Pairing codes that wait there. They are not carried over. */
  readonly pending: number
  /** Keys without a meaning here. */
  readonly unknown: readonly string[]
}

const KNOWN: readonly string[] = [
  'dmPolicy',
  'allowFrom',
  'groups',
  'pending',
  'mentionPatterns',
  'ackReaction',
  'replyToMode',
  'textChunkLimit',
  'chunkMode',
]
const KNOWN_OF_GROUPS: readonly string[] = ['requireMention', 'allowFrom']
const SMALLEST_CHUNK = 64
const LARGEST_CHUNK = 100_000

export const importClaudeAccess: Run<{ readonly grant?: string }> = async (
  context,
  [given = ''],
  options,
) => {
  const state = claudeState(given, context.terminal.env)
  const access = readClaudeAccess(state)
  if (options.grant !== undefined) return grantAll(context, access, options.grant)
  const left = leftOut(access)
  if (context.json)
    await context.printJson({
      ...accessBlock(access),
      ...(left.length > 0 ? { not_carried_over: left } : {}),
    })
  else {
    const { stringify } = await import('yaml')
    await context.print(
      stringify(accessBlock(access), {
        defaultStringType: 'QUOTE_DOUBLE',
        defaultKeyType: 'PLAIN',
        // No aliases: a person edits the two lists separately.
        aliasDuplicateObjects: false,
      }).trimEnd(),
    )
    context.note(context.paint.dim(wordsIn().setupCommands.claudeAccess.paste))
    tellDifferences(context, access)
    tellState(context, state)
  }
  return 0
}

/** Reads it from the state folder of the plugin, or from the file itself. Throws `input_invalid` naming what is wrong. */
function readClaudeAccess({ folder, plugin, isStatic }: ClaudeState): ClaudeAccess {
  const file = isFolder(folder) ? join(folder, 'access.json') : folder
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw usage(
      `there is no ${file}`,
      'give the folder of the plugin, such as ~/.claude/channels/telegram, or its name: telegram, discord, imessage',
    )
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (thrown) {
    throw usage(`${file} is not JSON: ${thrown instanceof Error ? thrown.message : 'malformed'}`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw usage(`${file}: expected an object`)
  const value = parsed as Record<string, unknown>
  const wrong = (key: string, what: string) => usage(`${file}: "${key}" is not ${what}`)
  const written = value.dmPolicy ?? (plugin === 'imessage' ? 'allowlist' : 'pairing')
  // In the plugin, static mode has no pairing.
  const dm = isStatic && written === 'pairing' ? 'allowlist' : written
  if (dm !== 'pairing' && dm !== 'allowlist' && dm !== 'disabled')
    throw wrong('dmPolicy', 'pairing, allowlist or disabled')
  const groups = value.groups ?? {}
  if (typeof groups !== 'object' || groups === null || Array.isArray(groups))
    throw wrong('groups', 'an object')
  const { textChunkLimit: limit, ackReaction, replyToMode } = value
  if (limit !== undefined && !(typeof limit === 'number' && limit > 0))
    throw wrong('textChunkLimit', 'a positive number')
  if (ackReaction !== undefined && typeof ackReaction !== 'string') throw wrong('ackReaction', 'a string')
  if (replyToMode !== undefined && !['off', 'first', 'all'].includes(String(replyToMode)))
    throw wrong('replyToMode', 'off, first or all')
  return {
    dm,
    allowFrom: strings(value.allowFrom ?? [], () => wrong('allowFrom', 'a list of ids')),
    groups: Object.entries(groups).map(([id, group]) => {
      if (typeof group !== 'object' || group === null) throw wrong(`groups.${id}`, 'an object')
      const { requireMention = true, allowFrom = [] } = group as Record<string, unknown>
      if (typeof requireMention !== 'boolean') throw wrong(`groups.${id}.requireMention`, 'true or false')
      return {
        // Messages puts the service before the name of a chat, and the service may change. Here only the name counts.
        id: plugin === 'imessage' ? id.replace(/^[^;]*;[-+];/, '') : id,
        requireMention,
        allowFrom: strings(allowFrom, () => wrong(`groups.${id}.allowFrom`, 'a list of ids')),
      }
    }),
    mentionPatterns: strings(value.mentionPatterns ?? [], () =>
      wrong('mentionPatterns', 'a list of patterns'),
    ),
    ackReaction: ackReaction || null,
    replyToMode: replyToMode === undefined ? null : String(replyToMode),
    textChunkLimit: limit ?? null,
    chunkMode: typeof value.chunkMode === 'string' ? value.chunkMode : null,
    pending: Object.keys((value.pending as object | undefined) ?? {}).length,
    unknown: [
      ...Object.keys(value).filter((key) => !KNOWN.includes(key)),
      ...Object.entries(groups).flatMap(([id, group]) =>
        Object.keys(group as object)
          .filter((key) => !KNOWN_OF_GROUPS.includes(key))
          .map((key) => `groups.${id}.${key}`),
      ),
    ],
  }
}

function strings(value: unknown, wrong: () => Error): readonly string[] {
  if (!Array.isArray(value)) throw wrong()
  return value.map((one: unknown) => {
    if (typeof one !== 'string' && typeof one !== 'number') throw wrong()
    return String(one)
  })
}

/** As in switchboard.yaml. An empty list of a group meant any member in the plugin; here that is ["*"]. */
function accessBlock(access: ClaudeAccess): object {
  // In the plugin, `disabled` closes the groups too.
  const open = access.dm === 'disabled' ? [] : access.groups
  const patterns = access.mentionPatterns.filter(isPattern)
  const groups = Object.fromEntries(
    open.map(({ id, requireMention, allowFrom }) => [
      id,
      { require_mention: requireMention, allow_from: allowFrom.length > 0 ? allowFrom : ['*'] },
    ]),
  )
  return {
    access: {
      dm: access.dm,
      allow_from: access.allowFrom,
      // In the plugin, everybody who may talk may approve.
      approvers: access.allowFrom,
      ...(open.length > 0 ? { groups } : {}),
      ...(patterns.length > 0 ? { mention_patterns: patterns } : {}),
    },
    ...withoutNulls({ ack_reaction: access.ackReaction, reply_to_mode: access.replyToMode }),
    ...(access.textChunkLimit === null
      ? {}
      : {
          text_chunk_limit: Math.min(
            LARGEST_CHUNK,
            Math.max(SMALLEST_CHUNK, Math.floor(access.textChunkLimit)),
          ),
        }),
  }
}

function tellDifferences(context: Context, access: ClaudeAccess): void {
  const words = wordsIn().setupCommands.claudeAccess
  if (access.allowFrom.length > 0) context.note(words.approvers)
  if (access.groups.some(({ allowFrom }) => allowFrom.length === 0)) context.note(words.anyMember)
  for (const one of leftOut(access)) context.note(words.notCarriedOver({ what: oneLine(one) }))
}

/** What the block leaves out, so that no person believes that it was carried over. */
function leftOut(access: ClaudeAccess): readonly string[] {
  const { dm, groups, pending, textChunkLimit: limit, chunkMode, unknown } = access
  const words = wordsIn().setupCommands.claudeAccess
  const told: string[] = []
  if (pending > 0) told.push(words.pending({ count: pending }))
  if (dm === 'disabled' && groups.length > 0) told.push(words.closedGroups({ count: groups.length }))
  if (limit !== null && limit < SMALLEST_CHUNK) told.push(words.smallest({ limit, smallest: SMALLEST_CHUNK }))
  if (limit !== null && limit > LARGEST_CHUNK) told.push(words.largest({ limit, largest: LARGEST_CHUNK }))
  for (const pattern of access.mentionPatterns)
    if (!isPattern(pattern)) told.push(words.noPattern({ pattern }))
  if (chunkMode !== null) told.push(words.chunkMode({ mode: chunkMode }))
  return [...told, ...unknown.map((key) => words.unknown({ key }))]
}

/** By the rule of `check`. */
function isPattern(pattern: string): boolean {
  try {
    return pattern !== '' && pattern.length <= 200 && new RegExp(pattern, 'iu') instanceof RegExp
  } catch {
    return false
  }
}

function tellState(context: Context, { isStatic, tokenIn }: ClaudeState): void {
  const words = wordsIn().setupCommands.claudeAccess
  if (isStatic) context.note(words.wasStatic)
  if (tokenIn !== null) context.note(words.tokenIn(tokenIn))
}

async function grantAll(context: Context, access: ClaudeAccess, integration: string): Promise<number> {
  const daemon = await context.daemon()
  const words = wordsIn().setupCommands.claudeAccess
  for (const sender of access.allowFrom) {
    await daemon.ask('POST /api/access/grant', { body: { integration, sender, right: 'talk' } })
  }
  if (context.json) await context.printJson({ ok: true, integration, granted: access.allowFrom })
  else
    await context.print(
      access.allowFrom.length === 0
        ? words.nothingToGrant
        : words.granted({
            integration: oneLine(integration),
            senders: access.allowFrom.map(oneLine).join(', '),
          }),
    )
  context.note(words.onlyTalk)
  return 0
}
