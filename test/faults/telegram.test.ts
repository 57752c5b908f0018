// Telegram with the real daemon: a conversation with an approval by button, and kill -9 at each step of it. The Bot API
// is the emulator's, in this process, so it outlives the daemon as Telegram does.
import { describe, expect, it } from 'vitest'
import { dealtPlans } from '../scenarios/deal.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { createScene } from './scene.ts'
import { HOOK_SECRET, openTelegram } from './telegram-scene.ts'
import { until } from './until.ts'

const scene = createScene()
const LABEL = '(may be a duplicate'
/** A yes is for one run: where the death came while it was passed on, the call is asked about again, with these words. */
const AGAIN = 'demo wants to run Deploy: It may already have run'

/** Each point in turn at another step, at all of them with `npm run test:all`. Where it dies, and at which passing. What a person does waits at Telegram: the doomed daemon meets it at its start. */
const POINTS: readonly (readonly [step: 'word' | 'deploy' | 'tap', point: string])[] = (
  ['word', 'deploy', 'tap'] as const
).flatMap((step) => [
  ...['store.before-commit@2', 'store.before-commit@4', 'store.after-commit@3', 'store.after-commit@5'].map(
    (point) => [step, point] as const,
  ),
  ...['outbox.before-send', 'outbox.after-send', 'outbox.after-receipt'].map(
    (point) => [step, point] as const,
  ),
  ...(step === 'tap'
    ? []
    : ['dispatch.before-hand-over', 'dispatch.after-hand-over'].map((point) => [step, point] as const)),
])

describe('[I5.kill9-telegram] Telegram → demo agent → approval by button', () => {
  it.each(dealtPlans(POINTS, ([, point]) => point))(
    'kill -9 at the %s, %s: all arrives, repeats say so',
    async (step, point) => {
      const telegram = await openTelegram(scene)
      const { kate, fake, data, sees } = telegram
      const hello = () => void kate.says('hello')
      let daemon = step === 'word' ? await telegram.dieAt(point, hello) : await telegram.start()
      if (step !== 'word') hello()
      await until('the echo', () => sees('You said: hello'))
      if (step === 'deploy') {
        await daemon.kill9()
        daemon = await telegram.dieAt(point, () => kate.says('deploy'))
      } else kate.says('deploy')
      await until('the question', () => sees('demo wants to run Deploy'))
      await until('its buttons', () =>
        fake.world.shown(kate.chat.id).some(({ message }) => message.reply_markup),
      )
      if (step === 'tap') {
        // Else the death could leave its outcome open, and what comes behind it would wait for its resends.
        await until('its prompt is confirmed', async () =>
          (await sendsOf(data)).some(({ cause, state }) => cause === 'prompt' && state === 'sent'),
        )
        await daemon.kill9()
        daemon = await telegram.dieAt(point, () => kate.taps('Allow'))
      } else kate.taps('Allow')
      let allowedAgain = false
      await until('the deploy', () => {
        if (!allowedAgain && sees(AGAIN)) {
          kate.taps('Allow')
          allowedAgain = true
        }
        return sees('🚀 Deployed')
      })
      if (step !== 'tap') expect(allowedAgain, 'nobody had said yes before the death').toBe(false)
      await until('the prompt is retired', () =>
        kate.sees().some((text) => /allowed by .*412587349/.test(text) && text.includes('deploy --target')),
      )

      for (const part of ['You said: hello', '🚀 Deployed']) {
        const copies = kate.sees().filter((text) => text.includes(part))
        expect(copies.filter((text) => !text.startsWith(LABEL)).length, part).toBeLessThanOrEqual(1)
      }
      // A verdict that is told again after a restart may be quicker than the turn that asked for it is taken up.
      await settled(data)
      const turns = await turnsOf(data)
      const messages = turns.filter((turn) => !turn.message_id.startsWith('tap:'))
      expect(messages.map(({ text, state }) => [text, state])).toEqual([
        ['hello', 'answered'],
        ['deploy', 'answered'],
      ])
      await expectLedgerHolds(data)
      expect(daemon.stderr()).not.toContain(fake.token)
      await daemon.terminate()
    },
  )

  it('[S7.catch-up] what was written while it was down is taken, in order', async () => {
    const telegram = await openTelegram(scene)
    const { kate, sees } = telegram
    const first = await telegram.start()
    kate.says('one')
    await until('the first', () => sees('You said: one'))
    // Seen by Telegram is not yet written down: killed before that, it would rightly be said again.
    await settled(telegram.data)
    await first.kill9()
    for (const word of ['two', 'three', 'four']) kate.says(word)
    await telegram.start()
    await until('the last', () => sees('You said: four'))
    expect(kate.sees()).toEqual(['one', 'two', 'three', 'four'].map((word) => `You said: ${word}`))
  })

  it('[S7.telegram-webhook] [S14.http-hooks-platforms] by webhook: what is posted while it is down comes again', async () => {
    const telegram = await openTelegram(scene, 'mode: webhook, secret_token: "file:hook.secret"')
    const { kate, fake, sees } = telegram
    const hookTo = (url: string) =>
      fetch(`${fake.url}/bot${fake.token}/setWebhook`, {
        method: 'POST',
        body: new URLSearchParams({ url: `${url}/hooks/tg`, secret_token: HOOK_SECRET }),
      })
    const first = await telegram.start()
    await hookTo(first.url)
    kate.says('one')
    await until('the first', () => sees('You said: one'))
    const guess = await fetch(`${first.url}/hooks/tg`, { method: 'POST', body: '{}' })
    expect(guess.status).toBe(401)
    await settled(telegram.data)
    await first.kill9()
    kate.says('two')
    const second = await telegram.start()
    await hookTo(second.url)
    await until('the second', () => sees('You said: two'))
    expect(kate.sees()).toEqual(['You said: one', 'You said: two'])
    await expectLedgerHolds(telegram.data)
  })
})
