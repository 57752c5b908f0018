// `switchboard console`: a one-time link that signs a user in at the console, and the browser that opens it.
import { defined } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { openBrowser } from '../../open-browser.ts'
import { relativeTime } from '../../output/time.ts'

export interface ConsoleOptions {
  readonly user?: string
  /** False with --no-open. */
  readonly open?: boolean
}

export const openConsole: Run<ConsoleOptions> = async (context, _words, { user, open }) => {
  const daemon = await context.daemon()
  const body = defined({ user })
  const made = await daemon.ask('POST /api/console-link', { body })
  if (context.json) {
    await context.printJson(made)
    return 0
  }
  await context.print(made.url)
  const words = wordsIn().daemonCommands.console
  const roles = made.roles.length === 0 ? words.noRole : made.roles.join(', ')
  const expires = relativeTime(made.expires_at, context.terminal.now())
  context.note(context.paint.dim(words.signsIn({ user: made.user, roles, expires })))
  // A program that reads the output opens the link itself.
  if (open !== false && context.terminal.outputIsTty) openBrowser(made.url)
  return 0
}
