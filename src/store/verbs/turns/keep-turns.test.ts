// A turn that goes to another session is stored in that one, or not at all.
import { expect, it } from 'vitest'
import type { ReceiveItem } from '../../../contract/index.ts'
import { item } from '../../../testing/store-suite/fixture.ts'
import type { Answer, Statement, Steps, Value } from '../../statement.ts'
import type { VerbContext } from '../../verb-context.ts'
import { keep, TURN_INSERT } from './keep-turns.ts'

const SESSION = TURN_INSERT.columns.indexOf('session')
const LANE = TURN_INSERT.columns.indexOf('lane')

/** Runs a verb on a database with one session; `written` contains what it writes. */
function kept(one: ReceiveItem, leadsTo: string) {
  const written: (readonly Value[])[] = []
  const answer = (asked: Statement): Answer => {
    if (asked.form === 'together') return { answers: asked.statements.map(answer) }
    if (asked.form === 'reserve') return Array.from({ length: asked.count }, (_, at) => 40 + at)
    if (asked.form === 'rows')
      return JSON.stringify(asked.params).includes('s_there')
        ? [{ id: 's_there', agent: 'paul', seq: 7 }]
        : []
    if (asked.form !== 'insert') return undefined
    written.push(...asked.rows)
    return asked.rows.map(() => true)
  }
  const context = {
    ...{ now: 1, tag: 'x', entries: [], counts: new Map(), hints: new Map(), freshSessions: new Map() },
    memory: { sessions: null, sessionFacts: new Map(), lanes: null },
    born: { turns: new Map(), sessions: new Map() },
  } as unknown as VerbContext
  const run = (steps: Steps<unknown>) => {
    let step = steps.next(undefined as never)
    while (!step.done) step = steps.next(answer(step.value as Statement) as never)
    return step.value
  }
  return { run: () => run(keep(context, [one], { leadsTo })), written }
}

it('keeps a turn that is led elsewhere in that session and lane, and bears none', () => {
  const { run, written } = kept(item({ text: 'hi' }), 's_there')
  expect(run()).toMatchObject([{ duplicate: false, state: 'queued', session: 's_there' }])
  expect(written.map((row) => [row[SESSION], row[LANE]])).toEqual([['s_there', 7]])
})

it('writes nothing for a session that is not there', () => {
  const { run, written } = kept(item({ text: 'hi' }), 's_gone')
  expect(run).toThrow('there is no session s_gone')
  expect(written).toEqual([])
})
