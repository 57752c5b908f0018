// `switchboard send TO TEXT…`: a message from the operator, through the same outlet as everyone's.
import { defined, type SendResult } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine } from '../../output/text.ts'
import { parseDuration } from '../../output/time.ts'

export interface SendOptions {
  readonly thread?: string
  readonly integration?: string
  readonly key?: string
  readonly template?: string
  readonly language?: string
  readonly param?: readonly string[]
  readonly wait?: string
}

/** What a send says when nothing runs that could send. */
const NO_GATEWAY = 'Gateway not active — send_message requires gateway mode'

export const send: Run<SendOptions> = async (context, [to = '', ...words], options) => {
  const waitMs = options.wait === undefined ? undefined : parseDuration(options.wait, '--wait')
  const template = templateOf(options)
  const daemon = await context.daemon(NO_GATEWAY)
  const body = {
    to,
    text: template === undefined || words.length > 0 ? await textOf(context, words) : shownAs(template),
    ...defined({
      thread: options.thread,
      integration: options.integration,
      idempotency_key: options.key,
      wait_ms: waitMs,
      template,
    }),
  }
  const result = await daemon.askSlowly((waitMs ?? 10_000) + 30_000, 'POST /api/send', { body })
  if (context.json) await context.printJson(result)
  else await tellResult(context, result)
  return result.ok ? 0 : 1
}

/** `parameters` in a form that the API takes. */
interface Template {
  readonly name: string
  readonly language: string
  readonly parameters: string[]
}

function templateOf({ template: name, language, param: parameters }: SendOptions): Template | undefined {
  if (name !== undefined) return { name, language: language ?? 'en_US', parameters: [...(parameters ?? [])] }
  if (language === undefined && parameters === undefined) return undefined
  throw usage('--language and --param belong to --template', 'name the template: --template NAME')
}

/** What is kept of a template where nobody wrote more. */
function shownAs({ name, parameters }: Template): string {
  return parameters.length === 0 ? `template ${name}` : `template ${name}: ${parameters.join(', ')}`
}

export async function textOf(context: Context, words: readonly string[]): Promise<string> {
  const text = words.length === 1 && words[0] === '-' ? await context.terminal.readInput() : words.join(' ')
  // The line break that `echo` and editors add is not part of the message.
  const message = text.replace(/\r?\n$/, '')
  if (message.trim() === '')
    throw usage('the text is empty', 'write it after TO, or pipe it in with: send TO -')
  return message
}

export async function tellResult(context: Context, result: SendResult): Promise<void> {
  const { paint } = context
  const words = wordsIn().commandLine.send
  if (!result.ok) {
    context.terminal.err(`${paint.red('error:')} ${oneLine(result.error ?? words.notSent)}\n`)
    if (result.outbox_id !== null)
      context.note(`${paint.cyan('hint:')} ${words.seeHint({ id: result.outbox_id })}`)
    return
  }
  if (result.status === 'queued') {
    return void (await context.print(
      `${paint.yellow('queued')}${words.queued({ id: result.outbox_id ?? '' })}`,
    ))
  }
  if (result.status === 'deduplicated') {
    return void (await context.print(`${paint.yellow('deduplicated')}${words.deduplicated}`))
  }
  const ids = result.platform_ids.length === 0 ? '' : ` (${oneLine(result.platform_ids.join(', '))})`
  await context.print(`${paint.green('sent')}${ids}`)
}
