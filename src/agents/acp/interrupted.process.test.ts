// A turn of an ACP agent whose process, or ours, ends in the middle: it is reported, marked or asked about, never
// simply delivered again.
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { delivery } from '../../testing/suites/connector-suite.ts'
import { asked, endOf, SESSION, scene } from './fixtures/acp-scene.ts'

describe('after an interruption', () => {
  it('[I22.acp-load] [I22.acp-resume] an idle or restarted agent takes its session up again, by resume where it can', async () => {
    for (const flags of [['--load'], ['--resume'], ['--load', '--resume']]) {
      const first = await scene({ flags })
      expect(await first.turn('hello')).toMatchObject({ text: 'echo: hello' })
      await first.connector.stop()
      const second = await scene({ flags, folder: first.folder, journal: first.journal })
      expect(await second.turn('remember')).toMatchObject({ text: '2' })
      expect(second.recorded.outputs.filter(({ kind }) => kind === 'say')).toHaveLength(1)
    }
  })

  it('[I22.acp-lost] where the agent no longer has the session a new one begins, and the person is told', async () => {
    const first = await scene({ flags: ['--load', '--load-refused'] })
    await first.turn('hello')
    await first.connector.stop()
    const second = await scene({ flags: ['--load', '--load-refused'], folder: first.folder })
    expect(await second.turn('remember')).toMatchObject({ text: '1' })
    expect(second.recorded.outputs).toContainEqual(
      expect.objectContaining({ kind: 'say', text: expect.stringContaining('starts again') }),
    )
  })

  it('[S6.resume-not-replay] [I22.no-tool-twice] a turn that was seen goes on: what its tools did is told, and no tool runs twice', async () => {
    const first = await scene()
    await first.connector.deliver(delivery('work'))
    await until('it happens', async () => (first.runs().length === 1 ? true : null))
    await until('it happens', async () => ((await first.journal.steps('t_test_1')).length >= 2 ? true : null))
    await first.connector.stop()
    const second = await scene({ folder: first.folder, journal: first.journal })
    const end = await second.turn('work', { turn: 't_test_1', repeat: true, continuation: true })
    expect(end).toMatchObject({
      kind: 'say',
      text: expect.stringContaining('went on: [From Switchboard] Your work'),
    })
    expect(end).toMatchObject({ text: expect.stringContaining('not to be run again: write the log') })
    expect(second.runs()).toHaveLength(1)
  })

  it('[I22.acp-not-begun] a message that the agent does not have comes again, marked', async () => {
    const first = await scene()
    await first.turn('hello')
    await first.connector.stop()
    const second = await scene({ folder: first.folder })
    const end = await second.turn('said', { turn: 't_new', repeat: true })
    expect(end).toMatchObject({ text: expect.stringContaining('redelivery="true"') })
    expect(end).toMatchObject({ text: expect.not.stringContaining('may have reached you') })
  })

  it('[I22.acp-maybe] where it does not tell what it remembers, the message is marked as one that may have come', async () => {
    const first = await scene({ flags: ['--resume'] })
    await first.turn('hello')
    await first.connector.stop()
    const second = await scene({ flags: ['--resume'], folder: first.folder })
    const end = await second.turn('said', { turn: 't_new', repeat: true })
    expect(end).toMatchObject({ text: expect.stringContaining('may have reached you before') })
  })

  it('[I22.acp-asked] where nothing can be known a person is asked, and no ends it', async () => {
    for (const behavior of ['allow', 'deny'] as const) {
      const first = await scene({ flags: [] })
      await first.connector.deliver(delivery('work'))
      await until('it happens', async () =>
        (await first.journal.steps('t_test_1')).length >= 2 ? true : null,
      )
      await first.connector.stop()
      const second = await scene({ flags: [], folder: first.folder, journal: first.journal })
      await second.connector.deliver(delivery('hello', { repeat: true, continuation: true }))
      const { input } = await asked(second.recorded, behavior, second.connector)
      expect(input).toContain('Tools that were begun: write the log')
      const end = await endOf(second.recorded, 't_test_1')
      if (behavior === 'allow') expect(end).toMatchObject({ kind: 'say', text: 'echo: hello' })
      else expect(end).toMatchObject({ kind: 'failed', detail: expect.stringContaining('interrupted') })
      expect(second.runs()).toHaveLength(1)
    }
  })

  /** Its tool ran in one run of the daemon, and in the next the agent no longer remembers. */
  const forgotten = async (flags: readonly string[]) => {
    const first = await scene({ flags })
    await first.connector.deliver(delivery('work'))
    await until('it happens', async () => ((await first.journal.steps('t_test_1')).length >= 2 ? true : null))
    await first.connector.stop()
    const { folder, journal } = first
    return { folder, journal, again: { repeat: true, continuation: true } as const }
  }
  const question = ({ recorded }: Awaited<ReturnType<typeof scene>>) =>
    until('it is asked', () => recorded.outputs.find((one) => one.kind === 'ask')?.ask)

  it('[I22.anew-durable] killed while a person is asked, the next life asks the same, though its agent has a memory by then', async () => {
    const { folder, journal, again } = await forgotten(['--load'])
    const second = await scene({ flags: ['--load', '--load-refused'], folder, journal })
    await second.connector.deliver(delivery('hello', again))
    const first = await question(second)
    await second.connector.stop()
    const third = await scene({ flags: ['--load'], folder, journal })
    await third.connector.deliver(delivery('hello', { ...again, attempt: 3 }))
    expect(await asked(third.recorded, 'allow', third.connector)).toEqual(first)
    expect(await endOf(third.recorded, 't_test_1')).toMatchObject({ text: 'echo: hello' })
  })

  it('[I22.anew-once] a yes is for one beginning: interrupted again, it is another question', async () => {
    const { folder, journal, again } = await forgotten([])
    const second = await scene({ flags: [], folder, journal })
    await second.connector.deliver(delivery('work', again))
    await asked(second.recorded, 'allow', second.connector)
    await until('it runs again', async () => second.runs().length === 2)
    await second.connector.stop()
    const third = await scene({ flags: [], folder, journal })
    await third.connector.deliver(delivery('work', { ...again, attempt: 3 }))
    expect((await question(third)).input).toContain('interrupted again: 1 time')
    expect(third.runs()).toHaveLength(2)
  })

  it('[I35.b27] a process whose turn waits for that answer gives its place away', async () => {
    const { folder, journal, again } = await forgotten([])
    const second = await scene({ flags: [], folder, journal, options: { max_processes: 1 } })
    await second.connector.deliver(delivery('hello', again))
    await question(second)
    const session = '21111111-1111-5111-8111-111111111111'
    expect(await second.turn('hello', { session, chatId: 'place:2', turn: 't_other' })).toMatchObject({
      text: 'echo: hello',
    })
    await asked(second.recorded, 'allow', second.connector)
    expect(await endOf(second.recorded, 't_test_1')).toMatchObject({ text: 'echo: hello' })
  })

  it('[I22.anew-stop] stopped while a person is asked: an answer begins nothing, and the next message is answered', async () => {
    const { folder, journal, again } = await forgotten([])
    const second = await scene({ flags: [], folder, journal })
    await second.connector.deliver(delivery('work', again))
    const ask = await question(second)
    expect(await second.connector.cancel?.(SESSION, 't_test_1')).toBe(true)
    const verdict = { session: SESSION, turn: 't_test_1', decidedBy: 'dev', cause: 'person', ask } as const
    const approval = `o_test_${second.recorded.outputs.findIndex(({ kind }) => kind === 'ask') + 1}`
    expect(await second.connector.verdict?.({ ...verdict, approval, behavior: 'allow' })).toBe('gone')
    expect(await second.turn('hello', { turn: 't_2' })).toMatchObject({ text: 'echo: hello' })
    expect(second.runs()).toHaveLength(1)
  })

  it('[I22.exit-in-turn] a process that ends in the middle gives its turn back, with how it ended', async () => {
    const { turn, runs, connector, recorded } = await scene()
    expect(await turn('work die')).toMatchObject({
      kind: 'returned',
      counted: true,
      detail: expect.stringContaining('exit code 3'),
    })
    const from = recorded.outputs.length
    const again = delivery('x', { turn: 't_test_1', repeat: true, continuation: true })
    // A start right after a failure is delayed.
    await until('it is started again', () =>
      connector.deliver(again).then(
        () => true,
        () => false,
      ),
    )
    expect(recorded.attached).toBe(true)
    expect(await endOf(recorded, 't_test_1', from)).toMatchObject({
      text: expect.stringContaining('went on'),
    })
    expect(runs()).toHaveLength(1)
  })

  it('[I22.approval-killed] a permission that was never given is not told as begun', async () => {
    const first = await scene()
    await first.connector.deliver(delivery('ask'))
    await until('it happens', async () => first.recorded.outputs.some(({ kind }) => kind === 'ask') || null)
    await first.connector.stop()
    const second = await scene({ folder: first.folder, journal: first.journal })
    const end = await second.turn('ask', { turn: 't_test_1', repeat: true, continuation: true })
    expect(end).toMatchObject({ text: expect.stringContaining('went on') })
    expect(end).toMatchObject({ text: expect.not.stringContaining('outcome that is not known') })
  })

  it('[I22.acp-nodes] a session stays with the node that began it; that node gone, the person is told', async () => {
    const alive = new Set(['a', 'b'])
    const node = (self: string) => ({ deps: { nodes: { self, isAlive: (one: string) => alive.has(one) } } })
    const a = await scene(node('a'))
    expect(await a.turn('hello')).toMatchObject({ text: 'echo: hello' })
    const past = [{ turn: 't_test_1', steps: await a.journal.steps('t_test_1') }]
    const journal = { ...a.journal, past: async () => past as never }
    const b = await scene({ ...node('b'), journal })
    await expect(b.connector.deliver(delivery('more', { turn: 't_2' }))).rejects.toMatchObject({
      code: 'agent_absent',
      message: expect.stringContaining('on node a'),
    })
    expect(b.connector.room?.(SESSION)).toBe(0)
    alive.delete('a')
    await expect(b.connector.deliver(delivery('more', { turn: 't_2' }))).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('/new'),
    })
  })

  it('[I22.acp-new] a new session of the same chat ends the process of the old one', async () => {
    const { turn, connector } = await scene()
    await turn('hello')
    await turn('hello', { session: '22222222-2222-5222-8222-222222222222' })
    await until('the old one is gone', () => connector.processes?.().length === 1)
    expect(connector.processes?.()[0]?.name).toContain('22222222')
  })

  it('[I22.acp-new] and of one that is at work when it is done', async () => {
    const { turn, connector, runs } = await scene()
    await connector.deliver(delivery('work'))
    await until('it works', async () => runs().length === 1)
    await turn('hello', { turn: 't_2', session: '22222222-2222-5222-8222-222222222222' })
    expect(connector.processes?.()).toHaveLength(2)
    await connector.cancel?.(SESSION, 't_test_1')
    await until('the old one is gone', () => connector.processes?.().length === 1)
    expect(connector.processes?.()[0]?.name).toContain('22222222')
  })
})
