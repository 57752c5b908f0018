// `switchboard notify TEXT…`: a notification from the operator, through the same outlet as everyone's.
import { defined } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine } from '../../output/text.ts'

export interface NotifyOptions {
  readonly channel?: string
  readonly urgency?: string
  readonly user?: string
}

const URGENCIES = ['low', 'normal', 'high'] as const

export const notify: Run<NotifyOptions> = async (context, words, options) => {
  const urgency = URGENCIES.find((one) => one === options.urgency)
  if (options.urgency !== undefined && urgency === undefined)
    throw usage(`--urgency: "${options.urgency}" is none of low, normal, high`, 'write --urgency high')
  const daemon = await context.daemon()
  const piped = words.length === 1 && words[0] === '-'
  const message = (piped ? await context.terminal.readInput() : words.join(' ')).replace(/\r?\n$/, '')
  if (message.trim() === '') throw usage('the text is empty', 'write it, or pipe it in with: notify -')
  const told = await daemon.askSlowly(40_000, 'POST /api/notify', {
    body: { message, ...defined({ channel: options.channel, urgency, user: options.user }) },
  })
  if (context.json) await context.printJson(told)
  else if (told.ok) await context.print(oneLine(told.text))
  else context.terminal.err(`${context.paint.red(wordsIn().reports.error)} ${oneLine(told.text)}\n`)
  return told.ok ? 0 : 1
}
