// What stands in the way of a message, for `doctor`, `status`, the console and docs/reference/health.md. Each check has a
// word for its state, `when` it fails and its general `remedy`. The other texts of a check are those of its findings.
import { plural } from '../plural.ts'

export interface Named {
  readonly id: string
}

export interface Detailed extends Named {
  readonly detail: string
}

/** A state with its beginning and its reason, where they are known. */
export interface Since extends Named {
  readonly since: string | undefined
  readonly detail: string | undefined
}

export interface Counted {
  readonly count: number
}

const GOES_ON = 'mend what it says; it goes on by itself'

export const health = {
  checks: {
    'store-away': {
      word: 'not storing',
      when: 'Messages cannot be stored. Nothing is acknowledged meanwhile.',
      remedy: 'Mend what the reason says; the daemon goes on by itself.',
      mend: GOES_ON,
    },
    'disk-low': {
      word: 'disk low',
      when: 'The disk of the data folder has less than 200 MB left.',
      remedy: 'Free space, or let retention prune more: `retention` in the configuration.',
      found: ({ megabytes }: { readonly megabytes: number }) =>
        `the disk of the data folder has ${megabytes} MB left`,
      mend: 'free space there',
    },
    'config-rejected': {
      word: 'rejected',
      when: 'The configuration file does not hold. The one before stays in force.',
      remedy: '`switchboard check` says where; save the file again.',
      found: ({ problem }: { readonly problem: string }) =>
        `the file does not hold, the one before stays in force: ${problem}`,
    },
    'ledger-foreign': {
      word: 'foreign ledger',
      when: 'A part of the ledger was signed with another key than the present `ledger.key`.',
      remedy:
        'Put the old `ledger.key` back into the data folder, or set `SWITCHBOARD_LEDGER_KEY`, and restart. `switchboard audit verify` says which part it is.',
      found: ({ count }: Counted) =>
        `${plural(count, 'chain')} of the ledger were sealed with another key: ledger.key was lost or replaced, and audit verify cannot vouch for what they tell`,
      mend: 'put the old ledger.key back, or set SWITCHBOARD_LEDGER_KEY, and restart; switchboard audit verify says which part it is',
    },
    'nodes-differ': {
      word: 'nodes differ',
      when: 'Nodes run different configurations or versions, have the same name, or one of them is gone.',
      remedy:
        '`switchboard status` lists the nodes. Give all of them the same configuration and version, and each a name of its own. Start the node that is gone; after an hour it is not named any more.',
      configurations: ({ groups }: { readonly groups: string }) =>
        `the nodes run different configurations: ${groups}`,
      group: ({ nodes, digest }: { readonly nodes: string; readonly digest: string }) =>
        `${nodes} (digest ${digest})`,
      mendConfigurations: 'give all nodes the same configuration; switchboard status lists them',
      versions: ({ versions }: { readonly versions: string }) =>
        `the nodes run different versions: ${versions}`,
      mendVersions: 'give all nodes the same version; switchboard status lists them',
      sameName: ({ node }: { readonly node: string }) =>
        `two running daemons are called ${node}: give them hostnames or data folders that differ`,
      mendSameName: 'stop one of them; switchboard status lists the nodes',
      gone: ({ node, seenAt }: { readonly node: string; readonly seenAt: string }) =>
        `node ${node} is gone: it was last heard of at ${seenAt}`,
      mendGone: 'start it again; after an hour it is not named any more',
    },
    'clock-off': {
      word: 'clock off',
      when: 'The clock of a node differs from the clock of the database by 2 seconds or more. No message is lost by it, but logs of that machine carry wrong times.',
      remedy: 'Let the machine keep time by NTP.',
      ahead: ({ node, seconds }: { readonly node: string; readonly seconds: number }) =>
        `the clock of node ${node} is ${seconds} s ahead of the database's (which decides)`,
      behind: ({ node, seconds }: { readonly node: string; readonly seconds: number }) =>
        `the clock of node ${node} is ${seconds} s behind the database's (which decides)`,
      mend: 'let that machine keep time by NTP',
    },
    'module-failed': {
      word: 'module failed',
      when: 'A module of `modules:` cannot be used. What needs it is down.',
      remedy: '`switchboard check` says why; then `switchboard restart`.',
      found: ({ id, problem }: Named & { readonly problem: string }) => `module ${id}: ${problem}`,
    },
    'module-changed': {
      word: 'module changed',
      when: 'The file of a module changed, or is gone, since it was loaded.',
      remedy: '`switchboard restart`, or put the file back.',
      changed: ({ id }: Named) => `module ${id} changed since it was loaded`,
      gone: ({ id }: Named) =>
        `the file of module ${id} is gone (no such file): what was loaded runs until the next start`,
      mendGone: 'put it back, or take it out of modules:',
    },
    'link-down': {
      word: 'down',
      when: 'An integration has no connection to its platform, or the platform refuses its key.',
      remedy: '`switchboard logs --integration ID` has the story.',
      found: ({ id, detail }: Named & { readonly detail: string | undefined }) =>
        detail === undefined ? `integration ${id} is down` : `integration ${id} is down: ${detail}`,
    },
    'history-behind': {
      word: 'behind',
      when: 'The history of an integration was not compared, so messages may be missing.',
      remedy:
        'Give the bot the permission that the reason names, or mend the link. The history is then compared again by itself. `switchboard logs --integration ID` has the story.',
      found: ({ id, detail }: Detailed) => `integration ${id} is behind: ${detail}`,
    },
    'limit-hit': {
      word: 'over its limit',
      when: 'Messages were refused within the last hour because a limit was reached.',
      remedy: 'Raise the limit that stands beside it, or find out who sends so much.',
      found: ({ id, count, reason }: Named & Counted & { readonly reason: string | null }) =>
        `integration ${id}: ${plural(count, 'message was', 'messages were')} refused within the last hour. ${reason}`,
      mend: changeKey,
    },
    'agent-absent': {
      word: 'absent',
      when: 'Nothing is attached that could answer for the agent. Its turns wait.',
      remedy: 'Start its host, or mend what the reason says.',
      found: ({ id, detail }: Named & { readonly detail: string | undefined }) =>
        detail === undefined ? `agent ${id} is absent` : `agent ${id} is absent: ${detail}`,
      mendHost: ({ id }: Named) =>
        `switchboard init claude-code --agent ${id}, then start Claude Code as it says`,
    },
    'agent-unreachable': {
      word: 'unreachable',
      when: 'No request reaches the agent. Its turns wait.',
      remedy: 'Start the agent, or mend its URL. Waiting messages follow by themselves.',
      found: ({ id, since, detail }: Since) => `agent ${id} is unreachable since ${since}: ${detail}`,
      mend: 'start the agent, or mend its url; waiting messages follow by themselves',
    },
    'agent-was-unreachable': {
      word: 'was unreachable',
      when: 'No request reached the agent when it was tried last. Nothing waits for it, so that it is not tried now.',
      remedy: 'Write to the agent, or look whether it runs. The warning goes with its next answer.',
      found: ({ id, was }: Named & { readonly was: string }) =>
        `agent ${id} was unreachable at its last message, ${was}`,
      mend: 'write to it, or look whether it runs',
    },
    'agent-failing': {
      word: 'failing',
      when: 'The agent is reached and cannot answer: a wrong key, a form that is not understood, a spent budget.',
      remedy: 'Mend what the reason says. The state goes with the next good answer.',
      found: ({ id, since, detail }: Since) => `agent ${id} is failing since ${since}: ${detail}`,
      mend: 'mend what it says; the state goes with the next good answer',
    },
    'agent-unbound': {
      word: 'unbound',
      when: 'The agent is bound to nothing and has no schedule, so that nobody can reach it.',
      remedy: 'Add `inbound_bindings` to the agent, or `switchboard agents remove ID`.',
      found: ({ id }: Named) => `agent ${id} is bound to nothing: nobody can reach it`,
    },
    'agent-trouble': {
      word: 'in trouble',
      when: 'The agent is attached and says what keeps it from its work, or that it works in a mode which may not ask a person first.',
      remedy:
        'Change what the reason names (such as `connector.mode` or `max_processes`); the agent goes on by itself.',
      found: ({ id, detail }: Detailed) => `agent ${id}: ${detail}`,
      mend: GOES_ON,
    },
    'gate-closed': {
      word: 'closed',
      when: 'A gate between a platform and an agent lets nothing through.',
      remedy: 'Change the key that stands beside the gate.',
      ofIntegration: ({ id, gate, reason }: Named & { readonly gate: string; readonly reason: string }) =>
        `integration ${id}: ${gate}: ${reason}`,
      mend: ({ key }: { readonly key: string }) => (key === '' ? 'see the reason' : `change ${key}`),
    },
    'window-full': {
      word: 'window full',
      when: 'A host has as many messages as it may be handed. The next ones wait.',
      remedy:
        'Answer or acknowledge them in the session of the host, or restart it if its pipe takes nothing.',
      found: ({ id, reason }: Named & { readonly reason: string }) => `agent ${id}: ${reason}`,
      mend: ({ list }: { readonly list: string }) =>
        `answer or acknowledge them in the session of its host; ${list}`,
    },
    'turn-unseen': {
      word: 'unseen',
      when: 'A turn was handed to a host, and nothing shows that the host took it.',
      remedy: '`switchboard logs --turn ID`; look at the session of the host.',
      found: ({ turn, id, why }: Named & { readonly turn: string; readonly why: string }) =>
        `turn ${turn} of ${id} was handed over, and nothing shows that it was seen: ${why}`,
      more: ({ id }: Named) => `more turns of ${id} lie there unseen`,
      tookBefore: 'the host took messages before: it is busy, or stopped listening; look at its session',
      neverTook: 'its host never showed that it takes messages: look at its session',
    },
    'turns-waiting': {
      word: 'waiting',
      when: 'Messages of a conversation wait for longer than 5 minutes behind one turn.',
      remedy: '`/stop` in the chat, or look at the agent.',
      found: ({
        count,
        turn,
        id,
        since,
      }: Named & Counted & { readonly turn: string; readonly since: string }) =>
        `${plural(count, 'message waits', 'messages wait')} behind turn ${turn} of ${id}, which has not ended since ${since}`,
      mend: ({ turn }: { readonly turn: string }) =>
        `switchboard turns show ${turn}; /stop in that chat ends it`,
    },
    'host-turned-away': {
      word: 'turned away',
      when: 'A host wanted to serve an agent and was refused.',
      remedy:
        'Set up a host on this machine with the command that stands below its problem. A host elsewhere needs a token of that agent: `switchboard token mint --kind agent --agent ID`.',
      found: ({ id, reason }: Named & { readonly reason: string }) =>
        `a host for ${id} was turned away: ${reason}`,
      mendToken: ({ id }: Named) =>
        `give that host a token of ${id}: switchboard token mint --kind agent --agent ${id}`,
      mendDialect: ({ id }: Named) =>
        `change connector.dialect of ${id}, or start the shim with another --dialect`,
    },
    'tools-left-out': {
      word: 'left out',
      when: 'A service lent a server of tools that cannot be asked for its list, so the agent does not get those tools.',
      remedy:
        'Let the operator of that service mend the server, or set `allow_private` where its address is private. Switchboard asks that server again by itself.',
      found: ({ server, problem }: { readonly server: string; readonly problem: string }) =>
        `tools of ${server} are left out: ${problem}`,
      mend: 'let its service mend that server, or set allow_private where its address is private; it is asked again by itself',
    },
    'sends-waiting': {
      word: 'waiting to be sent',
      when: 'Messages wait for longer than 30 seconds to be sent, or the platform never said whether one arrived. They are tried again by themselves.',
      remedy:
        '`switchboard outbox --state queued,sending` lists them; look at the platform, or at the network.',
      found: ({
        id,
        count,
        open,
        since,
      }: Named & Counted & { readonly open: number; readonly since: string }) =>
        `integration ${id}: ${plural(count, 'message waits', 'messages wait')} to be sent, the oldest since ${since}${open === 0 ? '' : `; ${open} of them may have arrived already`}`,
    },
    'sends-undelivered': {
      word: 'undelivered',
      when: 'Answers, files or prompts ended `failed` or `unknown`, and no operator has decided about them.',
      remedy:
        '`switchboard outbox --state failed` and `--state unknown` list them; retry or bury each. A retry of an `unknown` one may show it twice: look in the chat first.',
      failed: ({ count }: Counted) => `${plural(count, 'message')} could not be delivered`,
      unknown: ({ count }: Counted) => `${plural(count, 'message')} may not have arrived`,
      mendUnknown:
        'switchboard outbox --state unknown; look in the chat before a retry, which may show it twice',
    },
    'approvals-unreachable': {
      word: 'reaches nobody',
      when: 'Approvals of an agent can reach no approver.',
      remedy:
        'List an approver: `access.approvers`, pair one with `--me` or `--approver`, or `switchboard access approver`.',
      found: ({ id, reason }: Named & { readonly reason: string }) =>
        `approvals of ${id} reach nobody: ${reason}`,
      reason: ({ integrations, more }: { readonly integrations: string; readonly more: boolean }) =>
        `no approver can be asked on ${integrations}${more ? ' and others' : ''}, so tool calls are denied or wait unseen`,
      mend: changeKey,
    },
  },
}

function changeKey({ key }: { readonly key: string }): string {
  return `change ${key}`
}
