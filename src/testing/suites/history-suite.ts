// The part of the platform suite for a platform with a history: what the core's comparison relies on. The core tests
// the comparison itself (marks, limits, deaf links) with a scripted history.
import { expect } from 'vitest'
import {
  defined,
  type HistoryEntry,
  type HistoryPlace,
  type HistoryReader,
  type InboundEvent,
  SwitchboardError,
} from '../../contract/index.ts'

/** How a test plays a platform with a history. */
export interface HistoryFixture {
  /** A person writes this and the live link brings it. Resolves when it was received. */
  readonly heard: (text: string) => Promise<void>
  /** A person writes this and the live link does not bring it: it is deaf, a ghost takes it, or it is never sent. */
  readonly missed: (text: string) => Promise<void>
}

type Said = Extract<InboundEvent, { kind: 'message' | 'edit' }>

/** A history with more reads than this makes no progress. */
const MOST_READS = 200
const SMALL_PAGE = 2

/** Checks that heard and missed messages all stand in the history: in order, once, under the ids of the live link. */
export async function checkHistory(
  reader: HistoryReader,
  fixture: HistoryFixture,
  events: () => readonly InboundEvent[],
): Promise<void> {
  const since = Date.now() - 60_000
  await fixture.heard('heard one')
  const live = events().find((event): event is Said => 'text' in event && event.text.includes('heard one'))
  if (live === undefined) throw new Error('the live link did not bring what heard() says it did')
  for (const text of ['missed two', 'missed three', 'missed four']) await fixture.missed(text)
  expect(events().filter((event) => 'text' in event && event.text.includes('missed'))).toEqual([])
  const places = await placesOf(reader, live, since)
  expect(places.length).toBeGreaterThan(0)
  const entries: HistoryEntry[] = []
  for (const place of places) entries.push(...(await entriesOf(reader, place, since)))
  const said = entries.flatMap(({ event }) => (event === null ? [] : [event]))
  const ours = said.filter(({ text }) => /heard one|missed (two|three|four)/.test(text))
  expect(ours.map(({ text }) => /(one|two|three|four)$/.exec(text)?.[1])).toEqual([
    ...['one', 'two', 'three', 'four'],
  ])
  expect(keyOf(ours[0] as Said)).toEqual(keyOf(live))
  expect(new Set(ours.map(({ messageId }) => messageId)).size).toBe(4)
  for (const { kind } of said) expect(kind).toBe('message')
}

/** The fields that the duplicate check and the gates use. They must be the same for live and history messages. */
function keyOf({ conversation, thread, messageId, sender, chat, text }: Said) {
  return { conversation, thread, messageId, sender: sender.id, chat, text }
}

async function placesOf(reader: HistoryReader, live: Said, since: number): Promise<readonly HistoryPlace[]> {
  const { conversation, thread } = live
  const named = reader.placeOf?.({ conversation, ...defined({ thread }) }) ?? null
  const places = new Map<string, HistoryPlace>(named ? [[named.id, named]] : [])
  for (let page: string | undefined, asked = 0; asked < MOST_READS; asked++) {
    const answer = await reader.places({ since, ...defined({ page }) })
    for (const place of answer.places) places.set(place.id, place)
    if (answer.next === undefined) return [...places.values()]
    page = answer.next
  }
  throw new Error('the list of places does not come to an end')
}

async function entriesOf(
  reader: HistoryReader,
  place: HistoryPlace,
  since: number,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  for (let after: string | null = null, asked = 0; asked < MOST_READS; asked++) {
    const page = await reader.read({ place, after, since, limit: SMALL_PAGE })
    if ('unreadable' in page) return entries
    for (const entry of page.entries) {
      expect([entry.position.length > 0, entry.position.length <= 500]).toEqual([true, true])
      expect(entry.at).toBeGreaterThanOrEqual(entries.at(-1)?.at ?? 0)
      entries.push(entry)
    }
    const last = page.entries.at(-1)
    if (!page.more) {
      // A read after the last entry returns no entry again.
      const rest = await reader.read({
        ...{ place, after: last?.position ?? after, since, limit: SMALL_PAGE },
      })
      if (last !== undefined || after !== null) expect('entries' in rest ? rest.entries : []).toEqual([])
      return entries
    }
    expect(last?.position, 'a page with more must move on').not.toBe(after)
    after = last?.position ?? null
  }
  throw new Error(`the history of ${place.id} does not come to an end`)
}

/** Checks that a place that does not exist is reported as unreadable, or by an error that the core knows. */
export async function checkNoSuchPlace(reader: HistoryReader): Promise<void> {
  const asked = reader.read({ place: { id: 'no such place' }, after: null, since: 0, limit: 10 })
  const answer = await asked.catch((thrown: unknown) => thrown)
  if (answer instanceof Error) expect(answer).toBeInstanceOf(SwitchboardError)
  else expect(answer).toMatchObject({ unreadable: expect.stringMatching(/gone|forbidden/) })
}
