// Questions whose input grows when a platform shows it: what is asked fits there as it is sent, says how to answer, and what was
// left out can be asked for.
import { describe, expect, it } from 'vitest'
import { opText, renderedSize } from '../../src/contract/index.ts'
import { promptOp, wholeAsk } from '../../src/core/approvals/prompt.ts'
import { mrkdwn, plainForm, sentForm } from '../../src/kit/markdown/index.ts'
import { discordMarkdown } from '../../src/platforms/discord/markdown.ts'
import { TEXT_LIMIT as DISCORD } from '../../src/platforms/discord/render.ts'
import { TEXT_LIMIT as EMAIL, emailMarkdown } from '../../src/platforms/email/render.ts'
import { TEXT_LIMIT as IMESSAGE } from '../../src/platforms/imessage/render.ts'
import { TEXT_LIMIT as SLACK } from '../../src/platforms/slack/render.ts'
import { telegramMarkdown } from '../../src/platforms/telegram/markdown.ts'
import { TEXT_LIMIT as TELEGRAM } from '../../src/platforms/telegram/render.ts'
import { whatsappMarkdown } from '../../src/platforms/whatsapp/markdown.ts'
import { TEXT_LIMIT as WHATSAPP } from '../../src/platforms/whatsapp/render.ts'
import { wordsIn } from '../../src/words/index.ts'

const PLACES = [
  ['Slack', { ...SLACK, markdown: mrkdwn }],
  ['Discord', { ...DISCORD, markdown: discordMarkdown }],
  ['Telegram', { ...TELEGRAM, markdown: telegramMarkdown }],
  ['WhatsApp', { ...WHATSAPP, markdown: whatsappMarkdown }],
  ['iMessage', { ...IMESSAGE, markdown: plainForm }],
  ['email', { ...EMAIL, markdown: emailMarkdown }],
] as const

const PIECES = [
  '<&&>',
  '`',
  '\\',
  '*_~|',
  '@everyone <@U1> ',
  '\u200b',
  '😀<',
  'a\n',
  '> ',
  '```\n',
  '[x](y)',
  '\t',
]

describe.each(PLACES)('[I13.limit-prompts] %s', (_name, limit) => {
  const sizeOf = (text: string) => renderedSize(sentForm({ text }, limit.markdown), limit.unit)

  it.each(PIECES)('a question of nothing but %j, and the parts of its whole', (piece) => {
    const input = piece.repeat(Math.ceil((limit.size * 1.5) / piece.length))
    const ask = { toolName: 'Bash', description: piece.repeat(60), input }
    const op = promptOp('abcde', 'kate', ask, { limit, rest: 'button', words: wordsIn() })
    expect(sizeOf(opText(op))).toBeLessThanOrEqual(limit.size)
    expect(opText(op)).toMatch(/Reply "yes abcde" or "no abcde"$/)
    expect(op).toMatchObject({ choices: [{ label: 'Allow' }, { label: 'Deny' }, { label: 'Show all' }] })
    const parts = wholeAsk(wordsIn(), { id: 'abcde', ask }, limit)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(sizeOf(part)).toBeLessThanOrEqual(limit.size)
  })
})
