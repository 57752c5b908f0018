// Turns whose state cannot be known after a restart: a person is asked. The double is the program.
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { claudeStage, claudeWorld, S1 } from './fixtures/claude-scene.ts'

const { scene, clear } = claudeStage()
afterEach(clear)

/** No part of its answer is in the transcript. */
const LONG = 'slow 600000 word by word'
const INTERRUPTED = { turn: 'tE', repeat: true, continuation: true, attempt: 2 } as const

describe('where nothing can be known', () => {
  it('[I22.cc-asked] a person is asked; a yes begins it anew, marked, and a no ends it with the reason', async () => {
    const { says, ended, asked, decide, world, connector } = await scene()
    const id = await says('do it', INTERRUPTED)
    expect((await asked()).ask).toMatchObject({
      toolName: 'begin the message anew',
      description: expect.stringContaining('interrupted'),
      input: 'do it',
    })
    // No process is started to wait for a person.
    expect(connector.processes?.()).toEqual([])
    expect(await decide('allow')).toBe('relayed')
    expect(await ended(id)).toMatchObject({ kind: 'say', text: 'You said: do it' })
    expect(readFileSync(world.transcript(S1), 'utf8')).toContain('may have reached you before')
    const causes = { person: 'decided not to', expired: 'in time', unreachable: 'no approver' } as const
    for (const [at, [cause, words]] of Object.entries(causes).entries()) {
      const other = await says('do it', { ...INTERRUPTED, turn: `t_${cause}` })
      await decide('deny', { at: at + 1, cause: cause as keyof typeof causes })
      expect(await ended(other)).toMatchObject({ kind: 'failed', detail: expect.stringContaining(words) })
    }
  })

  it('[I22.cc-asked] what comes meanwhile is answered, and the same message again is not asked for again', async () => {
    const { says, ended, turn, of, decide } = await scene()
    const id = await says('do it', INTERRUPTED)
    await says('do it', { ...INTERRUPTED, attempt: 3 })
    expect(await turn('hello')).toMatchObject({ text: 'You said: hello' })
    expect(of('ask')).toHaveLength(1)
    await decide('allow')
    expect(await ended(id)).toMatchObject({ text: 'You said: do it' })
  })

  it('[I22.cc-asked] a conversation that went from the disk in mid-turn is asked for, seen or not', async () => {
    for (const continuation of [true, false]) {
      const world = claudeWorld()
      const first = await scene({ world })
      await first.turn('hello')
      await first.says(LONG, { turn: 'tE' })
      await until('it runs', () => first.of('evidence').find((one) => one.turn === 'tE'))
      await first.connector.stop()
      rmSync(world.transcript(S1))
      const second = await scene({ world })
      const id = await second.says('do it', { ...INTERRUPTED, continuation })
      await second.decide('allow')
      expect(await second.ended(id)).toMatchObject({ text: 'You said: do it' })
      expect(second.of('say').filter(({ text }) => text.includes('could not be found'))).toHaveLength(1)
    }
  })

  it('[I22.anew-durable] killed while a person is asked, the next life asks the same, whatever was begun meanwhile', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    await first.says('do it', INTERRUPTED)
    const { ask } = await first.asked()
    // The agent has a conversation by now that does not contain it.
    await first.turn('hello')
    await first.connector.stop()
    const second = await scene({ world })
    const id = await second.says('do it', { ...INTERRUPTED, attempt: 3 })
    expect((await second.asked()).ask).toEqual(ask)
    expect(world.ran()).toEqual([])
    await second.decide('allow')
    expect(await second.ended(id)).toMatchObject({ text: 'You said: do it' })
  })

  it('[I22.anew-once] a yes is for one beginning: interrupted again, it is another question', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    await first.says(LONG, INTERRUPTED)
    await first.decide('allow')
    await until('it runs', () => first.of('evidence').find((one) => one.turn === 'tE'))
    await first.connector.stop()
    rmSync(join(world.folder, '.claude'), { recursive: true })
    const second = await scene({ world })
    await second.says(LONG, { ...INTERRUPTED, attempt: 3 })
    expect((await second.asked()).ask.input).toContain('interrupted again: 1 time')
    // While it remembers, it continues.
    const third = await scene({ world: claudeWorld() })
    await third.says(LONG, INTERRUPTED)
    await third.decide('allow')
    await until('it runs', () => third.of('evidence').find((one) => one.turn === 'tE'))
    await third.connector.stop()
    const fourth = await scene({ world: third.world })
    expect(await fourth.turn(LONG, { ...INTERRUPTED, attempt: 3 })).toMatchObject({
      text: expect.stringContaining('I went on'),
    })
  })

  it('[I22.anew-stop] stopped while a person is asked: an answer begins nothing, and the agent stops at once', async () => {
    const { says, asked, decide, connector, turn, world } = await scene()
    const id = await says('call Bash {"command":"make"}', INTERRUPTED)
    await asked()
    expect(await connector.cancel?.(S1, id)).toBe(true)
    expect(await decide('allow')).toBe('gone')
    expect(await turn('hello')).toMatchObject({ text: 'You said: hello' })
    expect(world.ran()).toEqual([])
    await says('do it', { ...INTERRUPTED, turn: 'tF' })
    await asked(1)
    await connector.stop()
    expect(await decide('allow', { at: 1 })).toBe('gone')
  })
})

describe('what the transcript tells', () => {
  it('[I22.cc-transcript] one that was begun goes on, though it could not be noted', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    await first.says(LONG, { turn: 'tE' })
    await until('it runs', () => first.of('evidence').find((one) => one.turn === 'tE'))
    await first.connector.stop()
    writeFileSync(
      join(world.folder, 'agent/sessions', `${S1}.json`),
      JSON.stringify({ id: S1, begun: false }),
    )
    const second = await scene({ world })
    expect(await second.turn(LONG, INTERRUPTED)).toMatchObject({
      text: expect.stringContaining('I went on'),
    })
    expect(second.of('ask')).toEqual([])
  })

  it('[I22.cc-transcript] a message behind more than is read of it was begun all the same', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    await first.says(LONG, { turn: 'tE' })
    await until('it runs', () => first.of('evidence').find((one) => one.turn === 'tE'))
    await first.connector.stop()
    mkdirSync(dirname(world.transcript(S1)), { recursive: true })
    const image = { type: 'user', uuid: 'x', message: { role: 'user', content: 'y'.repeat(3_000_000) } }
    for (let at = 0; at < 3; at++) appendFileSync(world.transcript(S1), `${JSON.stringify(image)}\n`)
    const second = await scene({ world })
    expect(await second.turn(LONG, INTERRUPTED)).toMatchObject({
      text: expect.stringContaining('I went on'),
    })
    expect(second.of('ask')).toEqual([])
  })
})
