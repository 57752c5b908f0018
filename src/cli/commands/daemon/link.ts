// `switchboard link`: a fresh one-time link to the web chat, for this browser or another device, as a QR code too.
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
  await context.print(made.url)
  const phone = made.phone ?? { url: made.url, warning: null }
  if (phone.url !== made.url) await context.print(`on another device: ${phone.url}`)
  if (qr === true) {
    const { renderUnicodeCompact } = await import('uqr')
    await context.print(renderUnicodeCompact(phone.url))
  }
  const expiry =
    made.expires_at === null ? '' : `, expires ${relativeTime(made.expires_at, context.terminal.now())}`
  context.note(context.paint.dim(`good for one use${expiry}`))
  if (phone.warning !== null)
    context.note(`${context.paint.yellow('warning:')} for another device: ${oneLine(phone.warning)}`)
  return 0
}
