// Windows that open, close and reopen: nothing is lost, no row is shown early, and the number of windows is limited.
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryRiver, type MemoryRiver } from '../../../test/browser/memory-river.ts'
import type { StreamSink, TranscriptEntry } from '../../contract/index.ts'
import { createTestClock, createTestRandom, type TestClock } from '../../testing/test-clock.ts'
import { webConfig } from './config.ts'
import { formatCursor, parseCursor, readHistory } from './history.ts'
import { createWindows, type Windows } from './windows.ts'

let clock: TestClock
let river: MemoryRiver
let windows: Windows

beforeEach(async () => {
  clock = createTestClock()
  river = await createMemoryRiver({ clock, random: createTestRandom() })
  // The platform's own windows are behind its endpoint. These use the same transcript.
  windows = createWindows(
    { ...webConfig(river.deps.integration), maxWindows: 3, maxReplay: 50 },
    { clock, transcript: river.deps.transcript, onProblem: () => {} },
  )
})

interface Shown {
  readonly event: string
  readonly id: string | null
  readonly data: Record<string, unknown> & { readonly text?: string }
}

function openWindow(
  cursor: string | null,
  conversation = 'owner',
  mayStay: () => Promise<boolean> = async () => true,
) {
  const shown: Shown[] = []
  const closers: (() => void)[] = []
  let closed = false
  const sink: StreamSink = {
    write(text) {
      for (const part of text.split('\n\n').filter((each) => each.includes('event: '))) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? null
        shown.push({
          event: field('event') ?? '',
          id: field('id'),
          data: JSON.parse(field('data') ?? 'null'),
        })
      }
    },
    drained: async () => {},
    get closed() {
      return closed
    },
    onClose: (run) => void closers.push(run),
    end() {
      closed = true
    },
  }
  windows.open(conversation, parseCursor(cursor), sink, mayStay)
  return {
    shown,
    texts: () => shown.filter((one) => one.event === 'entry').map((one) => one.data.text),
    events: () => shown.map((one) => one.event),
    cursor: () => shown.findLast((one) => one.id !== null)?.id ?? cursor,
    isClosed: () => closed,
    leave() {
      closed = true
      for (const run of closers) run()
    },
  }
}

async function say(text: string): Promise<void> {
  await river.say({ kind: 'text', text })
  windows.wake('owner', river.rows.filter((row) => row.direction === 'out').length)
  await clock.settle()
}

describe('[S1.authorize-one] a window and its session', () => {
  it('ends with it: at once when somebody signs out, at the next sweep when the token was revoked elsewhere', async () => {
    const live = new Set(['one', 'two'])
    const mine = (session: string) => openWindow(null, 'owner', async () => live.has(session))
    const [first, second, third] = [mine('one'), mine('one'), mine('two')]
    await clock.settle()
    live.delete('one')
    await windows.recheck('owner')
    await say('after the sign-out')
    expect([first, second].map((window) => window.isClosed())).toEqual([true, true])
    expect([...first.texts(), ...second.texts()]).toEqual([])
    expect(third.texts()).toEqual(['after the sign-out'])
    live.delete('two')
    await clock.advance(5_000)
    expect(third.isClosed()).toBe(true)
    expect(windows.count()).toBe(0)
  })

  it('stays while the store cannot be asked', async () => {
    const window = openWindow(null, 'owner', () => Promise.reject(new Error('away')))
    await clock.advance(5_000)
    expect(window.isClosed()).toBe(false)
  })
})

describe('cursors', () => {
  it('come back as they were, and nothing else does', () => {
    for (const cursor of [
      { in: 0, out: 0, pending: [] },
      { in: 7, out: 99, pending: [4, 98] },
    ]) {
      expect(parseCursor(formatCursor(cursor))).toEqual(cursor)
    }
    for (const text of [
      null,
      '',
      'i1',
      'i1.o',
      'i-1.o2',
      'i1.o2.p',
      'i1.o2.p1-',
      'i1.o2 ',
      `i${'9'.repeat(20)}.o1`,
    ]) {
      expect(parseCursor(text)).toBeNull()
    }
  })

  it('[I14.stream-reminders] tell an earlier position when more is pending than fits: some twice, none never', () => {
    const pending = Array.from({ length: 300 }, (_, index) => 100 + index)
    const back = parseCursor(formatCursor({ in: 1, out: 900, pending }))
    expect(back).toEqual({ in: 1, out: 299, pending: pending.slice(0, 200) })
  })
})

describe('a window', () => {
  it('[S7.web-page] [I3.web-reconnect] goes on where it left off: what was said meanwhile comes once', async () => {
    const first = openWindow(null)
    await clock.settle()
    await say('one')
    first.leave()
    await say('two')
    await say('three')
    const second = openWindow(first.cursor())
    await clock.settle()
    await say('four')
    expect(first.texts()).toEqual(['one'])
    expect(second.texts()).toEqual(['two', 'three', 'four'])
  })

  it('[I3.web-reconnect] also gets a reminder that was planned before it left and sent while it was away', async () => {
    const reminder = river.plan({ kind: 'text', text: 'reminder' })
    await say('later row, sent first')
    const page = await readHistory(river.deps.transcript, 'owner', { before: null, limit: 50 })
    expect(page.entries.map((entry) => entry.text)).toEqual(['later row, sent first'])
    const first = openWindow(page.cursor)
    await clock.settle()
    first.leave()
    await river.due(reminder)
    const second = openWindow(first.cursor())
    await clock.settle()
    expect(second.texts()).toEqual(['reminder'])
    const third = openWindow(second.cursor())
    await clock.settle()
    expect(third.texts()).toEqual([])
  })

  it('[I14.web-held-back] neither forgets what is held back by another node’s commit, nor begins anew for it', async () => {
    const reminder = river.plan({ kind: 'text', text: 'reminder' })
    await say('said')
    let heldAbove = Number.POSITIVE_INFINITY
    const { transcript } = river.deps
    windows = createWindows(
      { ...webConfig(river.deps.integration), maxReplay: 50 },
      {
        clock,
        transcript: async (query) =>
          (await transcript(query)).filter((row) => query.beforeSeq !== undefined || row.seq <= heldAbove),
        onProblem: () => {},
      },
    )
    const page = await readHistory(transcript, 'owner', { before: null, limit: 50 })
    heldAbove = 0
    const window = openWindow(page.cursor)
    await clock.advance(5_000)
    expect(window.events()).toEqual(['hello'])
    heldAbove = Number.POSITIVE_INFINITY
    await river.due(reminder)
    await clock.advance(5_000)
    expect(window.texts()).toEqual(['reminder'])
  })

  it('[I14.web-nodes] what was pending when it left comes in order, before what came after it', async () => {
    const first = river.plan({ kind: 'text', text: 'one' })
    const second = river.plan({ kind: 'text', text: 'two' })
    await say('three')
    const page = await readHistory(river.deps.transcript, 'owner', { before: null, limit: 1 })
    await river.due(first)
    await river.due(second)
    await river.say({ kind: 'text', text: 'four' })
    const window = openWindow(page.cursor)
    await clock.settle()
    expect(window.texts()).toEqual(['one', 'two', 'four'])
  })

  it('shows a reminder when it is due, not before', async () => {
    const window = openWindow(null)
    const reminder = river.plan({ kind: 'text', text: 'reminder' })
    windows.wake('owner')
    await clock.settle()
    await say('now')
    expect(window.texts()).toEqual(['now'])
    await river.due(reminder)
    windows.wake('owner', reminder)
    await clock.settle()
    expect(window.texts()).toEqual(['now', 'reminder'])
  })

  it('finds by itself what no signal told: another node’s send, a state that changed', async () => {
    const window = openWindow(null)
    await clock.settle()
    river.rows.push({
      seq: 1,
      direction: 'in',
      id: 't_1',
      conversation: 'owner',
      at: clock.now(),
      text: 'hi',
      state: 'queued',
      reason: null,
      platformMessageId: 'client-1',
    })
    await river.say({ kind: 'text', text: 'from afar' })
    await clock.advance(5_000)
    expect(window.texts()).toEqual(['hi', 'from afar'])
    river.move('client-1', 'failed', { reason: 'agent_failed', quietly: true })
    await clock.advance(5_000)
    expect(window.shown.findLast((one) => one.event === 'states')?.data).toEqual([
      {
        id: 'client-1',
        state: 'failed',
        reason: 'agent_failed',
        reasonText: 'The agent answered with an error.',
      },
    ])
  })

  it('[I3.web-delivery-state] is told on arrival how the messages it knows fared meanwhile', async () => {
    river.rows.push({
      seq: 1,
      direction: 'in',
      id: 't_1',
      conversation: 'owner',
      at: 1,
      text: 'hi',
      state: 'answered',
      reason: null,
      platformMessageId: 'client-1',
    })
    const window = openWindow('i1.o0')
    await clock.settle()
    expect(window.shown.find((one) => one.event === 'states')?.data).toEqual([
      { id: 'client-1', state: 'answered' },
    ])
  })

  it('that is too far behind, or from another store, begins anew', async () => {
    for (let i = 0; i < 60; i += 1) await say(`m${i}`)
    for (const cursor of ['i0.o1', 'i0.o900', 'i5.o60']) {
      const window = openWindow(cursor)
      await clock.settle()
      expect(window.events()).toEqual(['reset'])
      expect(window.isClosed()).toBe(true)
    }
    const near = openWindow('i0.o20')
    await clock.settle()
    expect(near.texts()).toHaveLength(40)
  })

  it('[I3.web-windows] sees what the others see; another chat’s sees nothing of it', async () => {
    const [a, b, other] = [openWindow(null), openWindow(null), openWindow(null, 'kate')]
    await clock.settle()
    await say('to all')
    windows.tell('owner', 'typing', { on: true })
    expect(a.texts()).toEqual(['to all'])
    expect(b.events()).toEqual(['hello', 'entry', 'typing'])
    expect(other.events()).toEqual(['hello'])
  })

  it('[I14.stream-passing] that is behind gets its rows one by one, and what passes afterwards', async () => {
    for (const text of ['one', 'two', 'three']) await river.say({ kind: 'text', text })
    const written: string[] = []
    let taken: (() => void) | null = null
    const sink: StreamSink = {
      write: (text) => void written.push(/event: (\w+)/.exec(text)?.[1] ?? text),
      drained: () =>
        new Promise((resolve) => {
          taken = resolve
        }),
      closed: false,
      onClose: () => {},
      end: () => {},
    }
    windows.open('owner', parseCursor('i0.o0'), sink, async () => true)
    await clock.settle()
    expect(written).toEqual(['hello', 'entry'])
    windows.tell('owner', 'typing', { on: true })
    await clock.advance(15_000)
    expect(written).toEqual(['hello', 'entry'])
    for (let row = 0; row < 3; row++) {
      ;(taken as (() => void) | null)?.()
      await clock.settle()
    }
    expect(written).toEqual(['hello', 'entry', 'entry', 'entry', 'typing', 'ping'])
  })

  it('is kept alive, and leaves no timer behind', async () => {
    const window = openWindow(null)
    await clock.advance(31_000)
    expect(window.events().filter((event) => event === 'ping')).toHaveLength(2)
    window.leave()
    expect(windows.count()).toBe(0)
    expect(clock.pending()).toBe(0)
  })

  it('too many of one chat: the oldest goes', async () => {
    const opened = [1, 2, 3, 4].map(() => openWindow(null))
    await clock.settle()
    expect(opened.map((window) => window.isClosed())).toEqual([true, false, false, false])
    expect(windows.count()).toBe(3)
  })

  it('whose transcript cannot be read is closed, so that the page comes again', async () => {
    const broken = createWindows(webConfig(river.deps.integration), {
      clock,
      transcript: async () => Promise.reject(new Error('no store')),
      onProblem: () => {},
    })
    windows = broken
    const window = openWindow(null)
    await clock.settle()
    expect(window.isClosed()).toBe(true)
    expect(broken.count()).toBe(0)
  })

  it('shows an answer once, whose signal comes behind it', async () => {
    const answer: TranscriptEntry = {
      ...{ direction: 'out', id: 'o_1', text: 'answer', state: 'sent' },
      ...{ seq: 1, conversation: 'owner', at: 1, reason: null },
    }
    windows = createWindows(webConfig(river.deps.integration), {
      clock,
      onProblem: () => {},
      transcript: async ({ direction, afterSeq = -1, beforeSeq = 9 }) =>
        direction === 'out' && afterSeq < 1 && beforeSeq > 1 ? [answer] : [],
    })
    const window = openWindow('i0.o0')
    await clock.settle()
    windows.wake('owner', 1)
    await clock.advance(5_000)
    expect(window.texts()).toEqual(['answer'])
  })

  it('a text cannot forge a frame', async () => {
    const window = openWindow(null)
    await clock.settle()
    await say('x\n\nevent: entry\ndata: {"text":"forged"}\n\n')
    expect(window.texts()).toEqual(['x\n\nevent: entry\ndata: {"text":"forged"}\n\n'])
  })

  it('none opens after the platform stopped', async () => {
    windows.close()
    expect(openWindow(null).isClosed()).toBe(true)
  })
})

describe('[I35.b19b] a burst', () => {
  const base = { conversation: 'owner', at: 1, reason: null }
  const move = (row: TranscriptEntry, state: string) => Object.assign(row, { state })

  /** Windows on a transcript in memory that counts the rows read. */
  async function counted(count: number) {
    const all: TranscriptEntry[] = []
    const read = { rows: 0 }
    windows = createWindows(
      { ...webConfig(river.deps.integration), maxWindows: count },
      {
        ...{ clock, onProblem: () => {} },
        async transcript({ direction, afterSeq = -1, beforeSeq = Number.POSITIVE_INFINITY, limit }) {
          const own = all.filter(
            (row) => row.direction === direction && row.seq > afterSeq && row.seq < beforeSeq,
          )
          const page = own.slice(0, limit)
          read.rows += page.length
          // A copy of the row in its present state.
          return page.map((row) => ({ ...row }))
        },
      },
    )
    const opened = Array.from({ length: count }, () => openWindow('i0.o0'))
    await clock.settle()
    const wake = async (sent?: number) => {
      windows.wake('owner', sent)
      await clock.settle()
    }
    return { all, read, opened, wake }
  }

  /** Counts the rows read while `messages` come, wait and are answered one by one before `count` windows. */
  async function burst(messages: number, count: number) {
    const { all, read, opened, wake } = await counted(count)
    for (let seq = 1; seq <= messages; seq++) {
      all.push({ ...base, seq, direction: 'in', id: `t_${seq}`, text: `ask ${seq}`, state: 'queued' })
      await wake()
    }
    for (let seq = 1; seq <= messages; seq++) {
      const asked = all[seq - 1] as TranscriptEntry
      for (const state of ['handed', 'seen', 'answered']) {
        move(asked, state)
        await wake()
      }
      all.push({ ...base, seq, direction: 'out', id: `o_${seq}`, text: `answer ${seq}`, state: 'queued' })
      await wake()
      move(all.at(-1) as TranscriptEntry, 'sent')
      await wake(seq)
    }
    await clock.advance(5_000)
    return { rows: read.rows, opened }
  }

  /** The same while `answers` wait together and are sent one by one. */
  async function backlog(answers: number) {
    const { all, read, opened, wake } = await counted(1)
    for (let seq = 1; seq <= answers; seq++) {
      all.push({ ...base, seq, direction: 'out', id: `o_${seq}`, text: `answer ${seq}`, state: 'queued' })
      await wake()
    }
    for (const row of all) {
      move(row, 'sent')
      await wake(row.seq)
    }
    return { rows: read.rows, texts: opened[0]?.texts() }
  }

  it('costs what it says, whatever number of windows is open, and every window shows all of it', async () => {
    const few = await burst(100, 16)
    const many = await burst(200, 16)
    const alone = await burst(200, 1)
    expect(many.rows / few.rows).toBeLessThan(2.2)
    expect(many.rows / alone.rows).toBeLessThan(2)
    for (const window of many.opened) {
      const texts = window.texts()
      expect(texts.filter((text) => text?.startsWith('ask'))).toEqual(
        Array.from({ length: 200 }, (_, at) => `ask ${at + 1}`),
      )
      expect(texts.filter((text) => text?.startsWith('answer'))).toEqual(
        Array.from({ length: 200 }, (_, at) => `answer ${at + 1}`),
      )
      const states = window.shown
        .filter(({ event }) => event === 'states')
        .flatMap(({ data }) => data as unknown as { id: string; state: string }[])
      expect(states.filter(({ state }) => state === 'answered').map(({ id }) => id)).toEqual(
        Array.from({ length: 200 }, (_, at) => `t_${at + 1}`),
      )
    }
  }, 60_000)

  it('of answers that wait together costs what it says, too', async () => {
    const few = await backlog(100)
    const many = await backlog(200)
    expect(many.rows / few.rows).toBeLessThan(2.2)
    expect(many.texts).toEqual(Array.from({ length: 200 }, (_, at) => `answer ${at + 1}`))
  }, 60_000)

  it('that moves on from its end, or waits behind reminders, is shown by the next sweep at the latest', async () => {
    const window = openWindow(null)
    const reminders = Array.from({ length: 12 }, () => river.plan({ kind: 'text', text: 'reminder' }))
    const late = river.plan({ kind: 'text', text: 'of another node' })
    windows.wake('owner')
    await clock.settle()
    await river.due(late)
    await clock.advance(5_000)
    expect(window.texts()).toEqual(['of another node'])
    expect(reminders).toHaveLength(12)
  })
})

describe('[I18.page-presence] the agent of the chat', () => {
  it('is told to a window when it opens, and when it comes or goes', async () => {
    let here = false
    windows = createWindows(webConfig(river.deps.integration), {
      ...{ clock, transcript: river.deps.transcript, onProblem: () => {} },
      agentHere: () => here,
    })
    const window = openWindow(null)
    const agentStates = () =>
      window.shown.filter(({ event }) => event === 'agent').map(({ data }) => data.here)
    await clock.settle()
    expect(agentStates()).toEqual([false])
    here = true
    await clock.advance(5_000)
    expect(agentStates()).toEqual([false, true])
    await clock.advance(60_000)
    expect(agentStates(), 'what stays as it is is not told again').toEqual([false, true])
    here = false
    windows.wake('owner')
    await clock.settle()
    expect(agentStates()).toEqual([false, true, false])
  })
})
