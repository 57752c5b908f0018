// `switchboard link`: a fresh one-time link to the web chat, for this browser or another device.
import type { Run } from '../context.ts'
import { relativeTime } from '../output/time.ts'

export const link: Run = async (context) => {
  const daemon = await context.daemon()
  const made = await daemon.call<{ readonly url: string; readonly expires_at: string | null }>(
    'POST',
    '/api/chat-link',
    {
      body: {},
    },
  )
  if (context.json) await context.printJson(made)
  else {
    await context.print(made.url)
    const expiry =
      made.expires_at === null ? '' : `, expires ${relativeTime(made.expires_at, context.terminal.now())}`
    context.note(context.paint.dim(`good for one use${expiry}`))
  }
  return 0
}
