// The page's own state: reconciled by id, whatever order the news comes in; and the outbox that outlives the page.
import { describe, expect, it } from 'vitest'
import {
  applyAccepted,
  applyStates,
  deliveryOf,
  EMPTY_CHAT,
  type Entry,
  inOrder,
  mergeEntries,
  outcomeOf,
} from '../../web/chat/model.ts'
import { createOutbox, type KeyValueStorage } from '../../web/chat/outbox.ts'

const own = (id: string, at: number, more: Partial<Entry> = {}): Entry => ({
  id,
  dir: 'in',
  at,
  kind: 'text',
  text: id,
  ...more,
})
const theirs = (id: string, at: number, more: Partial<Entry> = {}): Entry => ({
  ...own(id, at, more),
  dir: 'out',
})
const ids = (entries: readonly Entry[]) => entries.map((entry) => entry.id)

describe('the chat', () => {
  it('shows an entry once, however often it comes; the unsent stand last', () => {
    let chat = mergeEntries(EMPTY_CHAT, [own('c', 999_999, { unsent: true }), theirs('b', 2), own('a', 1)])
    chat = mergeEntries(chat, [theirs('b', 2), own('d', 1_000_000)])
    expect(ids(inOrder(chat))).toEqual(['a', 'b', 'd', 'c'])
    chat = mergeEntries(chat, [own('c', 3, { state: 'queued' })])
    expect(ids(inOrder(chat))).toEqual(['a', 'b', 'c', 'd'])
    expect(chat.entries.get('c')?.unsent).toBeUndefined()
  })

  it('an answer to a POST that comes after the stream told more changes nothing', () => {
    let chat = mergeEntries(EMPTY_CHAT, [own('a', 1, { unsent: true })])
    chat = mergeEntries(chat, [own('a', 1, { state: 'queued' })])
    chat = applyStates(chat, [{ id: 'a', state: 'seen' }])
    chat = applyAccepted(chat, { id: 'a', state: 'queued' })
    expect(chat.entries.get('a')?.state).toBe('seen')
    const fresh = mergeEntries(EMPTY_CHAT, [own('a', 1, { unsent: true })])
    expect(applyAccepted(fresh, { id: 'a', state: 'queued' }).entries.get('a')).toMatchObject({
      state: 'queued',
    })
  })

  it('keeps a text that the gateway does not keep, and forgets an old reason', () => {
    let chat = mergeEntries(EMPTY_CHAT, [own('a', 1, { text: 'mine', state: 'failed', reasonText: 'x' })])
    chat = mergeEntries(chat, [own('a', 1, { text: '', state: 'failed', reasonText: 'x' })])
    chat = applyStates(chat, [{ id: 'a', state: 'queued' }])
    expect(chat.entries.get('a')).toEqual(own('a', 1, { text: 'mine', state: 'queued' }))
  })

  it('an edit may come before what it edits; the newest counts', () => {
    const edit = (id: string, at: number) => theirs(id, at, { kind: 'edit', on: 'p', text: id })
    const chat = mergeEntries(EMPTY_CHAT, [edit('second', 9), edit('first', 8), theirs('p', 1)])
    expect(chat.edits.get('p')?.text).toBe('second')
    expect(ids(inOrder(chat))).toEqual(['p'])
  })
})

describe('[I3.web-delivery-state] the words under a message', () => {
  it.each([
    [{ unsent: true }, false, 'waiting for the connection'],
    [{ unsent: true }, true, 'sending…'],
    [{ state: 'queued' }, true, 'queued'],
    [{ state: 'handed' }, true, 'with the agent'],
    [{ state: 'seen' }, true, 'seen'],
    [{ state: 'answered' }, true, 'answered'],
    [{ state: 'consumed', reason: 'verdict' }, true, 'taken as your decision'],
    [{ state: 'consumed', reason: 'verdict_late' }, true, 'came too late'],
    [{ state: 'refused', reasonText: 'Why.' }, true, 'refused — Why.'],
    [{ state: 'expired', reasonText: 'Why.' }, true, 'expired — Why.'],
    [{ state: 'failed', reasonText: 'Why.' }, true, 'failed — Why.'],
  ] as const)('%j, online %s: %s', (more, online, words) => {
    expect(deliveryOf(own('a', 1, more), online).words).toBe(words)
  })
})

describe('[I3.web-choices] what became of a prompt', () => {
  const prompt = theirs('p', 1, { kind: 'prompt', approval: 'kqwte', text: 'demo wants to run deploy' })
  const edit = (text: string) => theirs('e', 2, { kind: 'edit', on: 'p', text })

  it.each([
    ['deploy (kqwte): allowed by owner', 'Allowed by owner', 'good'],
    ['deploy (kqwte): denied by owner', 'Denied by owner', 'bad'],
    ['deploy (kqwte): expired, denied', 'Expired, denied', 'bad'],
    [
      'deploy (kqwte): decided (allowed by owner), but the agent is gone',
      'Decided (allowed by owner), but the agent is gone',
      'bad',
    ],
    [
      'deploy (kqwte): decided (allowed by owner), waits for the agent to come back',
      'Decided (allowed by owner), waits for the agent to come back',
      'quiet',
    ],
    ['deploy (kqwte): no longer asked', 'No longer asked', 'quiet'],
    ['demo wants to run deploy\n\nallowed by x', 'allowed by x', 'good'],
  ])('%j', (text, shown, tone) => {
    expect(outcomeOf(prompt, edit(text), undefined)).toEqual({ text: shown, tone })
  })

  it.each([
    ['deploy (kqwte): allowed by owner', 'You allowed it'],
    ['deploy (kqwte): denied by Kate (owner)', 'You denied it'],
    ['deploy (kqwte): passed on (allowed by owner)', 'Passed on (allowed by you)'],
    [
      'deploy (kqwte): decided (denied by Kate (owner)), but the agent is gone',
      'Decided (denied by you), but the agent is gone',
    ],
    ['deploy (kqwte): allowed by owner2', 'Allowed by owner2'],
    ['deploy (kqwte): allowed by owner (412587349)', 'Allowed by owner (412587349)'],
    ['deploy (kqwte): expired, denied', 'Expired, denied'],
  ])('[I18.page-approvals] read by the owner: %j', (text, shown) => {
    expect(outcomeOf(prompt, edit(text), undefined, 'owner')?.text).toBe(shown)
  })

  it('is open until the gateway says so', () => {
    expect(outcomeOf(prompt, undefined, undefined)).toBeNull()
    expect(outcomeOf(prompt, undefined, { value: 'allow:kqwte', phase: 'deciding', text: '' })).toBeNull()
  })
})

describe('[I3.web-reconnect] the outbox', () => {
  function memory(): KeyValueStorage & { broken: boolean; value: string | null } {
    return {
      broken: false,
      value: null,
      getItem() {
        if (this.broken) throw new Error('forbidden')
        return this.value
      },
      setItem(_key, value) {
        if (this.broken) throw new Error('full')
        this.value = value
      },
    }
  }
  const item = (clientId: string) => ({ clientId, text: clientId, at: 1, attachments: [], replyTo: null })
  const all = (outbox: ReturnType<typeof createOutbox>) => outbox.all().map((one) => one.clientId)

  it('outlives the page, in order', () => {
    const shelf = memory()
    const first = createOutbox('k', shelf)
    first.add(item('a'))
    first.add(item('b'))
    expect(all(createOutbox('k', shelf))).toEqual(['a', 'b'])
    first.remove('a')
    expect(all(createOutbox('k', shelf))).toEqual(['b'])
  })

  it('of two windows lose nothing of each other', () => {
    const shelf = memory()
    const [one, two] = [createOutbox('k', shelf), createOutbox('k', shelf)]
    one.add(item('a'))
    two.add(item('b'))
    one.remove('a')
    expect(all(two)).toEqual(['b'])
    two.remove('b')
    expect(all(one)).toEqual([])
  })

  it('works without storage, and with rubbish in it', () => {
    const shelf = memory()
    shelf.broken = true
    const outbox = createOutbox('k', shelf)
    outbox.add(item('a'))
    expect(all(outbox)).toEqual(['a'])
    outbox.remove('a')
    expect(all(outbox)).toEqual([])
    for (const value of ['{', '{}', '[1,null,{"clientId":5}]']) {
      const odd = memory()
      odd.value = value
      expect(all(createOutbox('k', odd))).toEqual([])
    }
  })
})
