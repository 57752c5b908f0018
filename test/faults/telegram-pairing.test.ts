// Pairing with the real daemon and the Telegram emulator: a stranger, a code, the owner at the API, a newcomer.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { turnsOf } from './river-checks.ts'
import { askLines, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

it('[S4.pairing-approve-api] [S4.default-telegram] [S7.keys-telegram] a stranger is paired through /api, told, and then heard', async () => {
  const fake = await createFakeTelegram()
  scene.onEnd(() => fake.stop())
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'telegram.token'), fake.token, { mode: 0o600 })
  writeFileSync(
    config,
    `integrations:
  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${fake.url}", mode: polling }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: telegram, instance: tg }] }
`,
  )
  const daemon = await scene.start({ data, config })
  const stranger = fake.person()
  stranger.says('hello?')
  await until('the code', () => stranger.sees().some((text) => text.includes('pair approve')))
  const [pending] = await askLines<{ code: string; integration: string }>(data, 'pair', 'list')
  expect(pending).toMatchObject({ integration: 'tg', code: expect.stringMatching(/^[0-9a-f]{6}$/) })
  expect(stranger.sees()[0]).toContain(pending?.code)

  const approve = (bearer: string) =>
    fetch(`${daemon.url}/api/pairings/${pending?.code}/approve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: '{}',
    })
  expect((await approve('guessed')).status).toBe(401)
  const admin = readFileSync(join(data, 'admin.token'), 'utf8').trim()
  expect((await approve(admin)).status).toBe(200)
  expect((await approve(admin)).status).toBe(404)
  await until('the newcomer is told', () => stranger.sees().some((text) => text.includes('You are paired')))

  stranger.says('hello again')
  await until('the newcomer is heard', () => stranger.sees().includes('You said: hello again'))
  expect((await turnsOf(data)).map(({ state }) => state)).toEqual(['refused', 'answered'])
})
