// Ends of the daemon under a host that lives on: what the host has, what it saw and what it waits for outlast them.
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { answering, audited, openChannel, openChannelWithTelegram, type Turn } from './channel-scene.ts'
import { askLines, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

describe('an end of the daemon under a host', () => {
  it('[S10.verdict-waits] a tap while nobody is there is passed on when both are back', async () => {
    const { place, kate } = await openChannelWithTelegram(scene)
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

  it('[S6.ch-kept] by kill -9, again and again: what the host has stays seen or handed, uses up no attempt, and is answered', async () => {
    const place = openChannel(scene, { integrations: 'tunables: { max_attempts: 2 }\n' })
    const claude = answering(await place.claude())
    await place.say('one')
    await place.turn('one', 'answered')
    claude.onPrompt = () => undefined
    for (const text of ['two', 'three', 'four']) await place.say(text)
    await until('all are there', () => claude.prompts.length === 4)
    const [, two, three, four] = claude.prompts.map(({ meta }) => ({
      chat_id: meta.chat_id,
      message_id: meta.message_id,
    }))
    await claude.call('ack', { message_id: two?.message_id })
    await claude.call('react', { ...three, emoji: '👀' })
    const expected = ['two seen acknowledged 1', 'three seen null 1', 'four handed null 1']
    const brief = ({ text, state, reason, attempts }: Turn) => `${text} ${state} ${reason} ${attempts}`
    const open = async () => (await place.turns()).filter(({ text }) => text !== 'one').toReversed()
    expect((await open()).map(brief)).toEqual(expected)
    for (const signal of ['SIGKILL', 'SIGKILL'] as const) {
      const ended = place.daemonPid()
      process.kill(ended, signal)
      const daemonNow = () => {
        try {
          return place.daemonPid()
        } catch {
          return ended // it took its note away, and the next one has written none yet
        }
      }
      await until('the host is attached to another daemon', async () => {
        // Not pending_messages: what it lists has been seen.
        await claude.call('get_roster', {})
        return daemonNow() !== ended
      })
      await until('it goes on as it was', async () => isDeepStrictEqual((await open()).map(brief), expected))
    }
    await claude.call('reply', { chat_id: four?.chat_id, reply_to: four?.message_id, text: 'all done' })
    for (const text of ['three', 'four']) await place.turn(text, 'answered')
    await claude.call('reply', { chat_id: two?.chat_id, reply_to: two?.message_id, text: 'that as well' })
    await place.turn('two', 'answered')
    expect(claude.prompts).toHaveLength(4)
    expect(await audited(place.data)).toMatchObject({ ok: true, conservation: { ok: true } })
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
