// verify: reads the whole ledger in pages and finds any edit, gap, swap, deletion or cut tail. Then it compares the
// ledger with the rows and counters. It reports only the first problem.
import { type AuditReport, defined, type LedgerEntry, type LedgerHead } from '../../contract/index.ts'
import { CHECKPOINT, type Checkpoint, readCheckpoint } from '../checkpoint.ts'
import { ledgerEntry } from '../codec.ts'
import { CHAINS, chainsText, entryText, linkText, sealText } from '../ledger-chain.ts'
import type { Mac } from '../mac.ts'
import { firstRow, type Row, rows, type Steps, text, whole } from '../statement.ts'
import type { ChainHead } from '../verb-context.ts'
import { createReplay, type Replay } from './replay.ts'
import { createEventCheck } from './verify-events.ts'
import { createPruneCheck, type PruneCheck } from './verify-pruned.ts'
import { compareTables, createBodyCheck } from './verify-rows.ts'

const PAGE = 1000

interface ChainWalk {
  readonly name: string
  readonly sealed: ChainHead
  n: number
  mac: string
  /** The text that the next MAC must cover. */
  covered: string
}

interface Findings {
  problem: { readonly seq: number; readonly problem: string } | null
  chainBroken: boolean
}

export function* verifyLedger(tag: string, mac: Mac, expectHead: string | undefined): Steps<AuditReport> {
  const findings: Findings = { problem: null, chainBroken: false }
  const broken = (seq: number, problem: string) => {
    findings.chainBroken = true
    findings.problem ??= { seq, problem }
  }
  const kept = yield* readCheckpoint()
  const checkpoint = kept?.at ?? null
  const chains = yield* loadChains(mac, checkpoint, broken)
  const replay = createReplay(tag, checkpoint ?? undefined)
  const walked = yield* walkEntries({ tag, mac, chains, replay, broken, expectHead, checkpoint })
  // The starting checkpoint must be the one that the chain covers.
  if ((kept?.written ?? null) !== walked.checkpoint)
    broken(walked.lastSeq, 'the checkpoint is not the one that the ledger tells of')
  for (const chain of chains.values()) {
    if (chain.n !== chain.sealed.n || chain.mac !== chain.sealed.head) {
      broken(walked.lastSeq, `chain ${chain.name} ends at ${chain.n}, its seal says ${chain.sealed.n}`)
    }
  }
  if (expectHead !== undefined && !walked.expectFound) {
    const older = checkpoint ? ', or lies before its checkpoint' : ''
    broken(
      walked.lastSeq,
      `the expected head is not in the ledger: it was cut off, is mistyped, or is of another ledger${older}`,
    )
  }
  const tables = yield* compareTables(replay, walked.prunes, (problem) => broken(walked.lastSeq, problem))
  const taken = walked.prunes.unexplained()
  if (taken !== null) broken(walked.lastSeq, taken)
  if (!tables.ok) findings.problem ??= { seq: walked.lastSeq, problem: tables.problem ?? 'counters differ' }
  return {
    ok: findings.problem === null,
    entries: walked.entries,
    chain: findings.chainBroken ? 'broken' : 'intact',
    ...defined({ brokenAt: findings.problem ?? undefined }),
    head: walked.head,
    ...(checkpoint
      ? { checkpoint: { through: checkpoint.through, at: checkpoint.at, entries: checkpoint.entries } }
      : {}),
    conservation: { received: tables.received, accounted: tables.accounted, ok: tables.ok },
  }
}

/** Returns the head as `verify` would report it, without a proof. */
export function* readHead(): Steps<LedgerHead> {
  const last = yield* firstRow(`SELECT mac FROM ledger WHERE mac <> '' ORDER BY seq DESC LIMIT 1`)
  const before = yield* readCheckpoint()
  // Each chain stores its length. Counting millions of entries would take as long as reading them.
  const written = yield* firstRow('SELECT sum(n) AS n FROM ledger_chains')
  return {
    head: last ? text(last, 'mac') : (before?.at.head ?? null),
    entries: (written ? whole(written, 'n') : 0) - (before?.at.entries ?? 0),
  }
}

type Broken = (seq: number, problem: string) => void

/** Returns how many chains were sealed with another key. */
export function* readForeignChains(mac: Mac): Steps<number> {
  const chains = yield* rows('SELECT * FROM ledger_chains')
  return chains.filter((row) => mac(sealText(text(row, 'name'), headOf(row))) !== text(row, 'seal')).length
}

function headOf(row: Row): ChainHead {
  return {
    id: whole(row, 'id'),
    n: whole(row, 'n'),
    head: text(row, 'head'),
    prevChain: whole(row, 'prev_chain'),
    prevN: whole(row, 'prev_n'),
    prevMac: text(row, 'prev_mac'),
  }
}

function* loadChains(
  mac: Mac,
  checkpoint: Checkpoint | null,
  broken: Broken,
): Steps<ReadonlyMap<number, ChainWalk>> {
  const chains = new Map<number, ChainWalk>()
  for (const row of yield* rows('SELECT * FROM ledger_chains ORDER BY id')) {
    const sealed = headOf(row)
    const name = text(row, 'name')
    if (mac(sealText(name, sealed)) !== text(row, 'seal'))
      broken(0, `the seal of chain ${name} does not hold`)
    const { id, prevMac } = sealed
    const [n, head] = checkpoint?.chains[String(id)] ?? [0, prevMac]
    chains.set(id, { name, sealed, n, mac: head, covered: linkText(head, id) })
  }
  const root = yield* firstRow('SELECT value FROM meta WHERE name = $1', [CHAINS])
  const told = root ? text(root, 'value') : ''
  const expected = chains.size === 0 ? '0' : `${chains.size} ${mac(chainsText(chains.size))}`
  if (told !== expected) broken(0, 'the number of chains does not hold: one is missing or was added')
  return chains
}

interface Walk {
  readonly tag: string
  readonly mac: Mac
  readonly chains: ReadonlyMap<number, ChainWalk>
  readonly replay: Replay
  readonly broken: Broken
  readonly expectHead: string | undefined
  readonly checkpoint: Checkpoint | null
}

interface Walked {
  readonly entries: number
  readonly head: string | null
  readonly lastSeq: number
  readonly expectFound: boolean
  /** The text of the latest checkpoint in the walk. */
  readonly checkpoint: string | null
  readonly prunes: PruneCheck
}

function* walkEntries(walk: Walk): Steps<Walked> {
  const bindings = new Map<string, string>()
  for (const { sealed } of walk.chains.values()) {
    if (isBoundBefore(walk, sealed)) continue
    if (sealed.prevChain > 0) bindings.set(`${sealed.prevChain}:${sealed.prevN}`, sealed.prevMac)
    else if (sealed.prevMac !== '') walk.broken(0, 'the first chain binds something before it')
  }
  const prunes = createPruneCheck(walk.tag)
  const bodies = createBodyCheck(walk.tag, prunes)
  const events = createEventCheck(walk.tag, prunes)
  let entries = 0
  let head: string | null = walk.checkpoint?.head ?? null
  let lastSeq = walk.checkpoint?.through ?? 0
  let met: string | null = null
  let expectFound = Object.values(walk.checkpoint?.chains ?? {}).some(([, mac]) => mac === walk.expectHead)
  for (;;) {
    const page = yield* rows('SELECT * FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2', [lastSeq, PAGE])
    for (const row of page) {
      const entry = ledgerEntry(row, '')
      const chain = whole(row, 'chain')
      checkPlace(walk, chain, entry)
      const binding = `${chain}:${entry.n}`
      if (bindings.get(binding) === entry.mac) bindings.delete(binding)
      const wrong = walk.replay.apply(entry)
      if (wrong !== null) walk.broken(entry.seq, wrong)
      prunes.expect(entry)
      if (isCheckpoint(entry)) met = entry.detail
      bodies.expect(entry)
      events.expect(entry)
      if (entry.mac !== '') head = entry.mac
      lastSeq = entry.seq
      entries += 1
      if (entry.mac !== '' && entry.mac === walk.expectHead) expectFound = true
    }
    const edited = (yield* bodies.compare()) ?? (yield* events.compare())
    if (edited) walk.broken(edited.seq, edited.problem)
    if (page.length < PAGE) break
  }
  const replaced = bodies.unexplained()
  if (replaced) walk.broken(replaced.seq, replaced.problem)
  if (bindings.size > 0) walk.broken(lastSeq, 'a chain binds a head that is not there')
  return { entries, head, lastSeq, expectFound, checkpoint: met, prunes }
}

function isCheckpoint({ kind, ref, to }: LedgerEntry): boolean {
  return kind === CHECKPOINT.kind && ref === CHECKPOINT.ref && to === CHECKPOINT.to
}

/** The checkpoint covers the entry that a chain binds. If it was the last of its chain there, its head is known. */
function isBoundBefore({ checkpoint, broken }: Walk, { prevChain, prevN, prevMac }: ChainHead): boolean {
  const [n, mac] = checkpoint?.chains[String(prevChain)] ?? [0, '']
  if (prevChain === 0 || prevN > n) return false
  if (prevN === n && prevMac !== mac) broken(0, 'a chain binds a head that is not there')
  return true
}

function checkPlace(walk: Walk, chainId: number, entry: LedgerEntry): void {
  const chain = walk.chains.get(chainId)
  if (!chain) {
    walk.broken(entry.seq, 'the entry belongs to no chain')
    return
  }
  if (entry.n !== chain.n + 1)
    walk.broken(entry.seq, `entry ${chain.n + 1} of chain ${chain.name} is missing`)
  chain.n = entry.n
  chain.covered += `\n${entryText(entry.n, entry.at, entry)}`
  // The last entry of a commit covers its other entries.
  if (entry.mac === '') return
  if (walk.mac(chain.covered) !== entry.mac)
    walk.broken(entry.seq, 'the entry was changed, or what stood before it')
  chain.mac = entry.mac
  chain.covered = linkText(entry.mac, chainId)
}
