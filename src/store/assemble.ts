// Assembles the Store from verbs and reads, which are the same for both databases. `StoreEngine` holds the differences.
import { type Clock, type DatabaseFile, defined, type Hint, nodeOf, type Store } from '../contract/index.ts'
import { findWork } from './find-work.ts'
import type { Mac } from './mac.ts'
import { readConversation, readConversations } from './reads/conversations.ts'
import { readFile, readFileTime } from './reads/files.ts'
import { readHistoryLinks, readHistoryMarks, readKnownMessages, readMarksSince } from './reads/history.ts'
import { readAttachments, readNodes } from './reads/nodes.ts'
import { readOverheard } from './reads/overheard.ts'
import { readPerson } from './reads/person.ts'
import * as rest from './reads/rest.ts'
import { readSample } from './reads/sample.ts'
import { readClaims, readFirings, readNotifications } from './reads/sending.ts'
import { readOnItsWay, readSend, readSends, readTranscript } from './reads/sends.ts'
import {
  readHeldAgainst,
  readHeldWords,
  readPastTakeovers,
  readTakeoverAt,
  readTakeovers,
} from './reads/takeovers.ts'
import { readThread } from './reads/thread.ts'
import { readTurnEvents } from './reads/turn-events.ts'
import { readPast, readSpent, readSteps, readUsage } from './reads/turn-steps.ts'
import { isLongWalk, readLastReceived, readNewestTurns, readTurn, readTurns } from './reads/turns.ts'
import { readForeignChains, readHead, verifyLedger } from './reads/verify.ts'
import type { Steps } from './statement.ts'
import type { Verb } from './verb-context.ts'
import * as approvals from './verbs/people/approvals.ts'
import { eraseNotifications, erasePerson, forgetFile } from './verbs/people/erase-person.ts'
import { approvePairing, denyPairing } from './verbs/people/pairing.ts'
import * as people from './verbs/people/people.ts'
import { giveBack } from './verbs/receive/claims.ts'
import { receive } from './verbs/receive/receive.ts'
import * as takeovers from './verbs/receive/takeovers.ts'
import { markReported, noticeSends, readUnnoticed, readUnreported } from './verbs/sends/delivery-report.ts'
import { enqueue } from './verbs/sends/enqueue.ts'
import { doneFileOrder, keepFileOrder, readFileOrders } from './verbs/sends/file-orders.ts'
import { keepFile, pruneFiles } from './verbs/sends/files.ts'
import { moveSends, operateSend } from './verbs/sends/move-sends.ts'
import { logNotification } from './verbs/sends/notifications.ts'
import { forgetStatusLine, keepStatusLine, readStatusLines } from './verbs/sends/status-lines.ts'
import { takeSends } from './verbs/sends/take-sends.ts'
import { settleClock } from './verbs/turns/clock-set-back.ts'
import { beginTry, endTry } from './verbs/turns/input-tries.ts'
import * as lanes from './verbs/turns/lanes.ts'
import { accept, acceptFor, moveTurns } from './verbs/turns/move-turns.ts'
import { expireTurns, operateTurn, readOverdueTurns } from './verbs/turns/operate-turns.ts'
import { fireSchedule } from './verbs/turns/schedules.ts'
import { takeTurns } from './verbs/turns/take-turns.ts'
import { heardOf, keepTurnEvent } from './verbs/turns/turn-events.ts'
import { keepStep } from './verbs/turns/turn-steps.ts'
import { gatherConversations, readGatherEnds } from './verbs/upkeep/gather-conversations.ts'
import { beginHistory, forgetPlace, settleHistory } from './verbs/upkeep/history.ts'
import * as leases from './verbs/upkeep/leases.ts'
import { beat, leave } from './verbs/upkeep/nodes.ts'
import { pruneLedger } from './verbs/upkeep/prune-ledger.ts'
import { pruneRows } from './verbs/upkeep/prune-rows.ts'
import { readRestored, settleRestored } from './verbs/upkeep/restored.ts'
import { forgetOverheard, note, pruneBodies, pruneTokens } from './verbs/upkeep/upkeep.ts'

export interface StoreEngine {
  readonly tag: string
  readonly owner: string
  readonly shared: boolean
  readonly clock: Clock
  readonly mac: Mac
  /** Resolves after the commit that contains the verb. */
  write<Args, Result>(verb: Verb<Args, Result>, args: Args, unhurried?: boolean): Promise<Result>
  read<Result>(steps: Steps<Result>): Promise<Result>
  /** Runs a long read on one snapshot, with room for other work. */
  readLong<Result>(steps: Steps<Result>): Promise<Result>
  /** Runs a separate transaction outside the group, for large data. It leaves no entry in the ledger. */
  writeApart<Args>(steps: (args: Args, now: number) => Steps<void>, args: Args): Promise<void>
  /** Reads large data on one snapshot, beside the other reads. */
  readApart<Result>(steps: Steps<Result>): Promise<Result>
  durability: Store['durability']
  readonly file?: DatabaseFile
  tell(hints: readonly Hint[]): void
  drawTokens?: Store['drawTokens']
  onHint: Store['onHint']
  onCommit: Store['onCommit']
  close(): Promise<void>
}

export function assembleStore(engine: StoreEngine): Store {
  const { write, read, tag, clock, owner } = engine
  const own = { owner, former: owner.slice(0, owner.lastIndexOf('/') + 1) }
  return {
    tag,
    owner,
    shared: engine.shared,
    ...defined({ file: engine.file }),
    durability: engine.durability,
    receive: (items, cursor, mark) => write(receive, { items, cursor: cursor ?? null, mark: mark ?? null }),
    cursor: (integration) => read(rest.readCursor(integration)),
    beginTry: (integration, input) => write(beginTry, { integration, input }),
    endTry: (integration, input) => write(endTry, { integration, input }),

    beginHistory: (integration) => write(beginHistory, integration),
    settleHistory: (settled) => write(settleHistory, settled),
    historyLinks: () => read(readHistoryLinks()),
    historyMarks: (integration, places) => read(readHistoryMarks(integration, places)),
    marksSince: (integration, sinceMs, page) => read(readMarksSince(integration, sinceMs, page)),
    forgetPlace: (integration, place) => write(forgetPlace, { integration, place }),
    knownMessages: (integration, keys) => read(readKnownMessages(integration, keys)),

    takeTurns: (requests, leaseMs) => write(takeTurns, { lanes: requests, leaseMs }),
    moveTurns: (moves, options) => write(moveTurns, moves, options?.unhurried),
    accept: (sends, moves) => write(accept, { sends, moves }),
    keepTurnEvent: (event) => write(keepTurnEvent, event),
    heardOf: (turn, agent) => write(heardOf, { turn, agent }),
    async acceptFor(sends, move) {
      for (;;) {
        const result = await write(acceptFor, { sends, move })
        if (result !== 'busy') return result
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    },
    keepStatusLine: (line) => write(keepStatusLine, line),
    statusLines: (limit, after) => read(readStatusLines(limit, after)),
    forgetStatusLine: (turn) => write(forgetStatusLine, turn),
    operateTurn: (id, verb, by) => write(operateTurn, { id, verb, by }),
    overdueTurns: (olderThanMs, limit) => read(readOverdueTurns(tag, clock.now() - olderThanMs, limit)),
    expireTurns: (olderThanMs, turns) => write(expireTurns, { olderThanMs, turns }),

    enqueue: (sends) => write(enqueue, sends),
    takeSends: (requests, leaseMs) => write(takeSends, { lanes: requests, leaseMs }),
    moveSends: (moves, options) => write(moveSends, moves, options?.unhurried),
    operateSend: (id, verb, by) => write(operateSend, { id, verb, by }),

    unreportedFailures: (session) => read(readUnreported(tag, session)),
    markReported: (ids) => write(markReported, ids),
    unnoticedSends: (afterSeq) => read(readUnnoticed(tag, afterSeq)),
    noticeSends: (ids, notice) => write(noticeSends, { ids, notice }),

    claims: (filter) => read(readClaims(tag, filter)),
    giveBack: (at, session, words = []) => write(giveBack, { at, session, words }),
    logNotification: (attempt) => write(logNotification, attempt),
    notifications: (filter) => read(readNotifications(tag, filter)),
    fireSchedule: (firing, item) => write(fireSchedule, { firing, item: item ?? null }),
    firings: (filter) => read(readFirings(filter)),

    findWork: (kind, scopes, options) =>
      findWork(options, (after, limit) =>
        read(rest.readWork(kind, scopes, { after, limit, now: clock.now(), own })),
      ),
    renewLanes: (kind, held, leaseMs) => write(lanes.renewLanes, { kind, lanes: held, leaseMs }),
    releaseLanes: (kind, held) => write(lanes.releaseLanes, { kind, lanes: held }),
    lease: (name, ttlMs) => write(leases.lease, { name, ttlMs }),
    releaseLease: (name, token) => write(leases.releaseLease, { name, token }),
    settleClock: () => write(settleClock, null),

    ask: (approval, prompts) => write(approvals.ask, { approval, prompts }),
    decide: (decide, words = []) => write(approvals.decide, { decide, words }),
    settleApproval: (id, to, words = []) => write(approvals.settleApproval, { id, to, words }),
    adoptApproval: (id) => write(approvals.adopt, id),
    approval: (id) => read(approvals.latestApproval(id)),
    approvals: (filter) => read(rest.readApprovals(filter)),
    pendingApprovals: () => read(rest.countPendingApprovals()),

    beat: (report) => write(beat, report),
    leave: () => write(leave, null),
    nodes: () => read(readNodes(clock.now())),
    attachments: () => read(readAttachments()),
    tell: (hints) => engine.tell(hints),
    ...defined({ drawTokens: engine.drawTokens }),

    keepFile: (file) => engine.writeApart(keepFile, file),
    fileTime: (integration, name) => read(readFileTime(integration, name)),
    keptFile: (integration, name) => engine.readApart(readFile(integration, name)),

    grants: () => read(rest.readGrants()),
    grant: (grant) => write(people.grant, grant),
    revoke: (integration, sender, right, by) => write(people.revoke, { integration, sender, right, by }),
    pairings: () => read(rest.readPairings(clock.now())),
    approvePairing: (code, by, { rights = [], words = [] } = {}) =>
      write(approvePairing, { code, by, rights, words }),
    denyPairing: (code, by) => write(denyPairing, { code, by }),
    addToken: (token, by) => write(people.addToken, { token, by }),
    tokenByHash: (hash) => read(rest.readTokenByHash(hash)),
    tokens: (only = {}) => read(rest.readTokens(only)),
    tokensUsed: (uses) => write(people.tokensUsed, { uses }),
    revokeToken: (id, by) => write(people.revokeToken, { id, by }),
    secrets: () => read(rest.readSecrets()),
    replaceSecrets: (change, by) => write(people.replaceSecrets, { change, by }),

    turn: (id) => read(readTurn(tag, id)),
    async turns(filter) {
      if (!isLongWalk(filter)) return read(readTurns(tag, filter))
      return (await read(readNewestTurns(tag, filter))) ?? engine.readLong(readTurns(tag, filter))
    },
    lastReceived: (agents) => engine.readLong(readLastReceived(agents)),
    sampleTurns: (query) => read(readSample(query)),
    keepStep: (step) => write(keepStep, step),
    turnSteps: (turn) => read(readSteps(tag, turn)),
    pastTurns: (session, before, limit) => read(readPast(tag, session, before, limit)),
    spentTokens: (agent, day) => read(readSpent(agent, day)),
    usage: (sinceDay) => read(readUsage(sinceDay)),
    overheard: (turn, query) => read(readOverheard(tag, turn, query)),
    turnEvents: (id) => read(readTurnEvents(tag, id)),
    send: (id) => read(readSend(tag, id)),
    sends: (filter) => read(readSends(tag, filter)),
    session: (id) => read(rest.readSession(id)),
    sessionAt: (agent, at) => read(rest.readSessionAt(agent, at)),
    transcript: (integration, query) => read(readTranscript(tag, integration, query)),
    onItsWay: (integration) => read(readOnItsWay(integration)),
    counters: () => read(rest.readCounters()),
    recentRefusals: (sinceMs) => read(rest.readRecentRefusals(sinceMs)),
    queuedTurns: () => read(rest.readQueuedTurns()),
    waitingBehind: (before) => read(rest.readWaitingBehind(tag, before)),
    waitingSends: (before) => read(rest.readWaitingSends(before)),

    takeOver: (order) => write(takeovers.takeOver, order),
    sayHeld: (sends, order) => write(takeovers.sayHeld, { ...order, sends }),
    endTakeover: (order) => write(takeovers.endTakeover, order),
    askTakeover: (order) => write(takeovers.askTakeover, order),
    takeovers: (filter = {}) => read(readTakeovers(filter)),
    takeoverAt: (at) => read(readTakeoverAt(at)),
    pastTakeovers: (at, limit) => read(readPastTakeovers(at, limit)),
    heldAgainst: (at, turn) => read(readHeldAgainst(tag, at, turn)),
    heldWords: (turn, limit) => read(readHeldWords(tag, turn, limit)),

    // The end is read beforehand: a commit with pending rows of its own would wait for itself.
    async gatherConversations() {
      const ends = await read(readGatherEnds())
      return ends === null ? false : write(gatherConversations, ends)
    },
    conversations: (filter) => read(readConversations(tag, filter)),
    conversation: (at) => read(readConversation(tag, at)),
    thread: (at, page) => read(readThread(tag, at, page)),

    note: (notes) => write(note, notes),
    ledger: ({ afterSeq, limit }) => read(rest.readLedger(afterSeq, limit)),
    verify: (expectHead) => engine.readLong(verifyLedger(tag, engine.mac, expectHead)),
    head: () => read(readHead()),
    foreignChains: () => read(readForeignChains(engine.mac)),
    settleRestored: (takenAt, by, limit) => write(settleRestored, { takenAt, by, limit }),
    restored: () => read(readRestored()),
    pruneBodies: (olderThanMs, limit) => write(pruneBodies, { olderThanMs, limit }),
    forgetOverheard: (olderThanMs, limit) => write(forgetOverheard, { olderThanMs, limit }),
    pruneRows: (olderThanMs, limit) => write(pruneRows, { olderThanMs, limit }),
    pruneLedger: (olderThanMs, limit) => write(pruneLedger, { olderThanMs, limit }),
    person: (who, cursor) => read(readPerson(tag, who, cursor)),
    erasePerson: (who, cursor, by) => write(erasePerson, { who, cursor, by }),
    eraseNotifications: (user, limit) => write(eraseNotifications, { user, limit }),
    keepFileOrder: (order) => write(keepFileOrder, order),
    fileOrders: () => read(readFileOrders(nodeOf(owner))),
    doneFileOrder: (id) => write(doneFileOrder, id),
    forgetFile: (integration, name) => write(forgetFile, { integration, name }),
    pruneTokens: (olderThanMs, limit) => write(pruneTokens, { olderThanMs, limit }),

    pruneFiles: (olderThanMs, limit) => write(pruneFiles, { olderThanMs, limit }),

    onHint: engine.onHint,
    onCommit: engine.onCommit,
    close: engine.close,
  }
}
