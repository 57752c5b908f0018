// The end of every commit: ledger entries get their place in the chain, and counters their new values.
//
// There is one chain per node and boot. The entries of a commit share one MAC, stored with the last of them. It covers
// these entries and the previous MAC, so an edit, a gap or a swap breaks everything after it. The first MAC of a chain
// covers the head before it. The same commit seals the chain's row with a MAC over its length and head, so a cut tail
// is detected. `meta` holds the sealed number of chains.
import type { Mac } from './mac.ts'
import {
  firstRow,
  type InsertShape,
  insert,
  run,
  runUnheard,
  type Steps,
  sideBySide,
  text,
  type Value,
  whole,
} from './statement.ts'
import type { ChainHead, NewEntry, VerbContext } from './verb-context.ts'

const LEDGER_INSERT: InsertShape = {
  table: 'ledger',
  columns: [
    'chain',
    'n',
    'at',
    'kind',
    'ref',
    'integration',
    'from_state',
    'to_state',
    'reason',
    'count',
    'digest',
    'detail',
    'mac',
  ],
  numbers: ['chain', 'n', 'at', 'count'],
  positioned: true,
  conflict: '',
  identity: '',
}

const COUNTER_INSERT: InsertShape = {
  table: 'counters',
  columns: ['node', 'integration', 'name', 'reason', 'count'],
  numbers: ['count'],
  conflict:
    'ON CONFLICT (node, integration, name, reason) DO UPDATE SET count = counters.count + excluded.count',
  identity: '',
}

export const CHAINS = 'ledger_chains'

/** The first line of the text under a commit's MAC. One line per entry follows. */
export function linkText(before: string, chain: number): string {
  return JSON.stringify([before, chain])
}

/** JSON separates the fields and contains no line break. */
export function entryText(n: number, at: number, entry: NewEntry): string {
  return JSON.stringify([
    n,
    at,
    entry.kind,
    entry.ref,
    entry.integration,
    entry.from,
    entry.to,
    entry.reason,
    entry.count,
    entry.digest,
    entry.detail,
  ])
}

export function sealText(name: string, chain: ChainHead): string {
  return JSON.stringify([
    'chain',
    chain.id,
    name,
    chain.prevChain,
    chain.prevN,
    chain.prevMac,
    chain.n,
    chain.head,
  ])
}

export function chainsText(chains: number): string {
  return JSON.stringify(['chains', chains])
}

/** Writes the ledger entries and counters. Runs last in every commit. */
export function* flush(context: VerbContext, mac: Mac): Steps<void> {
  for (const drop of context.drops.values()) {
    context.entries.push({
      kind: 'turn',
      ref: '',
      integration: drop.integration,
      from: '',
      to: drop.state,
      reason: drop.reason,
      count: drop.count,
      digest: '',
      detail: drop.detail,
    })
  }
  const chain = context.entries.length === 0 ? null : (context.chain ?? (yield* openChain(context, mac)))
  const changes: Value[][] = []
  for (const change of context.counts.values()) {
    if (change.delta === 0) continue
    changes.push([context.node, change.integration, change.name, change.reason, change.delta])
  }
  // The same order on every node, so that two nodes cannot deadlock.
  changes.sort((one, other) => (String(one) < String(other) ? -1 : 1))
  yield* sideBySide(
    ...(chain === null ? [] : appendEntries(context, mac, chain)),
    insert(COUNTER_INSERT, changes),
  )
}

/** Writes the entries and the chain's row that seals them. */
function appendEntries(context: VerbContext, mac: Mac, chain: ChainHead): readonly Steps<unknown>[] {
  const { entries, now } = context
  const values: Value[][] = []
  let { n } = chain
  let told = linkText(chain.head, chain.id)
  let head = ''
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] as NewEntry
    n += 1
    told += `\n${entryText(n, now, entry)}`
    if (at === entries.length - 1) head = mac(told)
    values.push([
      chain.id,
      n,
      now,
      entry.kind,
      entry.ref,
      entry.integration,
      entry.from,
      entry.to,
      entry.reason,
      entry.count,
      entry.digest,
      entry.detail,
      head,
    ])
  }
  context.chain = { ...chain, n, head }
  const seal = mac(sealText(context.owner, context.chain))
  return [
    insert(LEDGER_INSERT, values),
    runUnheard('UPDATE ledger_chains SET n = $2, head = $3, seal = $4 WHERE id = $1', [
      chain.id,
      n,
      head,
      seal,
    ]),
  ]
}

function* openChain(context: VerbContext, mac: Mac): Steps<ChainHead> {
  const root = yield* firstRow(`SELECT value FROM meta WHERE name = $1 @lock`, [CHAINS])
  const [known = '0'] = (root ? text(root, 'value') : '0').split(' ')
  const id = Number(known) + 1
  const before = yield* firstRow('SELECT n, head FROM ledger_chains WHERE id = $1', [id - 1])
  const prevMac = before ? text(before, 'head') : ''
  const chain: ChainHead = {
    id,
    n: 0,
    head: prevMac,
    prevChain: id - 1,
    prevN: before ? whole(before, 'n') : 0,
    prevMac,
  }
  yield* run(
    `INSERT INTO ledger_chains (id, name, prev_chain, prev_n, prev_mac, n, head, seal)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      id,
      context.owner,
      chain.prevChain,
      chain.prevN,
      prevMac,
      0,
      prevMac,
      mac(sealText(context.owner, chain)),
    ],
  )
  yield* run(`UPDATE meta SET value = $2 WHERE name = $1`, [CHAINS, `${id} ${mac(chainsText(id))}`])
  return chain
}
