// Compares the double of Claude Code with a recording of the real one, and the real one with the same recording. The
// latter is opt-in, because the program is proprietary. The real one then plays the connector's own conversation.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, type TestContext } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { createFakeLlm } from '../../testing/llm/fake-llm.ts'
import { claudeStage, claudeWorld, S1 } from './fixtures/claude-scene.ts'
import { asTheDouble, type Conversation, converse } from './fixtures/raw-conversation.ts'

const RECORDING = join(import.meta.dirname, 'fixtures/recorded-conversation.json')
const recorded = (): Conversation => JSON.parse(readFileSync(RECORDING, 'utf8'))
const { scene, clear } = claudeStage()
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  await clear()
  for (const end of ends.splice(0)) await end()
})

function binaryOf(context: TestContext): string {
  const binary = process.env.SWITCHBOARD_CLAUDE_BIN
  if (!binary) context.skip('SWITCHBOARD_CLAUDE_BIN names no Claude Code binary (proprietary, opt-in)')
  return binary ?? ''
}

const offline = async () => {
  const { url, close } = await createFakeLlm({ script: asTheDouble }).listen()
  ends.push(close)
  return {
    LANG: 'C.UTF-8',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-dummy-loopback-key',
  }
}

describe('the double', () => {
  it('[I22.cc-real] says what the real one said', async () => {
    const world = claudeWorld()
    ends.push(async () => world.remove())
    const env = { HOME: world.folder, PATH: process.env.PATH ?? '' }
    const spoken = await converse({ command: world.command, env, cwd: world.work })
    expect(spoken).toEqual(recorded())
    expect(Object.keys(spoken.seen)).toHaveLength(6)
  })
})

describe('the real Claude Code', () => {
  it('[I22.cc-real] says what is recorded of it', async (context) => {
    const command = binaryOf(context)
    const world = claudeWorld()
    ends.push(async () => world.remove())
    const env = { HOME: world.folder, PATH: '/usr/bin:/bin', ...(await offline()) }
    const spoken = await converse({ command, env, cwd: world.work })
    if (process.env.SWITCHBOARD_RECORD === '1')
      writeFileSync(RECORDING, `${JSON.stringify(spoken, null, 2)}\n`)
    expect(spoken).toEqual(recorded())
  })

  it('[I22.cc-real] is driven by the connector: approvals, a question, a stop, idling, and a kill in mid-tool', async (context) => {
    const command = binaryOf(context)
    const world = claudeWorld()
    const { turn, says, asked, decide, ended, of, connector, pid } = await scene({
      world,
      options: { command, idle_after: '10m' },
      env: await offline(),
    })
    expect(await turn('hello')).toMatchObject({ kind: 'say', text: 'You said: hello', final: true })
    const allowed = await says(
      'call Bash {"command":"touch made.txt && echo ran","description":"Make a file"}',
    )
    const { ask } = await asked()
    expect(JSON.parse(ask.input)).toEqual({
      command: 'touch made.txt && echo ran',
      description: 'Make a file',
    })
    expect(existsSync(join(world.work, 'made.txt'))).toBe(false)
    await decide('allow')
    expect(await ended(allowed)).toMatchObject({ text: 'The tool said: ran' })
    expect(existsSync(join(world.work, 'made.txt'))).toBe(true)
    const question = await says(
      'call AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}],"multiSelect":false}]}',
    )
    await until('the question', () => of('say').find(({ text }) => text.includes('Which colour?')))
    await says('2')
    expect(await ended(question)).toMatchObject({ text: expect.stringContaining('"Which colour?"="Blue"') })
    const slow = await says('slow 40000 a text that is stopped long before it is whole')
    await until('it writes', () => of('partial').find((one) => one.turn === slow))
    expect(await connector.cancel?.(S1, slow)).toBe(true)
    expect(await turn('hello after the stop')).toMatchObject({ text: 'You said: hello after the stop' })
    // Killed during a tool: the model learns that its outcome is unknown, and nothing runs twice.
    const tool = await says(
      'call Bash {"command":"touch begun; sleep 30; touch finished","description":"Wait"}',
      { turn: 'tK' },
    )
    await decide('allow', { at: 1 })
    await until('the tool runs', () => existsSync(join(world.work, 'begun')))
    process.kill(await pid(), 'SIGKILL')
    expect(await ended(tool)).toMatchObject({ kind: 'returned' })
    await until('nothing of it is left', () => connector.processes?.().length === 0)
    const going = await scene({ world, options: { command }, env: await offline() })
    const end = await going.turn('call Bash {"command":"never again"}', {
      turn: 'tK',
      continuation: true,
      repeat: true,
      attempt: 2,
    })
    expect(end).toMatchObject({ kind: 'say', text: expect.stringContaining('You said:') })
    expect(going.of('ask')).toEqual([])
    expect(existsSync(join(world.work, 'finished'))).toBe(false)
    expect(world.journal.kept.length).toBeGreaterThan(3)
  })
})
