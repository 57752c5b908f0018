// Ends of the daemon under a host that lives on: what the host has, what it saw and what it waits for outlast them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { audited, openChannel } from './channel-scene.ts'
import { askLines, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

describe('kill -9 of the daemon under a host', () => {
  it('[S10.verdict-waits] a tap while nobody is there is passed on when both are back', async () => {
    const fake = await createFakeTelegram()
    scene.onEnd(() => fake.stop())
    const place = openChannel(scene, {
      integrations: `  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${fake.url}", access: { dm: allowlist, allow_from: ["412587349"], approvers: ["412587349"] } }
`,
      bindings: ', { plugin: telegram, instance: tg }',
    })
    writeFileSync(join(place.data, 'telegram.token'), fake.token, { mode: 0o600 })
    const kate = fake.person()
    const claude = await place.claude()
    kate.says('deploy')
    const { meta } = await until('it is there', () => claude.prompts[0])
    await claude.call('ack', { message_id: meta.message_id })
    const asked = claude.ask({ toolName: 'Bash', description: 'x', inputPreview: '{ "command": "make" }' })
    await until('kate is asked', () => kate.sees().some((text) => text.includes(`yes ${asked.id}`)))
    process.kill(place.daemonPid(), 'SIGKILL')
    kate.taps('Allow')
    expect(await asked.decided).toBe('allow')
    await until('kate is told', () => kate.sees().some((text) => text.includes('passed on (allowed by')))
    const approvals = await askLines<{ id: string; state: string }>(place.data, 'approvals', '--all')
    expect(approvals).toMatchObject([{ id: asked.id, state: 'relayed' }])
  })
})

it('[S6.channel-ack-rests] a session that acknowledges everything is handed everything', async () => {
  const place = openChannel(scene)
  const claude = await place.claude()
  claude.onPrompt = ({ meta }) => void claude.call('ack', { message_id: meta.message_id })
  for (let n = 0; n < 300; n++) await place.say(`n${n}`)
  await until('all are there', () => claude.prompts.length === 300)
  await until('all are acknowledged', async () =>
    (await place.turns()).every(({ state, reason }) => state === 'seen' && reason === 'acknowledged'),
  )
  expect(claude.prompts.map(({ content }) => content)).toEqual(Array.from({ length: 300 }, (_, n) => `n${n}`))
  expect(await claude.call('pending_messages', {})).toMatchObject({ text: '(nothing waits)' })
  expect(await audited(place.data)).toMatchObject({ ok: true, conservation: { ok: true } })
})
