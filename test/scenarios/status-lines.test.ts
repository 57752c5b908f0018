// What an agent is doing, shown as a line beside the answer: one for each turn, lossy, in nobody's way, and not left behind.
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River, type RiverOptions } from './river.ts'

const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })
const WORLD = { integrations: [CHAT], agents: [testAgent('demo', ['chat'])] }
/** The agent lives on without us, as one behind a URL does. */
const LIVES_ON = {
  redelivery: { handed: 'wait', seen: 'wait', afterTimeout: true },
} satisfies RiverOptions['agent']

describeRiver('status lines', (open) => {
  /** A turn that the agent has seen and works on. */
  const working = async (options: RiverOptions = {}): Promise<{ river: River; turn: Delivery }> => {
    const river = await open({ ...WORLD, platform: { statusLines: true, ...options.platform }, ...options })
    river.agent.script = async (delivery, agent) => {
      await agent.evidence(delivery, 'seen', { working: true })
    }
    await river.person('anna').says('go')
    await river.settle()
    const [turn] = river.agent.deliveries
    if (!turn) throw new Error('nothing was delivered')
    return { river, turn }
  }
  const shown = (river: River) => river.platform.statusLines.map(({ line, text }) => ({ line, text }))
  const standing = (river: River) => {
    const lines = new Map<string, string>()
    for (const { line, text } of river.platform.statusLines)
      if (text === null) lines.delete(line)
      else lines.set(line, text)
    return [...lines.values()]
  }

  it('[I14.status-line] one line a turn, changed to the newest word, gone with the answer', async () => {
    const { river, turn } = await working()
    await river.agent.status(turn, 'reading\n  the log')
    await river.settle()
    expect(shown(river)).toEqual([])
    await river.pass(2_000)
    expect(standing(river)).toEqual(['reading the log'])
    for (const text of ['a', 'b', 'c']) await river.agent.status(turn, text)
    await river.pass(4_000)
    expect(shown(river).map(({ text }) => text)).toEqual(['reading the log', 'c'])
    await river.agent.answer(turn, 'done')
    await river.settle()
    const [first] = shown(river)
    expect(shown(river).at(-1)).toEqual({ line: first?.line, text: null })
    expect(new Set(shown(river).map(({ line }) => line)).size).toBe(1)
    expect(river.platform.texts('anna')).toEqual(['done'])
    expect(await river.store().statusLines(10)).toEqual([])
    await river.agent.status(turn, 'too late')
    await river.pass(60_000)
    expect(standing(river)).toEqual([])
  })

  it('[I14.status-line] an answer that comes at once is not announced, and a failed turn leaves no line', async () => {
    const { river, turn } = await working()
    await river.agent.status(turn, 'reading')
    await river.agent.answer(turn, 'done')
    await river.pass(30_000)
    expect(shown(river)).toEqual([])
    await river.person('anna').says('again')
    await river.settle()
    const second = river.agent.deliveries.at(-1)
    if (!second) throw new Error('nothing was delivered')
    await river.agent.status(second, `x${' y'.repeat(9_000)}`)
    await river.pass(2_000)
    expect(standing(river).map((text) => [...text].length)).toEqual([201])
    await river.agent.fail(second, 'it broke')
    await river.settle()
    expect(standing(river)).toEqual([])
  })

  it('[I14.status-bounded] whoever watches is told a line of it, however long it is', async () => {
    const { river, turn } = await working()
    await river.agent.status(turn, '🙂'.repeat(300_000))
    await river.settle()
    const told = river.platform.signals.flatMap(({ signal }) =>
      signal.kind === 'status' ? [signal.text] : [],
    )
    expect(told).toEqual([`${'🙂'.repeat(500)}…`])
  })

  it('[I14.status-line] nothing is shown to a chat whose sender may speak no more', async () => {
    const { river, turn } = await working()
    await river.agent.status(turn, 'reading')
    const closed = testIntegration('chat', { access: { ...OPEN, allowFrom: ['bert'] } })
    await river.configure({ ...WORLD, integrations: [closed] })
    await river.pass(10_000)
    expect(shown(river)).toEqual([])
  })

  it.each([
    ['away', { kind: 'unavailable' }],
    ['refused', { kind: 'rejected' }],
    ['asked to wait for an hour', { kind: 'busy', retryAfterMs: 3_600_000 }],
    ['never answered', { kind: 'hang' }],
    ['not confirmed', { kind: 'unknown', arrived: true }],
  ] as const)(
    '[I14.status-gives-way] a line that is %s holds up neither answer nor prompt',
    async (_how, fault) => {
      const { river, turn } = await working({ platform: { statusLines: true, statusFault: () => fault } })
      for (let at = 0; at < 10; at++) {
        await river.agent.status(turn, `step ${at}`)
        await river.pass(5_000)
      }
      // Of one that nobody confirmed a second is not made.
      expect(standing(river)).toEqual(fault.kind === 'unknown' ? ['step 0'] : [])
      await river.agent.ask(turn, { toolName: 'Bash', description: 'List', input: 'ls' })
      await river.agent.answer(turn, 'done')
      await river.settle()
      // The prompt, the answer, and that the question is none any more: a line, or the prompt itself where it was confirmed.
      expect(river.platform.texts('anna').slice(1).toSorted()).toEqual([
        expect.stringMatching(/^Bash \([a-z]{5}\): no longer asked/),
        'done',
      ])
      river.platform.release()
      await river.settle()
    },
  )

  it('[I14.status-gives-way] a line waits for the pace of what is said', async () => {
    const { river, turn } = await working({ platform: { statusLines: true, paceMs: 20_000 } })
    await river.agent.say(turn, 'first')
    await river.agent.status(turn, 'reading')
    await river.pass(10_000)
    expect(shown(river)).toEqual([])
    await river.pass(15_000)
    expect(standing(river)).toEqual(['reading'])
  })

  it('[I14.status-restart] a stop takes the line away, and the next status shows a new one', async () => {
    const { river, turn } = await working({ agent: LIVES_ON })
    await river.agent.status(turn, 'reading')
    await river.pass(2_000)
    expect(standing(river)).toEqual(['reading'])
    await river.restartCleanly()
    expect(standing(river)).toEqual([])
    await river.pass(2_000)
    await river.agent.status(turn, 'still at it')
    await river.pass(2_000)
    expect(standing(river)).toEqual(['still at it'])
    await river.agent.answer(turn, 'done')
    await river.settle()
    expect(standing(river)).toEqual([])
  })

  it('[I14.status-restart] after a kill the line of an open turn is gone on with, and taken away at its end', async () => {
    const { river, turn } = await working({ agent: LIVES_ON })
    await river.agent.status(turn, 'reading')
    await river.pass(2_000)
    await river.restart()
    await river.pass(30_000)
    await river.agent.status(turn, 'still at it')
    await river.pass(4_000)
    expect(standing(river)).toEqual(['still at it'])
    await river.agent.answer(turn, 'done')
    await river.pass(20_000)
    expect(standing(river)).toEqual([])
    expect(await river.store().statusLines(10)).toEqual([])
  })

  it('[I14.status-restart] a line whose removal failed, or whose turn ended in the last moment, goes after the next start', async () => {
    let away = true
    const { river, turn } = await working({
      agent: LIVES_ON,
      platform: {
        statusLines: true,
        statusFault: (text) => (text === null && away ? { kind: 'unavailable' } : null),
      },
    })
    await river.agent.status(turn, 'reading')
    await river.pass(2_000)
    await river.agent.answer(turn, 'done')
    await river.settle()
    expect(standing(river)).toEqual(['reading'])
    await river.restart()
    away = false
    await river.pass(60_000)
    expect(standing(river)).toEqual([])
  })
})
