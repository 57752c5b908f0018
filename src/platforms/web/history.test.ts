// Paging back through a chat: every entry once, in any order of speakers and with pending sends.
import { expect, it } from 'vitest'
import type { TranscriptEntry } from '../../contract/index.ts'
import { parseCursor, type ReadTranscript, readHistory } from './history.ts'

const entry = (direction: 'in' | 'out', seq: number, more: Partial<TranscriptEntry>): TranscriptEntry => ({
  seq,
  direction,
  id: `${direction}${seq}`,
  conversation: 'owner',
  at: seq,
  text: '',
  state: direction === 'in' ? 'answered' : 'sent',
  reason: null,
  ...more,
})

const reading =
  (rows: readonly TranscriptEntry[]): ReadTranscript =>
  async ({ direction, beforeSeq, limit, onItsWay }) =>
    rows
      .filter((row) => row.direction === direction)
      .filter((row) => onItsWay !== true || row.state === 'queued' || row.state === 'sending')
      .filter((row) => beforeSeq === undefined || row.seq < beforeSeq)
      .slice(-limit)

/** Returns the ids of each page, the newest first. The cursors pass through their text form. */
async function pagesOf(rows: readonly TranscriptEntry[], limit: number): Promise<string[][]> {
  const pages: string[][] = []
  let before: string | null = null
  do {
    const cursor = parseCursor(before)
    if (before !== null) expect(cursor, before).not.toBeNull()
    const page = await readHistory(reading(rows), 'owner', { before: cursor, limit })
    pages.push(page.entries.map((one) => one.id))
    before = page.before
  } while (before !== null && pages.length < 100)
  return pages
}

it('[S7.web-history] a newest page that is all the agent’s leads on to the older ones', async () => {
  const asked = Array.from({ length: 5 }, (_, i) => entry('in', i + 1, { at: i }))
  const said = Array.from({ length: 30 }, (_, i) => entry('out', i + 1, { at: 1_000 + i }))
  const pages = await pagesOf([...asked, ...said], 10)
  expect(pages[0]).toEqual(said.slice(-10).map((one) => one.id))
  expect(pages.toReversed().flat()).toEqual([...asked, ...said].map((one) => one.id))
})

it('[S7.web-history] a reminder that was planned long ago keeps no own message off the newest page', async () => {
  for (const state of ['queued', 'sent']) {
    // Its position is among the newest ten sends, and its time is after everything else.
    const planned = entry('out', 22, { at: 1_000_000, state })
    const exchanges = Array.from({ length: 30 }, (_, i) => [
      entry('in', i + 1, { at: i * 10 }),
      entry('out', i < 21 ? i + 1 : i + 2, { at: i * 10 + 5 }),
    ]).flat()
    const rows = [...exchanges, planned].sort((one, other) => one.seq - other.seq)
    const pages = await pagesOf(rows, 10)
    expect(pages[0]).toEqual(exchanges.slice(-10).map((one) => one.id))
    const shown = [...(state === 'sent' ? [planned] : []), ...exchanges]
    expect(pages.flat().sort()).toEqual(shown.map((one) => one.id).sort())
  }
})
