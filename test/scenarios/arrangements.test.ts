// Every scenario has three arrangements: SQLite, PostgreSQL, and three nodes on one PostgreSQL. Exceptions are written
// down here; which of them `npm test` runs is dealt out.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dealtPlans, isDealt, type Scope, scopeOf } from './deal.ts'

/** Files with scenarios that have fewer arrangements, and why. */
const FEWER: Readonly<Record<string, string>> = {
  'agent-faults.test.ts': 'sockets between one node and its agent; the store is beside the point',
  'channel-tools.test.ts': 'what a tool answers stays on the node that has its server',
  'completeness-attacks.test.ts': 'thousands of messages are about numbers, in memory; the rest runs on all',
  'completeness.test.ts': 'ten thousand places are about numbers, in memory; the rest runs on all',
  'limits.test.ts': 'buckets are a node’s own; shared ones are the cluster tests’',
  'llm.test.ts': 'a loop runs where its turn is; what nodes know of each other’s steps is the store suite’s',
  'looked-all.test.ts': 'about numbers; the filters are the store suite’s on both stores',
  'lone-message.test.ts': 'counts the commits of one node; what three do is counted on none',
  'long-queue.test.ts': 'about numbers, in memory',
  'many-approvals.test.ts': 'about numbers; paging is the store suite’s on both stores',
  'outages.test.ts': 'hours that pass are about time, in memory; the rest runs on all',
  'revoked.test.ts':
    'every way once is a matter of the configuration; what nodes hear of each other runs on all',
  'takeover.test.ts': 'one look that is late, beside no other node’s; the rest runs on all',
  'ten-thousand.test.ts': 'about numbers, in memory',
  'cut-answers.test.ts': 'an exchange is held by one node; what another finds of it runs on all',
  'reload-links.test.ts': 'links are a node’s own',
}
/** Files without a river, and why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'arrangements.test.ts': 'this one',
  'discord-deaf.test.ts': 'links that go deaf over real sockets; the store is beside the point',
  'discord-faults.test.ts': 'the adapter under fault plans, each dealt to an arrangement',
  'email-river.test.ts': 'the adapter under fault plans over real sockets; the store is beside the point',
  'imessage-faults.test.ts': 'the adapter under fault plans, each dealt to a store; one Mac has the database',
  'slack-commands.test.ts':
    'what the adapter shows of a command over real sockets; commands themselves run on all',
  'slack-deaf.test.ts': 'links that go deaf over real sockets; the store is beside the point',
  'slack-edits-away.test.ts': 'one adapter over real sockets; what nodes do with an edit runs on all',
  'slack-examples.test.ts': 'two adapters between their emulators; the tools and claims run on all',
  'slack-restart-order.test.ts': 'one adapter over real sockets; the order of a place runs on all',
  'slack-faults.test.ts': 'the adapter under fault plans; the store is beside the point',
  'stream-backlog.test.ts': 'readers over real sockets, on the real clock',
  'streams.test.ts': 'commits that overlap on the real clock; three nodes throughout',
  'telegram-faults.test.ts': 'the adapter under fault plans; the store is beside the point',
  'whatsapp-faults.test.ts': 'the adapter under fault plans, each dealt to an arrangement',
  'whatsapp-truth.test.ts': 'one adapter over real sockets; receipts are the store suite’s on both stores',
}

it('[I6.scenarios-three] every scenario runs on SQLite, on PostgreSQL and on three nodes, but for written reasons', () => {
  const folder = new URL('.', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  const unexplained: string[] = []
  for (const name of files) {
    const text = readFileSync(new URL(name, folder), 'utf8')
    const rivers = [...text.matchAll(/^describeRiver\(/gm)].length
    const fewer = [...text.matchAll(/^ {2}\[(?:'(?:sqlite|postgres|memory)',? ?)+\],?$/gm)].length
    if (rivers === 0 && OTHERWISE[name] === undefined) unexplained.push(name)
    if (fewer > 0 && FEWER[name] === undefined) unexplained.push(name)
  }
  expect(unexplained).toEqual([])
  expect(files.length).toBeGreaterThan(15)
})

describe('dealing out', () => {
  const kinds = ['sqlite', 'postgres', 'three nodes'] as const
  const names = readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(new URL(file, import.meta.url), 'utf8').matchAll(/^ {2}it\('(.+?)', async/gm),
    ])
    .map(([, name = '']) => name)
  const on = (name: string, scope: Scope) => kinds.filter((kind) => isDealt(name, kind, kinds, scope))

  it('[I13.dealt] runs each fault plan once, in turn at another place, and all of the product when asked', () => {
    const plans = ['a', 'b', 'c', 'd'].flatMap((point) => [1, 2, 3].map((step) => `${point}${step}`))
    expect(dealtPlans(plans, ([point = '']) => point, 'dealt')).toEqual(['a1', 'b2', 'c3', 'd1'])
    expect(dealtPlans(plans, ([point = '']) => point, 'first')).toEqual(['a1', 'b2', 'c3', 'd1'])
    expect(dealtPlans(plans, ([point = '']) => point, 'all')).toEqual(plans)
  })

  it('[I13.dealt] gives each scenario one arrangement, and each arrangement a fair share', () => {
    expect(names.length).toBeGreaterThan(150)
    for (const name of names) expect(on(name, 'dealt')).toHaveLength(1)
    for (const kind of kinds) {
      const share = names.filter((name) => on(name, 'dealt').includes(kind)).length / names.length
      expect([kind, share > 0.25 && share < 0.42]).toEqual([kind, true])
    }
  })

  it('gives the same scenario the same every time', () => {
    expect(names.map((name) => on(name, 'dealt'))).toEqual(names.map((name) => on(name, 'dealt')))
    expect([on('a pinned name', 'dealt'), on('another pinned name', 'dealt')]).toEqual([
      ['three nodes'],
      ['postgres'],
    ])
  })

  it('[I13.dealt-all] gives each scenario every arrangement when all are asked for', () => {
    expect(names).not.toEqual([])
    for (const name of names) expect(on(name, 'all')).toEqual(kinds)
  })

  it('gives SQLite alone for a quick look, and takes no other word', () => {
    for (const name of names) expect(on(name, 'first')).toEqual(['sqlite'])
    expect(scopeOf(undefined)).toBe('dealt')
    expect(() => scopeOf('al')).toThrow('SWITCHBOARD_TEST_SCOPE')
  })

  it('gives what has one arrangement that one', () => {
    expect(isDealt('any', 'memory', ['memory'], 'dealt')).toBe(true)
  })
})
