// The river re-derived from what is really written: one door out, one place for words, forms and changes of configuration.
import { describe, expect, it } from 'vitest'
import { filesOf, foldersOf, source } from './source.ts'

const roomOf = (file: string) => file.split('/')[1] ?? ''
const code = filesOf('src')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('/fixtures/'))
  .map(source)

/** Each verb that takes rows, and the one place that calls it. */
const CALLERS: Readonly<Record<string, readonly string[]>> = {
  enqueue: ['src/core/outbound/outlet.ts'],
  sayHeld: ['src/core/outbound/outlet.ts'],
  accept: ['src/core/dispatch/settling.ts'],
  acceptFor: ['src/core/dispatch/settling.ts'],
  expireTurns: ['src/core/dispatch/turn-expiry.ts'],
  ask: ['src/core/approvals/approvals.ts'],
  // A person's verdict comes with no words of ours: they follow when it was passed on.
  decide: ['src/app/desk.ts', 'src/core/approvals/approvals.ts'],
  settleApproval: ['src/core/approvals/verdict-relay.ts'],
  giveBack: ['src/core/outbound/give-back.ts'],
  approvePairing: ['src/app/desk.ts'],
}

describe('[I13.one-outlet] [I13.settle-with-say] who puts rows into the outbox', () => {
  it('every verb of the store that takes rows is in the table', () => {
    const contract = filesOf('src/contract').map((file) => source(file).code)
    const bodyOf = (name: string) => {
      const [, body] = contract.join('\n').split(new RegExp(`export interface ${name}\\b[^{]*\\{`))
      return body?.slice(0, body.indexOf('\n}')) ?? ''
    }
    const [, parents = ''] = /export interface Store\s+extends ([^{]+)/.exec(contract.join('\n')) ?? []
    const parts = ['Store', ...parents.split(',').map((name) => name.trim())]
    expect(parts).toContain('ApprovalVerbs')
    for (const part of parts) expect([part, bodyOf(part) === '']).toEqual([part, false])
    const members = parts.flatMap((part) => bodyOf(part).split(/\n {2}(?=\w+\??\()/))
    const taking = members
      .filter((member) => /\bNewSend\b/.test(member))
      .map((member) => /^\s*(\w+)/.exec(member)?.[1])
    expect(taking.toSorted()).toEqual(Object.keys(CALLERS).toSorted())
  })

  for (const [verb, callers] of Object.entries(CALLERS)) {
    it(`store.${verb} is called from ${callers.join(' and ')} alone`, () => {
      const calls = new RegExp(`\\bstore\\.${verb}\\s*\\(`)
      const found = code.filter(
        ({ file, code: text }) => !file.startsWith('src/testing/') && calls.test(text),
      )
      expect(found.map(({ file }) => file).toSorted()).toEqual(callers)
    })
  }
})

describe('[I13.one-outlet] by another name', () => {
  /** Verbs whose name says what they are: whoever takes one out of the store (`({ enqueue }) => enqueue()`) names it. */
  const RARE = ['enqueue', 'acceptFor', 'expireTurns', 'settleApproval']
  const named = (verb: string, text: string) =>
    new RegExp(`[{,]\\s*${verb}\\s*[,:}=]|(?<![.\\w])${verb}\\s*\\(`).test(text)
  /** On whatever it is called: a store by another name, one that may be missing. */
  const called = (verb: string, text: string) => new RegExp(`\\.\\s*${verb}\\s*\\(`).test(text)

  it.each(RARE)('nobody takes %s out of the store', (verb) => {
    const rooms = ['store', 'contract', 'testing']
    const taking = code.filter(({ file, code: text }) => !rooms.includes(roomOf(file)) && named(verb, text))
    expect(taking.map(({ file }) => file)).toEqual([])
  })

  it.each(RARE)(
    '%s is called on nothing else in the rooms that have a store, and looked up by no text',
    (verb) => {
      const rooms = ['core', 'app', 'server', 'cli']
      const there = code.filter(({ file }) => rooms.includes(roomOf(file)))
      expect(there.filter(({ code: text }) => called(verb, text)).map(({ file }) => file)).toEqual(
        CALLERS[verb],
      )
      const naming = there.filter(
        ({ file, strings }) => strings.includes(verb) && !CALLERS[verb]?.includes(file),
      )
      expect(naming.map(({ file }) => file)).toEqual([])
    },
  )

  it('is found', () => {
    for (const text of ['outbox.enqueue(rows)', 'store?.enqueue(rows)', 'deps.store .enqueue (rows)'])
      expect([text, called('enqueue', text)]).toEqual([text, true])
    for (const text of ['({ enqueue }) => enqueue(x)', 'const { a, enqueue: put } = store', 'enqueue(rows)'])
      expect([text, named('enqueue', text)]).toEqual([text, true])
    for (const text of ['store.enqueue(rows)', 'controller.enqueue(chunk)', 'enqueued()'])
      expect([text, named('enqueue', text)]).toEqual([text, false])
  })
})

describe('[I13.lane-keeper] lanes', () => {
  it.each(['renewLanes', 'releaseLanes'])(
    'are kept by one keeper: store.%s is called there alone',
    (verb) => {
      const calls = new RegExp(`\\bstore\\.${verb}\\s*\\(`)
      const found = code.filter(
        ({ file, code: text }) => !file.startsWith('src/testing/') && calls.test(text),
      )
      expect(found.map(({ file }) => file)).toEqual(['src/core/lane-keeper.ts'])
    },
  )

  it.each(['src/core/dispatch/lane-holds.ts', 'src/core/outbound/sender.ts'])(
    '%s holds its lanes by it',
    (file) => {
      expect(source(file).code).toMatch(/\bcreateLaneKeeper</)
    },
  )
})

describe('[I13.core-no-platform] the core', () => {
  it('names no platform', () => {
    const names = foldersOf('src/platforms')
    const naming = code
      .filter(({ file }) => roomOf(file) === 'core')
      .flatMap(({ file, strings }) =>
        strings.filter((each) => names.includes(each)).map((each) => `${file}: '${each}'`),
      )
    expect(naming).toEqual([])
  })
})

describe('[I13.apply-chain] a new configuration', () => {
  it('is applied by the one chain of the gateway', () => {
    const chains = code.filter(
      ({ file, code: text }) => roomOf(file) === 'app' && /\bcreateSerial(Lines)?\b.*\(/.test(text),
    )
    // The second reads what other nodes changed, one after another; what it found is applied by the first.
    expect(chains.map(({ file }) => file)).toEqual(['src/app/gateway.ts', 'src/app/shared-changes.ts'])
  })
})

describe('[I13.form-once] what form a message has', () => {
  it('is recognised in one file', () => {
    const looks = /\b(verdictInText|verdictInTap|shownInTap|claimVerdict|chatCommand)\s*\(/
    const looking = code.filter(({ code: text }) => looks.test(text.replace(/\bfunction \w+\s*\(/g, '')))
    expect(looking.map(({ file }) => file)).toEqual(['src/core/inbound/message-form.ts'])
  })
})

describe('[I13.result-words] the words of a result', () => {
  it('are made in one file', () => {
    const words =
      /not confirmed yet|deduplicated\)|it could not be sent|Adapter send failed|not sent: this conversation/
    // The command line has words of its own, for people, with colours.
    const wording = code.filter(
      ({ file, strings }) => roomOf(file) !== 'cli' && strings.some((each) => words.test(each)),
    )
    expect(wording.map(({ file }) => file)).toEqual(['src/core/outbound/send-result.ts'])
  })
})
