// notify_user with a claim, over Telegram and a real daemon: the answer reaches the session that spoke first, whichever
// way the person answers, and however often the daemon is killed on the way.
import { describe, expect, it } from 'vitest'
import { dealtPlans } from '../scenarios/deal.ts'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, type Turn, turnsOf } from './river-checks.ts'
import { askJson, createScene } from './scene.ts'
import { HOOK_SECRET, openTelegram, type TelegramScene } from './telegram-scene.ts'
import { until } from './until.ts'

const scene = createScene()
type SessionTurn = Turn & { readonly session: string }

/** A job that no person started: its session is the one that speaks first. */
async function startJob(daemon: Daemon): Promise<string> {
  const headers = { 'x-webhook-secret': HOOK_SECRET, 'x-conversation': 'ops' }
  await post(`${daemon.url}/hooks/crowd`, 'job started', headers)
  return (await answered(daemon.data, 'job started')).session
}

function answered(data: string, words: string): Promise<SessionTurn> {
  return until(`"${words}" is answered`, async () => {
    const turn = (await turnsOf(data)).find(
      ({ text, state }) => text?.includes(words) && state === 'answered',
    )
    return turn as SessionTurn | undefined
  })
}

async function notifyWithClaim(daemon: Daemon, session: string): Promise<string> {
  const of = ['--agent', 'demo', '--session', session, '--kind', 'notify']
  const { token } = await askJson<{ token: string }>(daemon.data, 'token', 'mint', ...of)
  const args = { message: 'Job done. Go on?', claim_thread: true, claim_thread_label: 'ops' }
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'notify_user', arguments: args },
  }
  const told = await post(`${daemon.url}/mcp/notify`, JSON.stringify(call), {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  })
  return told.text
}

function question({ fake, kate }: TelegramScene) {
  return until('the question', () =>
    fake.world.shown(kate.chat.id).find(({ message }) => message.text?.includes('Job done')),
  )
}

describe('[I5.kill9-claim] notify_user with a claim', () => {
  const WAYS = [
    ['reply', 'store.before-commit@3'],
    ['reply', 'dispatch.after-hand-over'],
    ['reply', 'outbox.after-send'],
    ['tap', 'store.after-commit@3'],
    ['tap', 'outbox.before-send'],
  ] as const

  it.each(dealtPlans(WAYS, ([way]) => way))(
    '[S11.claim-buttons-tg] [S11.claim-reply-to] [S11.claim-tap] by %s, killed at %s',
    async (way, point) => {
      const telegram = await openTelegram(scene)
      const { kate, data, sees } = telegram
      const first = await telegram.start()
      kate.says('hello')
      await until('the echo', () => sees('You said: hello'))
      const session = await startJob(first)
      expect(await notifyWithClaim(first, session)).toContain('Notification sent via')
      const { message } = await question(telegram)
      const labels = message.reply_markup?.inline_keyboard.flat().map(({ text }) => text)
      expect(labels).toEqual(['📎 Reply here', '💬 Keep my chat'])
      await first.kill9()

      if (way === 'tap') {
        const second = await telegram.dieAt(point, () => kate.taps('📎 Reply here'))
        await until('threaded', () => sees('Threaded'))
        kate.says('go on')
        await second.kill9()
        await telegram.start()
      } else await telegram.dieAt(point, () => kate.replies(message.message_id, 'go on'))

      expect((await answered(data, 'go on')).session).toBe(session)
      await until('said in the chat', () => sees('You said:') && sees('go on'))
      expect((await answered(data, 'hello')).session).not.toBe(session)
      await expectLedgerHolds(data)
    },
  )
})
