// Output of an agent, one condition at a time: whose turn it is, where replies go, silence, failures, and what is
// shown.
import { describe, expect, it } from 'vitest'
import { cutAnswer, MOST_ANSWER_CHARS } from '../../../contract/index.ts'
import { opened, rowOf } from '../fixtures/agent-outlet-scene.ts'

describe('what is said', () => {
  it('settles its turn: seen, or answered when it is final; without a turn nothing is settled', async () => {
    const { say, flights, puts, shown } = opened()
    flights.set('t', rowOf('t'))
    expect(await say({ turn: 't' })).toEqual({ id: 'o1' })
    expect(shown).toEqual([])
    await say({ turn: 't', final: true, before: ['first'] })
    await say({})
    expect(puts).toEqual([
      { texts: ['yes'], finishes: false, settles: { turn: 't', to: 'seen' } },
      { texts: ['first', 'yes'], finishes: false, settles: { turn: 't', to: 'answered', text: 'yes' } },
      { texts: ['yes'], finishes: false, settles: undefined },
    ])
    expect(shown).toEqual(['ended t'])
  })

  it('[I35.b7] is cut at one limit for every connector, and says so', async () => {
    const { say, flights, puts } = opened()
    flights.set('t', rowOf('t'))
    const long = 'x'.repeat(MOST_ANSWER_CHARS + 1)
    await say({ turn: 't', final: true, text: long, before: [long] })
    expect(puts[0]?.texts).toEqual([cutAnswer(long), cutAnswer(long)])
  })

  it('is known by the id of its first row, and by none where nothing was to be said', async () => {
    const { say, flights, world } = opened()
    flights.set('t', rowOf('t'))
    world.ids = ['o1', 'o2']
    expect(await say({ turn: 't' })).toEqual({ id: 'o1' })
    world.ids = []
    expect(await say({ turn: 't' })).toEqual({ id: null })
  })

  it('takes the place of what was shown of it only when it is final, for a turn, and shown by edits', async () => {
    const { say, flights, puts, world } = opened()
    flights.set('t', rowOf('t'))
    await say({ turn: 't', final: true })
    world.edits = true
    await say({ turn: 't' })
    await say({ final: true })
    await say({ turn: 't', final: true })
    expect(puts.map(({ finishes }) => finishes)).toEqual([false, false, false, true])
  })

  it('of another agent’s turn or session is not found', async () => {
    const { say, flights, puts } = opened()
    flights.set('t', rowOf('t', { agent: 'paul' }))
    await expect(say({ turn: 't' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(say({ session: 'other' })).rejects.toMatchObject({ code: 'not_found' })
    expect(puts).toEqual([])
  })

  it('for a turn that is over goes out all the same, unless it must be the sole answer', async () => {
    const { say, flights, rows, puts, world } = opened()
    rows.set('t', rowOf('t', { state: 'answered' }))
    await say({ turn: 't' })
    await say({ turn: 't', final: true, sole: true })
    expect(puts.map(({ settles }) => settles)).toEqual([
      undefined,
      { turn: 't', to: 'answered', text: 'yes', sole: true },
    ])
    world.ids = null
    await expect(say({ turn: 't', sole: true })).rejects.toThrow('was answered, or given up')
    flights.set('t', rowOf('t'))
    await expect(say({ turn: 't' })).rejects.toThrow('no longer this node')
  })

  it('is left unsaid where the tool said it and the turn went on; the turn ends all the same', async () => {
    const { say, flights, rows, puts, settled, shown } = opened()
    for (const row of [rowOf('t', { state: 'seen', reason: 'replied' }), rowOf('u', { state: 'seen' })]) {
      flights.set(row.id, row)
      rows.set(row.id, row)
    }
    expect(await say({ turn: 't', final: true, sole: true, unlessReplied: true })).toEqual({ id: null })
    expect(settled).toEqual([['t', 'answered', undefined, undefined]])
    expect(shown).toEqual(['ended t'])
    expect(puts).toEqual([])
    await say({ turn: 'u', final: true, sole: true, unlessReplied: true })
    expect(puts).toHaveLength(1)
  })

  it('is refused where the turn was lost to another node', async () => {
    const { say, rows, puts, world } = opened()
    rows.set('t', rowOf('t'))
    world.lost = true
    await expect(say({ turn: 't' })).rejects.toMatchObject({ code: 'conflict' })
    await say({})
    expect(puts).toHaveLength(1)
  })

  it('where nobody hears: an answer ends its turn without a row, anything else is refused', async () => {
    const { say, flights, puts, world } = opened()
    Object.assign(world, { oneWay: true, files: false })
    flights.set('t', rowOf('t'))
    await say({ turn: 't', final: true, files: [{ name: 'a' } as never] })
    flights.set('u', rowOf('u', { integration: '_schedule' }))
    await say({ turn: 'u', final: true })
    expect(puts.map(({ texts }) => texts)).toEqual([[], []])
    await expect(say({})).rejects.toMatchObject({ code: 'execution_failed' })
  })

  it('files follow the text, and are refused whole where the platform takes none', async () => {
    const { say, puts, world } = opened()
    await say({ files: [{ name: 'a', mime: 'x' } as never] })
    expect(puts[0]?.texts).toEqual(['yes', 'file'])
    world.files = false
    await expect(say({ files: [{ name: 'a' } as never] })).rejects.toThrow('takes no files')
    expect(puts).toHaveLength(1)
  })

  it('a final answer without a word is one without a reply; with a file it is not', async () => {
    const { say, flights, puts, settled } = opened()
    flights.set('t', rowOf('t'))
    await say({ turn: 't', final: true, text: ' ', before: ['\n'] })
    expect([puts, settled]).toEqual([
      [],
      [['t', 'answered', 'no_reply', [expect.stringContaining('without replying')]]],
    ])
    await say({ turn: 't', final: true, text: '', files: [{ name: 'a', mime: 'x' } as never] })
    await say({ turn: 't', final: true, text: '', before: ['x'] })
    // The same holds for text that does not end a turn.
    await say({ turn: 't', text: '' })
    await say({ final: true, text: '' })
    expect([puts.length, settled.length]).toEqual([4, 1])
  })
})

describe('evidence', () => {
  const NONE = expect.stringContaining('without replying')

  it('of an answer without a reply is told, unless it said something, is covered, or cannot be told', async () => {
    const { outlet, flights, settled, world } = opened()
    flights.set('t', rowOf('t'))
    const answered = { kind: 'evidence', turn: 't', of: 'answered' } as const
    await outlet.accept(answered)
    await outlet.accept({ ...answered, covered: true })
    await outlet.accept({ ...answered, of: 'seen', working: true })
    world.said = true
    await outlet.accept(answered)
    world.said = false
    world.oneWay = true
    await outlet.accept(answered)
    expect(settled).toEqual([
      ['t', 'answered', 'no_reply', [NONE]],
      ['t', 'answered', undefined, []],
      ['t', 'seen', 'working', []],
      ['t', 'answered', undefined, []],
      ['t', 'answered', 'no_reply', []],
    ])
  })

  it('of silence after trouble that it told is its failure, by the last trouble', async () => {
    const { outlet, flights, settled, world } = opened()
    flights.set('t', rowOf('t'))
    const error = (text: string | null) => ({ kind: 'error', text, name: 'E' })
    world.events = [error('first'), error('last'), { kind: 'call', text: 'x' }]
    await outlet.accept({ kind: 'evidence', turn: 't', of: 'answered' })
    world.events = [error(null)]
    await outlet.accept({ kind: 'evidence', turn: 't', of: 'answered' })
    expect(settled).toEqual([
      ['t', 'failed', 'agent_failed', [expect.stringContaining('(last)')]],
      ['t', 'answered', 'no_reply', [NONE]],
    ])
  })

  it('of a turn at another node looks for the reply in the outbox; of another agent’s there is none', async () => {
    const { outlet, rows, flights, settled, world } = opened()
    Object.assign(world, {
      waits: true,
      shared: true,
      sends: [
        { cause: 'notice', seq: 1 },
        { cause: 'reply', seq: 2 },
      ],
    })
    rows.set('t', rowOf('t'))
    await outlet.accept({ kind: 'evidence', turn: 't', of: 'answered' })
    world.sends = [{ cause: 'notice', seq: 1 }]
    await outlet.accept({ kind: 'evidence', turn: 't', of: 'answered' })
    flights.set('u', rowOf('u', { agent: 'paul' }))
    rows.set('v', rowOf('v', { agent: 'paul' }))
    for (const turn of ['u', 'v']) await outlet.accept({ kind: 'evidence', turn, of: 'answered' })
    expect(settled).toEqual([
      ['t', 'answered', undefined, []],
      ['t', 'answered', 'no_reply', [NONE]],
    ])
  })

  it('of a turn that rests counts though nobody has it in flight; of one that waits at another node it waits', async () => {
    const { outlet, rows, flights, clock, settled, world } = opened()
    rows.set('t', rowOf('t', { state: 'seen', reason: 'acknowledged' }))
    await outlet.accept({ kind: 'evidence', turn: 't', of: 'answered', covered: true })
    expect(settled).toEqual([['t', 'answered', undefined, []]])
    Object.assign(world, { waits: true, shared: true })
    rows.set('u', rowOf('u', { state: 'queued' }))
    const early = outlet.accept({ kind: 'evidence', turn: 'u', of: 'seen' })
    await clock.settle()
    expect(settled).toHaveLength(1)
    flights.set('u', rowOf('u'))
    await clock.advance(100)
    await early
    expect(settled).toHaveLength(2)
  })

  it('of a turn that is about to be taken is waited for, and not for ever', async () => {
    const { outlet, rows, flights, clock, settled, world } = opened()
    world.waits = true
    rows.set('t', rowOf('t', { state: 'queued' }))
    const seen = () => outlet.accept({ kind: 'evidence', turn: 't', of: 'seen' })
    const early = seen()
    await clock.advance(5_000)
    flights.set('t', rowOf('t'))
    await clock.advance(100)
    await early
    expect(settled).toHaveLength(1)
    flights.clear()
    const never = expect(seen()).rejects.toMatchObject({ code: 'store_unavailable', retryAfterMs: 5_000 })
    await clock.advance(20_000)
    await never
    world.waits = false
    expect(await seen()).toEqual({ id: null })
    expect(settled).toHaveLength(1)
  })
})

describe('a failure', () => {
  const failed = { kind: 'failed', turn: 't', reason: 'agent_failed', detail: 'boom' } as const

  it('says what came before it, given or shown, and then that it failed', async () => {
    const { outlet, flights, settled, world, shown } = opened()
    flights.set('t', rowOf('t'))
    await outlet.accept({ ...failed, text: 'so far' })
    world.begun = 'shown so far'
    await outlet.accept({ ...failed, text: ' ' })
    world.oneWay = true
    await outlet.accept(failed)
    const words = expect.stringContaining('(boom)')
    expect(settled).toEqual([
      ['t', 'failed', 'agent_failed', [expect.stringMatching(/^so far …/), words]],
      ['t', 'failed', 'agent_failed', [expect.stringMatching(/^shown so far …/), words]],
      ['t', 'failed', 'agent_failed', []],
    ])
    expect(shown).toEqual(['ended t', 'ended t', 'ended t'])
  })

  it('is not the end for one that works on, and late for one that is answered', async () => {
    const { outlet, flights, rows, settled } = opened()
    flights.set('t', rowOf('t', { reason: 'working' }))
    expect(await outlet.accept({ ...failed, unlessWorking: true })).toEqual({ id: null, working: true })
    expect(settled).toEqual([])
    expect(await outlet.accept(failed)).toEqual({ id: null })
    flights.set('t', rowOf('t'))
    expect(await outlet.accept({ ...failed, unlessWorking: true })).toEqual({ id: null })
    expect(settled).toHaveLength(2)
    flights.clear()
    for (const [row, accepted] of [
      [rowOf('t', { state: 'answered' }), { id: null, late: true }],
      [rowOf('t', { state: 'failed' }), { id: null }],
      [rowOf('t', { state: 'answered', agent: 'paul' }), { id: null }],
    ] as const) {
      rows.set('t', row)
      expect(await outlet.accept(failed)).toEqual(accepted)
    }
    expect(settled).toHaveLength(2)
  })
})

describe('what is shown meanwhile', () => {
  it('a status is shown to whoever may still speak, and is a sign of life in any case', async () => {
    const { outlet, flights, rows, signals, heard, world } = opened()
    flights.set('t', rowOf('t'))
    const status = (text: string, turn?: string) =>
      outlet.accept({ kind: 'status', session: 's', text, ...(turn === undefined ? {} : { turn }) })
    await status('works', 't')
    await status('', 't')
    world.atOnce = false
    await status('works on', 't')
    world.judgement = 'refused'
    await status('in secret', 't')
    await status('nowhere')
    expect(signals.map((one) => 'text' in one && one.text)).toEqual(['works', 'works on'])
    expect(heard).toEqual(['t', 't', 't', 't'])
    rows.set('far', rowOf('far'))
    rows.set('over', rowOf('over', { state: 'answered' }))
    rows.set('other', rowOf('other', { agent: 'paul' }))
    await status('x', 'far')
    expect(heard).toHaveLength(4)
    world.waits = true
    for (const turn of ['far', 'over', 'other']) await status('x', turn)
    expect(heard.slice(4)).toEqual(['far'])
  })

  it('a partial answer is evidence once, then a sign of life; of another’s turn it is nothing', async () => {
    const { outlet, flights, settled, heard, shown } = opened()
    const partial = (turn: string) => outlet.accept({ kind: 'partial', session: 's', turn, text: 'so' })
    flights.set('t', rowOf('t'))
    await partial('t')
    flights.set('t', rowOf('t', { state: 'seen' }))
    await partial('t')
    flights.set('u', rowOf('u', { agent: 'paul' }))
    await partial('u')
    await partial('nowhere')
    // Text that the agent writes after its reply is not sent, and so not shown.
    flights.set('t', rowOf('t', { state: 'seen', reason: 'replied' }))
    await partial('t')
    expect(settled).toEqual([['t', 'seen', undefined, undefined]])
    expect([heard, shown]).toEqual([
      ['t', 't'],
      ['so', 'so'],
    ])
  })

  it('a tool is shown while its turn is open, an error never; only the agent’s own turns are kept and returned', async () => {
    const { outlet, flights, rows, signals, heard, settled } = opened()
    flights.set('t', rowOf('t'))
    flights.set('u', rowOf('u', { agent: 'paul' }))
    rows.set('over', rowOf('over', { state: 'answered' }))
    const event = (turn: string, kind: string) =>
      outlet.accept({ kind: 'event', event: { turn, kind } as never })
    await event('t', 'call')
    await event('t', 'error')
    await event('over', 'call')
    expect([signals.length, heard]).toEqual([1, ['t', 't', 'over']])
    await expect(event('u', 'call')).rejects.toMatchObject({ code: 'not_found' })
    for (const turn of ['t', 'u']) await outlet.accept({ kind: 'kept', turn, seen: true })
    await outlet.accept({ kind: 'returned', turns: ['t', 'u'], counted: true, detail: '' })
    expect(settled).toEqual([
      ['kept', 't', true],
      ['back', 't'],
    ])
  })
})

describe('a question', () => {
  const ask = { toolName: 'x', description: '', input: '' }

  it('is evidence of its turn unless that is guessed, and has a place only with one', async () => {
    const { outlet, flights, settled, asked } = opened()
    flights.set('t', rowOf('t'))
    await outlet.accept({ kind: 'ask', session: 's', turn: 't', ask })
    await outlet.accept({ kind: 'ask', session: 's', turn: 't', guessed: true, ask })
    await outlet.accept({ kind: 'ask', session: 's', ask })
    expect(settled).toEqual([['t', 'seen', undefined, undefined]])
    const place = { to: { integration: 'chat', conversation: 'c' }, direct: true }
    expect(asked).toMatchObject([
      { origin: place },
      { origin: place, placeless: true },
      { origin: null, placeless: true },
    ])
    expect(asked[0]).not.toHaveProperty('placeless')
  })

  it('that is guessed is no business of a group; one after the end is refused', async () => {
    const { outlet, flights, rows, asked, world } = opened()
    flights.set('t', rowOf('t', { body: { chat: 'group' } as never }))
    await outlet.accept({ kind: 'ask', session: 's', turn: 't', ask })
    await outlet.accept({ kind: 'ask', session: 's', turn: 't', guessed: true, ask })
    expect(asked).toMatchObject([{ origin: { direct: false } }, { origin: null }])
    asked.length = 0
    // The same holds for a room behind a channel server, whose members are unknown here.
    flights.set('t', rowOf('t'))
    world.server = true
    await outlet.accept({ kind: 'ask', session: 's', turn: 't', ask })
    await outlet.accept({ kind: 'ask', session: 's', turn: 't', guessed: true, ask })
    expect(asked).toMatchObject([{ origin: { direct: true } }, { origin: null }])
    rows.set('over', rowOf('over', { state: 'answered' }))
    const late = { kind: 'ask', session: 's', turn: 'over', ask } as const
    await expect(outlet.accept(late)).rejects.toMatchObject({ code: 'conflict' })
    await outlet.accept({ ...late, guessed: true })
    // A host whose decisions Switchboard does not hold asks by itself.
    world.holdsDecisions = false
    await outlet.accept(late)
    expect(asked).toHaveLength(4)
  })
})
