// The river re-derived from what is really written: one door out, one place for words, forms and changes of configuration.
import { describe, expect, it } from 'vitest'
import { chains, makesRow, wordsResult } from './finders.ts'
import { filesOf, parse, type Source, source } from './source.ts'
import { namesUsed, storeAliases, verbsHanded, verbsTaken } from './store-verbs.ts'
import { some } from './syntax.ts'

const roomOf = (file: string) => file.split('/')[1] ?? ''
const code = filesOf('src')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('/fixtures/'))
  .map(source)

const ours = code.filter(({ file }) => !['store', 'contract', 'testing'].includes(roomOf(file)))

/** Each verb that is handed rows, or effects that become rows, and who calls it. */
const CALLERS: Readonly<Record<string, readonly string[]>> = {
  enqueue: ['src/core/outbound/outlet.ts'],
  sayHeld: ['src/core/outbound/outlet.ts'],
  accept: ['src/core/dispatch/settling.ts'],
  acceptFor: ['src/core/dispatch/settling.ts'],
  expireTurns: ['src/core/dispatch/turn-expiry.ts'],
  ask: ['src/core/approvals/approvals.ts'],
  // A person's verdict comes with no words of ours: they follow when it was passed on.
  decide: ['src/core/approvals/approvals.ts', 'src/operations/desk.ts'],
  settleApproval: ['src/core/approvals/verdict-relay.ts'],
  noticeSends: ['src/core/outbound/undelivered.ts'],
  giveBack: ['src/core/outbound/give-back.ts'],
  approvePairing: ['src/operations/desk-pairing.ts'],
  // The watch calls what it was called with, and looks whether it failed.
  receive: ['src/core/inbound/intake.ts', 'src/daemon/database/store-watch.ts'],
  fireSchedule: ['src/core/schedules/scheduler.ts'],
}

const LANES = ['renewLanes', 'releaseLanes']

/** A store by another name, with the reason. */
const MAY_RENAME: Readonly<Record<string, string>> = {
  'src/daemon/backup/settle-restored.ts: store: at': 'where a database is, not an open one',
  'src/daemon/database/store-watch.ts: ...store': 'the same store with its intake watched',
}

/** Who puts rows together, or effects that become rows; whatever an agent or a person wrote is cut to fit by the first. */
const ROW_MAKERS: Readonly<Record<string, string>> = {
  'src/core/outbound/compose.ts': 'texts and files of agents, tools, notifications and operators',
  'src/core/notices.ts': 'notices: a sentence of ours',
  'src/core/inbound/receive-item.ts': 'the answer of a step: a sentence of ours',
  'src/core/inbound/show-step.ts': 'the whole of a request, cut by prompt.ts',
  'src/core/approvals/surfaces.ts': 'prompts, and the edits that retire them',
  'src/core/outbound/links.ts': 'the reaction that acknowledges',
  'src/core/tool-desk/shown-message-tools.ts': 'edits and reactions of an agent',
  'src/core/tool-desk/channel-tools.ts': 'a call of a tool of a channel server',
  'src/operations/desk-pairing.ts': 'the welcome after a pairing',
  'src/store/verbs/receive/effects.ts': 'what an effect says, which the commit alone knows',
  'src/store/verbs/receive/claims.ts': 'the edits that retire the buttons of a claim',
}

describe('[I13.one-outlet] [I13.settle-with-say] who puts rows into the outbox', () => {
  it('every verb of the store that is handed rows or effects, however deep, is in the table', () => {
    expect(verbsHanded('NewSend').toSorted()).toEqual(Object.keys(CALLERS).toSorted())
    // An effect can hold rows, so its verbs are among them.
    expect(verbsHanded('Effect').toSorted()).toEqual(['fireSchedule', 'receive'])
  })

  const taken = ours.map(({ file, tree }) => ({ file, verbs: new Set(verbsTaken(tree)) }))
  for (const [verb, callers] of Object.entries(CALLERS)) {
    it(`store.${verb} is called from ${callers.join(' and ')} alone`, () => {
      expect(taken.filter(({ verbs }) => verbs.has(verb)).map(({ file }) => file)).toEqual(callers)
    })
  }

  it.each(LANES)('[I13.lane-keeper] store.%s is called by the one keeper of lanes alone', (verb) => {
    const callers = taken.filter(({ verbs }) => verbs.has(verb)).map(({ file }) => file)
    expect(callers).toEqual(['src/core/lane-keeper.ts'])
  })

  it('no verb is looked up in a store by a name that is computed', () => {
    expect(taken.filter(({ verbs }) => verbs.has('[…]')).map(({ file }) => file)).toEqual([])
  })

  it('rows are put together where the table says', () => {
    // What the adapter is asked to send, and a row as it is read, look like one.
    const read = ['src/core/outbound/send-request.ts', 'src/store/codec.ts']
    const makers = code.filter(
      ({ file, tree }) => roomOf(file) !== 'testing' && !read.includes(file) && some(tree, makesRow),
    )
    expect(makers.map(({ file }) => file)).toEqual(Object.keys(ROW_MAKERS).toSorted())
  })
})

describe('[I13.one-outlet] [I13.lane-keeper] by another name', () => {
  const verbs = [...Object.keys(CALLERS), ...LANES]
  const aliases = ours.flatMap((one) => storeAliases(one, verbs).map((words) => `${one.file}: ${words}`))

  it('a store is called store, so that the tables above find every call', () => {
    expect(aliases.toSorted()).toEqual(Object.keys(MAY_RENAME).toSorted())
  })

  const withStore = ours
    .filter(({ file }) => ['core', 'app', 'server', 'cli'].includes(roomOf(file)))
    .map(({ file, tree }) => ({ file, used: namesUsed(tree) }))

  it.each(['enqueue', 'acceptFor', 'expireTurns', 'settleApproval', 'fireSchedule', ...LANES])(
    '%s is called on nothing else in the rooms that have a store, and looked up by no text',
    (verb) => {
      const using = withStore.filter(({ used }) => used.has(verb))
      expect(using.map(({ file }) => file)).toEqual(CALLERS[verb] ?? ['src/core/lane-keeper.ts'])
    },
  )

  it('is found', () => {
    const taken = (text: string) => verbsTaken(parse('x.ts', text).tree)
    for (const text of [
      'store.accept(x)',
      'deps.store?.accept(x)',
      '(store ?? other).accept',
      'store["accept"]',
    ])
      expect([text, taken(text)]).toEqual([text, ['accept']])
    for (const text of ['const { renewLanes } = deps.store', '({ store: { renewLanes } }) => renewLanes()'])
      expect([text, taken(text)]).toEqual([text, ['renewLanes']])
    const renamed = (text: string) => storeAliases(parse('x.ts', text), ['accept']).length
    for (const text of [
      'const outbox = deps.store; outbox.accept(x)',
      'outbox = store',
      'f({ outbox: deps.store })',
      'function f({ store: outbox }) { outbox.accept(x) }',
      "function f(outbox: Pick<Store, 'accept' | 'turn'>) {}",
      'interface Deps { readonly outbox: Store }',
      "type Outbox = Pick<Store, 'accept'>",
      "let put: Store['accept']",
      'const mine = { ...store }',
    ])
      expect([text, renamed(text)]).toEqual([text, 1])
    for (const text of [
      'const { store } = deps; f({ store, a: 1 }); f(store)',
      "function f(store: Pick<Store, 'accept'>): Promise<Store> {}",
      "type Rows = Pick<Store, 'secrets'>",
      "let found: Awaited<ReturnType<Store['turn']>>",
    ])
      expect([text, renamed(text)]).toEqual([text, 0])
    const used = namesUsed(
      parse('x.ts', "a.enqueue(1); const { sayHeld } = b; c['giveBack']; let d: 'accept'").tree,
    )
    expect([...used]).toEqual(['enqueue', 'sayHeld', 'giveBack'])
  })
})

describe('[I13.lane-keeper] lanes', () => {
  it.each(['src/core/dispatch/lanes/lane-holds.ts', 'src/core/outbound/sender.ts'])(
    '%s holds its lanes by the keeper',
    (file) => {
      expect(source(file).code).toMatch(/\bcreateLaneKeeper</)
    },
  )
})

/** Rooms that put the parts together. */
const ASSEMBLY = ['runtime', 'modules', 'gateway', 'health', 'operations', 'daemon', 'setup']

/** Serial chains beside that of the gateway, with the reason. */
const MAY_CHAIN: Readonly<Record<string, string>> = {
  'src/daemon/shared-changes.ts':
    'reads what other nodes changed, one after another; what it found is applied by the chain of the gateway',
}

describe('[I13.apply-chain] a new configuration', () => {
  it('is applied by the one chain of the gateway', () => {
    const isSerial = ({ tree, code: text }: Pick<Source, 'tree' | 'code'>) =>
      /\bcreateSerial(Lines)?\b.*\(/.test(text) || some(tree, chains)
    const serial = code
      .filter((one) => ASSEMBLY.includes(roomOf(one.file)) && isSerial(one))
      .map(({ file }) => file)
    expect(serial).toEqual(['src/gateway/gateway.ts', ...Object.keys(MAY_CHAIN)].toSorted())
  })

  it.each([
    ['chain = chain\n  .then(apply)\n  .catch(tell)', true],
    ['const before = chain; chain = before.then(apply)', true],
    ['chain = (async () => { await chain; await apply() })()', true],
    ['chain = Promise.all([chain, other]).then(apply)', true],
    ['lines.set(key, (lines.get(key) ?? Promise.resolve()).then(apply))', true],
    ['applied = apply().then(note)', false],
    ["loading ??= import('./x.ts').then(({ x }) => x())", false],
    ['token = (await lease())?.token', false],
  ])('a chain is found in %s: %s', (text, isChain) => {
    expect(some(parse('x.ts', text).tree, chains)).toBe(isChain)
  })
})

describe('[I13.form-once] what form a message has', () => {
  it('is recognised in one file', () => {
    const looks = /\b(verdictInText|verdictInTap|shownInTap|claimVerdict|chatCommand)\s*\(/
    const looking = code.filter(({ code: text }) => looks.test(text.replace(/\bfunction \w+\s*\(/g, '')))
    expect(looking.map(({ file }) => file)).toEqual(['src/core/inbound/message-form.ts'])
  })
})

/** Words of other things that are sent or delivered, with what they are about. */
const MAY_SAY_SENT: Readonly<Record<string, string>> = {
  'src/core/dispatch/failure-notes.ts': 'a note to the agent: what came back later',
  'src/core/inbound/command-step.ts': 'what /status counts',
  'src/core/inbound/intake.ts': 'to a sender whose message is not taken',
  'src/core/notices.ts': 'to a sender whose message waits',
  'src/core/outbound/failed-later.ts': 'a notification of what came back later',
  'src/core/outbound/sender.ts': 'a line of the log',
  'src/core/outbound/undelivered.ts': 'a line of the log',
  'src/core/tool-desk/channel-tools.ts': 'given to send-result.ts as what is said of one that was confirmed',
}

/** Asks how something else ended. */
const MAY_ASK_OK: Readonly<Record<string, string>> = {
  'src/daemon/backup/settle-restored.ts': 'whether a ledger verifies',
}

describe('[I13.result-words] the words of a result', () => {
  const ONE = 'src/core/outbound/send-result.ts'
  // The command line has words of its own, for people, with colours; a tool’s description is no result.
  const speaking = code.filter(({ file }) => ['core', 'tools', 'server', ...ASSEMBLY].includes(roomOf(file)))
  const saysSent = ({ strings }: Pick<Source, 'strings'>) =>
    strings.some((text) => /\S \S|^ | $/.test(text) && SENT.test(text))
  const SENT = /\b(sent|sending|delivered|undelivered|queued|deduplicated|not confirmed)\b/i

  it('are chosen by how a send ended in one file', () => {
    const choosing = speaking.filter(({ tree }) => some(tree, wordsResult)).map(({ file }) => file)
    expect(choosing).toEqual([ONE, ...Object.keys(MAY_ASK_OK)].toSorted())
  })

  it('in the core only that file says that something was sent, but for what is no result', () => {
    const saying = speaking
      .filter((one) => roomOf(one.file) === 'core' && saysSent(one))
      .map(({ file }) => file)
    expect(saying).toEqual([ONE, ...Object.keys(MAY_SAY_SENT)].toSorted())
  })

  it.each([
    ["const text = result.status === 'sent' ? 'It has gone out' : 'No luck this time'", true],
    ['const f = (r) => { if (!r.ok) return `this went wrong: @{x}` }'.replace('@', '$'), true],
    ["const r = { ok: true, status: 'sent', platform_ids: [], outbox_id: null }", true],
    ["const state = row.state === 'sent' ? 'ok' : 'open'", false],
    ["if (row.state === 'queued') throw new Error('it is too late')", false],
  ])('a choice of words is found in %s: %s', (text, words) => {
    expect(some(parse('x.ts', text).tree, wordsResult)).toBe(words)
  })

  it.each([
    ['const text = `Your words were delivered to @{x}`'.replace('@', '$'), true],
    ["const text = 'message queued'", true],
    ["const state = 'sent'", false],
    ["const text = 'a sentence about consent'", false],
  ])('words of a result are found in %s: %s', (text, words) => {
    expect(saysSent(parse('x.ts', text))).toBe(words)
  })
})
