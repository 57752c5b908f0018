// Telegram with the real daemon: a conversation with an approval by button, and kill -9 at each step of it. The Bot API
// is the emulator's, in this process, so it outlives the daemon as Telegram does.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFakeTelegram, type FakeTelegram } from '../../src/testing/emulate.ts'
import type { Person } from '../../src/testing/telegram/person.ts'
import { expectLedgerHolds, turnsOf } from './river-checks.ts'
import { createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const LABEL = '(may be a duplicate'

/** Where it dies, and at which passing. What a person does waits at Telegram: the doomed daemon meets it at its start. */
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

function configure(data: string, fake: FakeTelegram, more = 'mode: polling'): string {
  writeFileSync(join(data, 'telegram.token'), fake.token, { mode: 0o600 })
  const file = join(data, 'switchboard.yaml')
  writeFileSync(
    file,
    `integrations:
  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${fake.url}", ${more},
      access: { dm: allowlist, allow_from: ["412587349"], approvers: ["412587349"] } }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: telegram, instance: tg }]
`,
  )
  return file
}

const sees = (person: Person, part: string) => person.sees().some((text) => text.includes(part))

async function open() {
  const fake = await createFakeTelegram()
  scene.onEnd(() => fake.stop())
  const data = scene.folder()
  return { fake, data, config: configure(data, fake), kate: fake.person() }
}

/** A daemon that dies on its way through what was just done, by its own hand at the point; another one takes over. */
async function dieAt(at: { readonly data: string; readonly config: string }, point: string, act: () => void) {
  act()
  const doomed = scene.launch({ ...at, env: { SWITCHBOARD_CRASH_AT: point } })
  const { signal } = await doomed.exited
  expect(signal).toBe('SIGKILL')
  return scene.start(at)
}

describe('[I5.kill9-telegram] Telegram → demo agent → approval by button', () => {
  it.each(POINTS)('kill -9 at the %s, %s: all arrives, repeats say so', async (step, point) => {
    const { kate, ...at } = await open()
    const hello = () => void kate.says('hello')
    let daemon = step === 'word' ? await dieAt(at, point, hello) : await scene.start(at)
    if (step !== 'word') hello()
    await until('the echo', () => sees(kate, 'You said: hello'))
    if (step === 'deploy') {
      await daemon.kill9()
      daemon = await dieAt(at, point, () => kate.says('deploy'))
    } else kate.says('deploy')
    await until('the question', () => sees(kate, 'demo wants to run Deploy'))
    await until('its buttons', () =>
      at.fake.world.shown(kate.chat.id).some(({ message }) => message.reply_markup),
    )
    if (step === 'tap') {
      await daemon.kill9()
      daemon = await dieAt(at, point, () => kate.taps('Allow'))
    } else kate.taps('Allow')
    await until('the deploy', () => sees(kate, '🚀 Deployed'))
    await until('the prompt is retired', () => sees(kate, 'allowed by 412587349'))

    for (const part of ['You said: hello', '🚀 Deployed']) {
      const copies = kate.sees().filter((text) => text.includes(part))
      expect(copies.filter((text) => !text.startsWith(LABEL)).length, part).toBeLessThanOrEqual(1)
    }
    const turns = await turnsOf(at.data)
    const messages = turns.filter((turn) => !turn.message_id.startsWith('tap:'))
    expect(messages.map(({ text, state }) => [text, state])).toEqual([
      ['hello', 'answered'],
      ['deploy', 'answered'],
    ])
    await expectLedgerHolds(at.data)
    expect(daemon.stderr()).not.toContain(at.fake.token)
    await daemon.terminate()
  })

  it('[S7.catch-up] what was written while it was down is taken, in order', async () => {
    const { kate, ...at } = await open()
    const first = await scene.start(at)
    kate.says('one')
    await until('the first', () => sees(kate, 'You said: one'))
    await first.kill9()
    for (const word of ['two', 'three', 'four']) kate.says(word)
    await scene.start(at)
    await until('the last', () => sees(kate, 'You said: four'))
    expect(kate.sees()).toEqual(['one', 'two', 'three', 'four'].map((word) => `You said: ${word}`))
  })

  it('[S7.telegram-webhook] [S14.http-hooks-platforms] by webhook: what is posted while it is down comes again', async () => {
    const { kate, fake, data } = await open()
    writeFileSync(join(data, 'hook.secret'), 'a-secret-for-the-hook', { mode: 0o600 })
    const config = configure(data, fake, 'mode: webhook, secret_token: "file:hook.secret"')
    const hookTo = (url: string) =>
      fetch(`${fake.url}/bot${fake.token}/setWebhook`, {
        method: 'POST',
        body: new URLSearchParams({ url: `${url}/hooks/tg`, secret_token: 'a-secret-for-the-hook' }),
      })
    const first = await scene.start({ data, config })
    await hookTo(first.url)
    kate.says('one')
    await until('the first', () => sees(kate, 'You said: one'))
    const guess = await fetch(`${first.url}/hooks/tg`, { method: 'POST', body: '{}' })
    expect(guess.status).toBe(401)
    await first.kill9()
    kate.says('two')
    const second = await scene.start({ data, config })
    await hookTo(second.url)
    await until('the second', () => sees(kate, 'You said: two'))
    expect(kate.sees()).toEqual(['You said: one', 'You said: two'])
    await expectLedgerHolds(data)
  })
})
