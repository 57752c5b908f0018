// Which verbs of a commit run side by side, and which wait for each other.
import { describe, expect, it } from 'vitest'
import { item, send } from '../testing/store-suite/fixture.ts'
import { planParallelVerbs } from './parallel-verbs.ts'
import type { Verb } from './verb-context.ts'
import { receive } from './verbs/receive/receive.ts'
import { enqueue } from './verbs/sends/enqueue.ts'
import { moveSends } from './verbs/sends/move-sends.ts'
import { takeSends } from './verbs/sends/take-sends.ts'
import { releaseLanes } from './verbs/turns/lanes.ts'
import { accept, moveTurns } from './verbs/turns/move-turns.ts'
import { takeTurns } from './verbs/turns/take-turns.ts'
import { beat } from './verbs/upkeep/nodes.ts'

const VERBS = { receive, takeTurns, moveTurns, accept, enqueue, takeSends, moveSends, releaseLanes, beat }
type Name = keyof typeof VERBS

function plan(...calls: readonly (readonly [Name, unknown])[]) {
  const pending = calls.map(([name, args]) => ({ verb: VERBS[name] as Verb<unknown, unknown>, args }))
  const nameOf = (verb: unknown) => Object.entries(VERBS).find(([, one]) => one === verb)?.[0] ?? ''
  return planParallelVerbs(pending).map((wave) =>
    wave.map(({ verb, at }) => `${nameOf(verb)} ${at.join(' ')}`),
  )
}

const received = (...effects: readonly unknown[]) => ({
  items: [{ ...item(), effects }],
  cursor: null,
  mark: null,
})
const lanes = (...names: readonly string[]) => ({ lanes: names.map((lane) => ({ lane })), leaseMs: 1 })
const moves = (...names: readonly string[]) => names.map((lane) => ({ lane }))
const settled = (lane: string, ...sends: readonly unknown[]) => ({ sends, moves: moves(lane) })

describe('the waves of a commit', () => {
  it('[I23.pg-waves] one for all steps of different lanes, calls of one verb together', () => {
    expect(
      plan(
        ['takeTurns', lanes('a')],
        ['receive', received()],
        ['accept', settled('b')],
        ['takeSends', lanes('a')],
        ['receive', received()],
        ['moveSends', moves('b')],
        ['enqueue', [send()]],
      ),
    ).toEqual([['receive 1 4', 'accept 2', 'enqueue 6', 'moveSends 5', 'takeTurns 0', 'takeSends 3']])
  })

  it('[I23.pg-waves] who touches the lane of another comes behind it', () => {
    expect(plan(['moveTurns', moves('a')], ['accept', settled('a')])).toEqual([['moveTurns 0'], ['accept 1']])
    expect(plan(['accept', settled('a')], ['takeTurns', lanes('b', 'a')])).toEqual([
      ['accept 0'],
      ['takeTurns 1'],
    ])
    // The same name is a different lane for sends.
    expect(plan(['moveTurns', moves('a')], ['moveSends', moves('a')])).toHaveLength(1)
  })

  it('[I23.pg-waves] what was settled may be given back with it, and is taken behind that', () => {
    const given = { kind: 'turns', ...lanes('a') }
    expect(plan(['moveTurns', moves('a')], ['releaseLanes', given])).toHaveLength(1)
    expect(plan(['releaseLanes', given], ['moveTurns', moves('a')])).toHaveLength(2)
    expect(plan(['moveTurns', moves('a')], ['releaseLanes', given], ['takeTurns', lanes('a')])).toEqual([
      ['moveTurns 0', 'releaseLanes 1'],
      ['takeTurns 2'],
    ])
  })

  it('[I23.pg-waves] effects, the end of a shown answer and every other verb come alone', () => {
    const shown = settled('b', { ...send(), finishes: true })
    expect(
      plan(
        ['takeTurns', lanes('a')],
        ['receive', received({ kind: 'withdraw' })],
        ['accept', shown],
        ['beat', {}],
        ['beat', {}],
        ['takeSends', lanes('a')],
      ),
    ).toEqual([['takeTurns 0'], ['receive 1'], ['accept 2'], ['beat 3 4'], ['takeSends 5']])
  })
})
