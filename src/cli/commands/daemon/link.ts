// `switchboard link`: a fresh one-time link to the web chat, for this browser or another device, as a QR code too.

import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { oneLine } from '../../output/text.ts'
import { relativeTime } from '../../output/time.ts'

export const link: Run<{ readonly qr?: boolean }> = async (context, _words, { qr }) => {
  const daemon = await context.daemon()
  const made = await daemon.ask('POST /api/chat-link')
  if (context.json) {
    await context.printJson(made)
    return 0
  }
  const words = wordsIn().daemonCommands.link
  await context.print(made.url)
  const phone = made.phone ?? { url: made.url, warning: null }
  if (phone.url !== made.url) await context.print(words.elsewhere({ url: phone.url }))
  if (qr === true) {
    const { renderUnicodeCompact } = await import('uqr')
    await context.print(renderUnicodeCompact(phone.url))
  }
  const expires = made.expires_at === null ? null : relativeTime(made.expires_at, context.terminal.now())
  context.note(context.paint.dim(words.oneUse({ expires })))
  if (phone.warning !== null) context.warn(words.elsewhereWarning({ why: oneLine(phone.warning) }))
  return 0
}
