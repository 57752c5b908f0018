// A long preview of Claude Code on a phone: cut in the prompt, whole on demand, and decided by a tap.
import { expect, it } from 'vitest'
import { openChannelWithTelegram } from './channel-scene.ts'
import { createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

it('[S10.show-all] [S6.ch-preview] 15,000 characters reach Telegram whole, and are allowed there', async () => {
  const { place, kate } = await openChannelWithTelegram(scene)
  const claude = await place.claude()
  kate.says('deploy')
  const { meta } = await until('it is there', () => claude.prompts[0])
  await claude.call('ack', { message_id: meta.message_id })
  const words = Array.from({ length: 2_300 }, (_, at) => `w${at}`)
  const preview = `{ "command": "${words.join(' ')}" }`
  expect(preview.length).toBeGreaterThan(12_000)
  const asked = claude.ask({ toolName: 'Bash', description: 'Run shell command', inputPreview: preview })
  await until('kate is asked', () => kate.sees().some((text) => text.includes(`yes ${asked.id}`)))
  expect(kate.sees().join('\n')).not.toContain(' w2299"')
  kate.taps('Show all')
  await until('kate sees its end', () => kate.sees().some((text) => text.includes('w2299"')))
  const said = kate.sees().join('\n')
  expect(
    words.filter(
      (word) => !new RegExp(`\\b${word}\\b`).test(said.replaceAll(/\n[^\n]*part \d[^\n]*\n/g, '')),
    ),
  ).toEqual([])
  kate.taps('Allow')
  expect(await asked.decided).toBe('allow')
})
