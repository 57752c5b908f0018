// What commands print that read: `status`, `doctor`, `audit`, `logs`, one turn, one conversation.
import { plural } from '../plural.ts'

export interface Counted {
  readonly count: number
}

export interface At {
  /** A relative time. */
  readonly at: string
}

export const reports = {
  embeddedConfig: 'the embedded default',
  /** How far an integration is known to have missed nothing. */
  complete: {
    unchecked: 'cannot be checked',
    until: ({ until }: { readonly until: string | null }) => `complete until ${until ?? 'now'}`,
    behind: ({ since, detail }: { readonly since: string | null; readonly detail: string | undefined }) =>
      `behind${since === null ? '' : ` since ${since}`}${detail === undefined ? '' : `: ${detail}`}`,
  },
  status: {
    ready: 'ready',
    notReady: 'not ready',
    noDaemon: 'no daemon',
    up: ({ state, span }: { readonly state: string; readonly span: string }) => `${state}, up ${span}`,
    fromStore: ({ state }: { readonly state: string }) => `${state} (read from the store)`,
    received: ({ count }: Counted) => `${count} received`,
    outbox: (counts: {
      readonly queued: number
      readonly sent: number
      readonly deduplicated: number
      readonly failed: number
      readonly unknown: number
    }) =>
      `${counts.queued} queued, ${counts.sent} sent, ${counts.deduplicated} deduplicated, ${counts.failed} failed, ${counts.unknown} unknown`,
    outcomeOpen: ({ count }: Counted) => `${count} sending: outcome_open`,
    pending: ({ count }: Counted) => `${count} pending`,
    storeProblem: 'store problem:',
    configurationProblem: 'configuration problem:',
    warning: 'warning:',
    doctorSays: '(switchboard doctor says what mends each):',
    unverified: ({ source }: { readonly source: string }) => `${source} (unverified)`,
  },
  doctor: {
    problems: ({ count }: Counted) => plural(count, 'problem'),
    problemsFollow: ({ count }: Counted) => `${plural(count, 'problem')}:`,
    onlyWarnings: ({ count }: Counted) => `No problem, ${plural(count, 'warning')}:`,
    allWell: 'All is well:',
    counts: ({ integrations, agents }: { readonly integrations: number; readonly agents: number }) =>
      `${plural(integrations, 'integration')}, ${plural(agents, 'agent')}`,
    verboseHint: 'every gate, with what passes: switchboard doctor --verbose',
    warning: 'warning',
    notUsed: 'not used',
    module: ({
      from,
      version,
      brings,
    }: {
      readonly from: string
      readonly version: string | null
      readonly brings: string
    }) => `module ${from} ${version === null ? '' : `${version} `}(${brings})`,
    /** A gate that is open wider than most want, one that is open, and one that is closed. */
    open: 'open',
    pass: 'pass',
    stop: 'stop',
    claudeGates: ({ agents }: { readonly agents: string }) => `Claude Code's own gates (for ${agents})`,
    claudeSilent: 'it closes them without telling us; in its order, with what opens each:',
    /** Headings of the parts. */
    integration: ({ id }: { readonly id: string }) => `integration ${id}`,
    agent: ({ id }: { readonly id: string }) => `agent ${id}`,
    server: ({ id }: { readonly id: string }) => `server ${id}`,
    moduleHead: ({ id }: { readonly id: string }) => `module ${id}`,
    config: ({ file, digest }: { readonly file: string; readonly digest: string }) =>
      `${file} (digest ${digest})`,
    last: ({ received, sent }: { readonly received: string; readonly sent: string }) =>
      `in ${received}, out ${sent}`,
    foundLate: ({ count }: Counted) => `${count} found late`,
    sends: ({ waiting, failed }: { readonly waiting: number; readonly failed: number }) =>
      `${waiting} waiting, ${failed} failed`,
    noDrops: 'none',
    refused: ({ count, reason, text }: Counted & { readonly reason: string; readonly text: string }) =>
      `refused ${count} × ${reason}: ${text}`,
    problem: 'problem',
    otherHost: 'a host at another node',
    unseen: ({
      turn,
      agent,
      where,
      at,
      why,
    }: At & {
      readonly turn: string
      readonly agent: string
      readonly where: string
      readonly why: string
    }) => `turn ${turn} of ${agent} lies at ${where} since ${at}, and nothing shows that it was seen: ${why}`,
    turnedAway: 'turned away',
    awayHost: ({ at, reason }: At & { readonly reason: string }) => `a host, ${at}: ${reason}`,
    leftOut: 'tools left out',
    leftOutServer: ({
      server,
      session,
      at,
      problem,
    }: At & { readonly server: string; readonly session: string; readonly problem: string }) =>
      `of the service's server ${server} in session ${session}, ${at}: ${problem}`,
    program: ({
      name,
      pid,
      at,
      mebibytes,
    }: At & { readonly name: string; readonly pid: number; readonly mebibytes: number | null }) =>
      `program ${name}, pid ${pid}, since ${at}${mebibytes === null ? '' : `, ${mebibytes} MiB`}`,
    stderr: 'stderr',
    binding: ({
      integration,
      conversations,
    }: {
      readonly integration: string
      readonly conversations: string
    }) => `from ${integration} (${conversations})`,
    queue: ({ queued, approvals, at }: At & { readonly queued: number; readonly approvals: number }) =>
      `${queued} waiting, ${approvals} approvals pending, last message ${at}`,
    unbound: 'bound to nothing',
    unboundWhy: 'nobody can reach it (inbound_bindings)',
    byHand: ({ source }: { readonly source: string }) => `${source} (unverified: written by hand)`,
    noSource: 'no plugin source',
    noChannel: 'declares no channel',
    speaks: ({ prefix }: { readonly prefix: string }) => `speaks ${prefix}/channel`,
    relays: 'relays permissions',
    unknownProgram: 'unknown yet',
    serverSince: ({ at, restarts, noise }: At & { readonly restarts: number; readonly noise: number }) =>
      `${at}, started again ${restarts} times, ${noise} lines of noise`,
    moduleGone: 'no such file: what was loaded runs until the next start',
    moduleChanged: 'since it was loaded: restart the daemon to use it',
  },
  audit: {
    ok: 'ok',
    notOk: 'not ok',
    intact: 'intact',
    broken: 'broken',
    brokenAt: ({ entry, problem }: { readonly entry: number; readonly problem: string }) =>
      `entry ${entry}: ${problem}`,
    checkpoint: ({ count, at }: Counted & At) =>
      `from a checkpoint: ${count} entries up to ${at} were pruned behind it`,
    messages: ({ received, accounted }: { readonly received: number; readonly accounted: number }) =>
      `${received} received, ${accounted} accounted for`,
    mustBeEqual: '(they must be equal)',
  },
  logs: {
    nothingAbout: ({ integration }: { readonly integration: string }) =>
      `nothing in the log is about "${integration}"`,
    nowIs: ({
      state,
      reason,
      id,
    }: {
      readonly state: string
      readonly reason: string | null
      readonly id: string
    }) => `now ${state}${reason === null ? '' : ` (${reason})`}; its text: switchboard turns show ${id}`,
    serviceHint: ({ service }: { readonly service: string }) =>
      `a service manager keeps them: journalctl --user -u ${service}`,
    noLogHint:
      'a daemon of `switchboard up` keeps one on a terminal and with --detach; elsewhere it writes to standard error',
  },
  /** After an operation on a turn or a message. */
  isNow: ({ id, state }: { readonly id: string; readonly state: string }) => `${id} is ${state}`,
  turn: {
    usage: ({
      input,
      cached,
      output,
      cost,
    }: {
      readonly input: number
      readonly cached: number
      readonly output: number
      readonly cost: number | undefined
    }) =>
      `${input} in${cached > 0 ? ` (${cached} from the cache)` : ''}, ${output} out${cost === undefined ? '' : `, cost ${cost}`}`,
    omitted: '… more were told than are kept',
    notKept: '(no longer kept)',
  },
  conversation: {
    cut: ({ count }: Counted) => `only the latest ${count} are shown; /api has all of them`,
    heldBy: ({ name }: { readonly name: string }) => `by ${name}`,
    asked: 'a person was asked for',
    taken: ({ name }: { readonly name: string }) => `taken over by ${name}`,
    ended: ({ how, name }: { readonly how: string | undefined; readonly name: string }) =>
      `ended (${how}) by ${name}`,
    notKept: '(not kept)',
  },
  chorus: {
    secret: ({ revoked }: { readonly revoked: number }) =>
      `a secret: paste it into the service. It is not shown again${revoked === 0 ? '' : `; ${plural(revoked, 'older one')} dead now`}`,
  },
  hooks: {
    nothingToPaste: ({ id, platform }: { readonly id: string; readonly platform: string }) =>
      `${id} (${platform}): nothing is to be pasted`,
    sent: ({
      recipe,
      event,
      bytes,
    }: {
      readonly recipe: string
      readonly event: string
      readonly bytes: number
    }) => `${recipe} ${event}, ${bytes} bytes`,
    stillThere: ({ state, id }: { readonly state: string; readonly id: string }) =>
      `it is still ${state}: see switchboard turns show ${id}`,
    it: 'it',
    replayed: ({
      id,
      state,
      why,
      of,
    }: {
      readonly id: string
      readonly state: string
      readonly why: string
      readonly of: string
    }) => `${id} is ${state}${why}, a replay of ${of}`,
  },
  error: 'error:',
}
