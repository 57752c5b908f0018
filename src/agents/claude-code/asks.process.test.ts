// Questions of Claude Code during a turn, with the double as its program: permissions, questions, plans.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { claudeStage, claudeWorld } from './fixtures/claude-scene.ts'

const { scene, clear } = claudeStage()
afterEach(clear)

describe('asking', () => {
  it('[S10.asked-by-claude-code] [I22.cc-approval] shows the whole input, and runs exactly that', async () => {
    const { says, asked, decide, ended, world } = await scene()
    const command = `make ${'long '.repeat(300)}`.trim()
    const id = await says(`call Bash ${JSON.stringify({ command })}`)
    const { ask } = await asked()
    expect(ask).toMatchObject({ toolName: 'Bash', description: 'As the person wished' })
    expect(JSON.parse(ask.input)).toEqual({ command })
    expect(world.ran()).toEqual([])
    expect(await decide('allow')).toBe('relayed')
    expect(await ended(id)).toMatchObject({ text: `The tool said: ran ${command}` })
    expect(world.ran()).toEqual([command])
    expect(await decide('allow')).toBe('gone')
  })

  it('[I22.cc-approval] a verdict on anything else than what was shown allows nothing', async () => {
    const { says, asked, decide, ended, world } = await scene()
    const id = await says('call Bash {"command":"rm -rf x"}')
    const { ask } = await asked()
    await decide('allow', { ask: { ...ask, input: '{"command":"ls"}' } })
    expect(await ended(id)).toMatchObject({ text: expect.stringContaining('not what was asked for') })
    expect(world.ran()).toEqual([])
  })

  it('[I22.cc-approval] what is asked right behind a result is asked for the message that follows it', async () => {
    const slow = claudeWorld()
    const { add } = slow.journal
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    slow.journal.add = async (step) => {
      await held
      return add(step)
    }
    const { says, asked, decide, ended, of } = await scene({ world: slow })
    const first = await says('slow 1000 well')
    await until('it is begun', () => of('evidence').length > 0)
    const second = await says('call Bash {"command":"make"}')
    // The first has its result, which is not accepted yet.
    const { turn } = await asked()
    release()
    expect(turn).toBe(second)
    expect(await ended(first)).toMatchObject({ text: 'well' })
    await decide('allow')
    expect(await ended(second)).toMatchObject({ text: 'The tool said: ran make' })
  })

  it('[I22.cc-expired] a denial, an expiry and an unreachable approver are told to the model', async () => {
    const { says, decide, ended, world } = await scene()
    for (const [at, cause, words] of [
      [0, 'person', 'kate denied it'],
      [1, 'expired', 'nobody answered'],
      [2, 'unreachable', 'no approver can be reached'],
    ] as const) {
      const id = await says('call Bash {"command":"touch a"}')
      await decide('deny', { at, cause })
      expect(await ended(id)).toMatchObject({ kind: 'say', text: expect.stringContaining(words) })
    }
    expect(world.ran()).toEqual([])
  })

  it('[I22.cc-always] asks each time, unless the configuration names the tool; then for the session alone', async () => {
    const twice = async (options: object) => {
      const { says, decide, ended, of, asked, world } = await scene({ options: { ...options } })
      const first = await says('call Bash {"command":"make test"}')
      const { ask } = await asked()
      await decide('allow')
      await ended(first)
      const second = await says('call Bash {"command":"make test"}')
      if (Object.keys(options).length === 0) await decide('allow', { at: 1 })
      await ended(second)
      expect(world.ran()).toEqual(['make test', 'make test'])
      expect(existsSync(join(world.work, '.claude'))).toBe(false)
      return { asks: of('ask').length, description: ask.description }
    }
    expect(await twice({})).toEqual({ asks: 2, description: 'As the person wished' })
    const named = await twice({ always_allow: ['Bash'] })
    expect(named.asks).toBe(1)
    expect(named.description).toContain('not asked for again in this session: Bash(make test)')
  })

  it('[I22.cc-question] a question is put into the chat, and the next message of that person is its answer', async () => {
    const { says, of, ended, outputs } = await scene()
    const id = await says('ask')
    const put = await until('the question', () => of('say')[0])
    expect(put).toMatchObject({ turn: id })
    expect(put.final).toBeUndefined()
    expect(put.text).toContain('Which colour?')
    expect(put.text).toContain('2. **Blue** – cold')
    // Another person's message is no answer.
    const other = await says('hello from ann', { sender: { id: 'ann' } })
    const answer = await says('2')
    expect(await ended(id)).toMatchObject({
      text: expect.stringContaining('"Which colour?"="Blue"'),
    })
    expect(outputs.filter((one) => one.kind === 'evidence' && one.turn === answer)).toEqual([
      { kind: 'evidence', turn: answer, of: 'seen' },
      { kind: 'evidence', turn: answer, of: 'answered', covered: true },
    ])
    expect(await ended(other)).toBeDefined()
  })

  it('[I22.cc-choices] what may be picked goes along; a pick answers its own question alone, and a late one is told so', async () => {
    const { says, of, ended, turn } = await scene()
    const id = await says('ask')
    const { pick } = await until('the question', () => of('say')[0])
    expect(pick?.labels).toEqual(['Red', 'Blue'])
    const late = 'That question is over, or another person was asked.'
    expect(await turn('1', { meta: { picked: 'another' } })).toMatchObject({ text: late })
    const picked = { picked: pick?.of ?? '' }
    expect(await turn('1', { meta: picked, sender: { id: 'ann' } })).toMatchObject({ text: late })
    await says('2', { meta: picked })
    expect(await ended(id)).toMatchObject({ text: expect.stringContaining('"Which colour?"="Blue"') })
    expect(await turn('1', { meta: picked })).toMatchObject({ text: late })
  })

  it('[I22.cc-question] several questions come one after the other; own words are taken as they are', async () => {
    const { says, of, ended } = await scene()
    const id = await says('ask-many')
    await until('the first', () => of('say')[0])
    await says('something like teal')
    const second = await until('the second', () => of('say')[1])
    expect(second.text).toContain('Answer with numbers')
    await says('1, 2')
    expect(await ended(id)).toMatchObject({
      text: expect.stringContaining('"Which colour?"="something like teal", "Which colours?"="Red, Blue"'),
    })
  })

  it('[I22.cc-plan] a plan is shown and approved, or sent back', async () => {
    const { says, asked, decide, ended } = await scene({ options: { permission_mode: 'plan' } })
    const id = await says('plan')
    const { ask } = await asked()
    expect(ask).toMatchObject({
      toolName: 'ExitPlanMode',
      input: '1. Look\n2. Leap\n\nAlso: {\n  "planFilePath": "/tmp/plan.md"\n}',
      description: expect.stringContaining('A plan'),
    })
    await decide('allow')
    expect(await ended(id)).toMatchObject({ text: 'The tool said: User has approved your plan.' })
    const again = await says('plan')
    await decide('deny', { at: 1 })
    expect(await ended(again)).toMatchObject({ text: expect.stringContaining('kate denied it') })
  })
})

describe('places', () => {
  it('[I35.b27-claude-code] [I35.b27-no-longer] a process that only waits for a person gives its place away, to as many more, and goes on at once', async () => {
    const { connector, says, of, decide, ended, details, world } = await scene({
      options: { max_processes: 1 },
    })
    const at = (n: number) => ({ session: `${n}1111111-1111-5111-8111-111111111111`, chatId: `place:${n}` })
    const first = await says('call Bash {"command":"make first"}', at(1))
    await until('the first asks', () => of('ask').length === 1)
    await says('call Bash {"command":"make second"}', at(2))
    await until('the second asks', () => of('ask').length === 2)
    expect(connector.processes?.()).toHaveLength(2)
    // At most max_processes further sessions may wait like that.
    await expect(says('hello', at(3))).rejects.toMatchObject({ code: 'agent_absent', busy: true })
    expect(details.at(-1)).toBe('1 processes run already (max_processes): messages wait for a place')
    await decide('allow')
    expect(await ended(first)).toMatchObject({ text: 'The tool said: ran make first' })
    expect(world.ran()).toEqual(['make first'])
    // The third was stopped, so it is not tried again.
    await until('nothing waits any more', () => details.at(-1) === undefined)
  })
})
