// What the commands that write and check a configuration print: init, check, agents, integrations, secrets, tokens,
// instances, imports and emulators.
import type { Mark } from '../mark.ts'
import { plural } from '../plural.ts'

export interface File {
  readonly file: string
}
export interface Marked {
  readonly mark: Mark
}
export interface Name {
  readonly name: string
}

export const setupCommands = {
  check: {
    embedded: 'ok: there is no switchboard.yaml here, so the embedded default is used',
    ok: ({ file }: File) => `ok: ${file}`,
    okWith: ({ file, integrations, agents }: File & Readonly<Record<'integrations' | 'agents', number>>) =>
      `ok: ${file} (${plural(integrations, 'integration')}, ${plural(agents, 'agent')})`,
    problems: ({ file, count }: File & { readonly count: number }) =>
      `${file} has ${count === 1 ? 'one problem' : `${count} problems`}`,
    allKeys: 'all keys are in: switchboard schema',
    embeddedInForce: '# the embedded default: no file is in force',
    refused: ({
      line,
      column,
      message,
      mark,
    }: Marked & { readonly line: number; readonly column: number; readonly message: string }) =>
      `${mark('refused:')} line ${line}:${column} ${message}`,
  },
  init: {
    wrote: ({ file, mark }: File & Marked) => `${mark('wrote')} ${file}`,
    wroteSecret: ({ file, mark }: File & Marked) =>
      `${mark('wrote')} ${file} (the webhook's secret, for your eyes only)`,
    keptSecret: ({ file, mark }: File & Marked) =>
      `${mark('kept ')} ${file} (the webhook's secret, for your eyes only)`,
    wroteIgnore: ({ file, mark }: File & Marked) => `${mark('wrote')} ${file} (what git must not take)`,
    wroteForAgent: ({ file, ask, mark }: File & Marked & { readonly ask: string }) =>
      `${mark('wrote')} ${file} (${ask}: give it to your agent)`,
    usesForAgent: ({ file, ask, mark }: File & Marked & { readonly ask: string }) =>
      `${mark('uses ')} ${file} (${ask}: give it to your agent)`,
    kept: ({ name, ask, mark }: Name & Marked & { readonly ask: string }) =>
      `${mark('kept ')} ${ask}, encrypted, as secret:${name}`,
    next: ({ command, mark }: Marked & { readonly command: string }) => `Next: ${mark(command)}`,
    wroteWith: ({ file, added, mark }: File & Marked & { readonly added: string }) =>
      `${mark('wrote')} ${file}: ${added}`,
    addedTo: ({ file, added, mark }: File & Marked & { readonly added: string }) =>
      `${mark('added to')} ${file}: ${added}`,
  },
  claudeCode: {
    found: ({ plugin, mark }: Marked & { readonly plugin: string }) =>
      `${mark('found')} the plugin ${plugin}: it brings the server, and .mcp.json needs none`,
    kept: ({ file, agent, mark }: File & Marked & { readonly agent: string }) =>
      `${mark('kept ')} ${file} (it must have: - { id: ${agent}, connector: { type: channel } })`,
    wroteIgnore: ({ file, mark }: File & Marked) => `${mark('wrote')} ${file}: the data folder`,
    portKept: ({ port, file }: File & { readonly port: number }) =>
      `--port ${port} was not written: change server.port in ${file}`,
    next: ({ command, mark }: Marked & { readonly command: string }) =>
      `Next, in this folder: ${mark(command)}\nIt starts Switchboard by itself. Then get a link to the chat page with: switchboard link\nIf no message arrives: switchboard doctor`,
    pluginToo: ({ plugin, agent }: Readonly<Record<'plugin' | 'agent', string>>) =>
      `the plugin ${plugin} is installed too, and serves the agent ${agent} of the folder's own switchboard.yaml: start Claude Code with server:switchboard`,
    setToken: 'set SWITCHBOARD_TOKEN to it',
    putToken: ({ file }: File) => `put it into ${file}`,
    nextRemote: ({
      mint,
      token,
      start,
      mark,
    }: Marked & Readonly<Record<'mint' | 'token' | 'start', string>>) =>
      `Next, where Switchboard runs: ${mark(mint)}\nHere, ${token}; then, in this folder: ${mark(start)}`,
    inCache: ({ script }: { readonly script: string }) =>
      `${script} lies in npm's cache, which may be cleared: install Switchboard and run this again with it`,
    withoutTls: ({ host }: { readonly host: string }) =>
      `${host} is reached without TLS: the token can be read on the way`,
  },
  secrets: {
    ask: ({ name }: Name) => `value of ${name}`,
    kept: ({ name }: Name) => `kept; refer to it as secret:${name}`,
    forgotten: ({ name }: Name) => `${name} is forgotten`,
    rotated: ({ count }: { readonly count: number }) =>
      `${plural(count, 'secret')} encrypted with a fresh key`,
  },
  tokens: {
    never: 'never',
    untilRevoked: ({ id }: { readonly id: string }) => `id ${id}, good until revoked; it is not shown again`,
    expires: ({ id, expires }: { readonly id: string; readonly expires: string }) =>
      `id ${id}, expires ${expires}; it is not shown again`,
    revoked: ({ id }: { readonly id: string }) => `${id} is revoked`,
  },
  integrations: {
    granted: ({ agents }: { readonly agents: string }) => `is granted to ${agents}`,
    enabled: 'is enabled',
    disabled: 'is disabled',
    kept: 'is kept, encrypted',
    link: ({
      integration,
      platform,
      what,
      link,
      detail,
    }: Readonly<Record<'integration' | 'platform' | 'what' | 'link', string>> & {
      readonly detail: string | null
    }) => `${integration} (${platform}) ${what}; link: ${link}${detail === null ? '' : ` (${detail})`}`,
    forgotten: ({
      integration,
      secrets,
    }: {
      readonly integration: string
      readonly secrets: string | null
    }) => `${integration} is forgotten${secrets === null ? '' : `, and with it the secret ${secrets}`}`,
    unusedSecret: ({ name }: Name) =>
      `nothing refers to secret:${name} any more: switchboard secrets remove ${name}`,
    nothingToPaste: ({ integration, platform }: Readonly<Record<'integration' | 'platform', string>>) =>
      `${integration} (${platform}): nothing is to be pasted`,
    inUrl: 'what is in the URL',
    keepIt: ({ integration }: { readonly integration: string }) => `keep it as ${integration}? [Y/n]: `,
    notKept: 'nothing was kept',
    writeTo: ({ reach }: { readonly reach: string }) => `write to it: ${reach}`,
    noAgent: 'no agent takes its messages: give it one with --agent',
  },
  agents: {
    changed: 'is changed',
    removed: 'is removed; its messages stay in the store',
    added: 'is added',
    addedFor: ({ integration, demo }: Readonly<Record<'integration' | 'demo', string>>) =>
      `is added and has ${integration}, which the demo agent "${demo}" had`,
    addedInstead: ({ integration, demo }: Readonly<Record<'integration' | 'demo', string>>) =>
      `is added and has ${integration}, which the demo agent "${demo}" had; nothing else used the demo agent, so it is removed`,
    embedded: 'the embedded default',
    readsElsewhere: ({ file }: File) => `the running daemon reads ${file}: it does not hear of this change`,
    notWritten: 'nothing was written or kept',
    makesSecret: ({ name }: Name) => `makes secret:${name} and shows it once`,
    keepsSecret: ({ name }: Name) => `keeps secret:${name}, encrypted`,
    addWrite: ({ does }: { readonly does: readonly string[] }) =>
      `add --write: it ${[...does, 'puts the lines above into your switchboard.yaml'].join(', ')}`,
    byHand: ({ names }: { readonly names: readonly string[] }) =>
      `or put them there by hand (below an agents: that is there already)${names.map((name) => `, and keep the secret: switchboard secrets set ${name}`).join('')}`,
    noIntegration: ({ integration }: { readonly integration: string }) =>
      `there is no integration "${integration}" yet: nothing arrives until there is`,
    made: ({ ask, name, secret }: Name & Readonly<Record<'ask' | 'secret', string>>) =>
      `Made, and shown this once: ${ask} (kept as secret:${name}):\n  ${secret}`,
    kept: ({ ask, name }: Name & { readonly ask: string }) => `kept, encrypted, as secret:${name}: ${ask}`,
    it: 'it',
    state: ({
      turn,
      state,
      reason,
    }: Readonly<Record<'turn' | 'state', string>> & { readonly reason: string | null }) =>
      `${turn} is ${state}${reason === null ? '' : `: ${reason}`}`,
  },
  instances: {
    none: 'No instance yet. Start one with: switchboard up',
    embedded: 'the embedded default',
    movedOne: ({ name }: Name) => `moved ${name}`,
    moved: ({ from, to, entries, mark }: Adopted & Marked) =>
      `${mark('moved')} ${from}; ${to} has ${entries} entries, the chain is intact`,
    nothingMoved: ({ from, to, entries }: Adopted) =>
      `nothing was left to move from ${from}; ${to} has ${entries} entries, the chain is intact`,
  },
  claudeAccess: {
    paste: 'paste this under the integration in switchboard.yaml',
    approvers:
      'approvers: there, everyone who may talk may also approve; shorten the list if that is too many',
    anyMember:
      'allow_from: ["*"]: these groups let any member talk, as they did; name the members to close them',
    notCarriedOver: ({ what }: { readonly what: string }) => `not carried over: ${what}`,
    pending: ({ count }: { readonly count: number }) =>
      `${plural(count, 'pairing code')} that waited: those senders are given a new one`,
    closedGroups: ({ count }: { readonly count: number }) =>
      `${plural(count, 'group')}: there, dmPolicy disabled closes them as well`,
    smallest: ({ limit, smallest }: Readonly<Record<'limit' | 'smallest', number>>) =>
      `textChunkLimit ${limit}: ${smallest} is the smallest there is here`,
    largest: ({ limit, largest }: Readonly<Record<'limit' | 'largest', number>>) =>
      `textChunkLimit ${limit}: ${largest} is the largest there is here`,
    noPattern: ({ pattern }: { readonly pattern: string }) =>
      `mentionPatterns ${pattern}: not a regular expression here`,
    chunkMode: ({ mode }: { readonly mode: string }) =>
      `chunkMode ${mode}: long texts are always split at a paragraph, a line or a word where there is one`,
    unknown: ({ key }: { readonly key: string }) => `${key}: not known here`,
    wasStatic: 'it ran in static mode, where nobody can be paired: dm is allowlist',
    tokenIn: ({ file, name }: File & Name) =>
      `the bot token is in ${file} as ${name}: keep it with "switchboard secrets set ${name}", write token: secret:${name}, and stop the plugin, for two cannot poll one bot`,
    nothingToGrant: 'allowFrom is empty: nothing to grant',
    granted: ({ integration, senders }: Readonly<Record<'integration' | 'senders', string>>) =>
      `may talk on ${integration}: ${senders}`,
    onlyTalk:
      'only who may talk was granted: approvers, groups and the rest are configuration; run it without --grant to see the block to paste and what it leaves out',
  },
  emulate: {
    at: ({
      platform,
      url,
      faults,
    }: Readonly<Record<'platform' | 'url', string>> & { readonly faults: number }) =>
      `${platform} is emulated at ${url}${faults > 0 ? ` with ${faults} fault rules` : ''}`,
    secret: 'What is secret:',
    byCommand: 'In the folder of a daemon that runs; it asks for what is secret:',
    inFile: 'In switchboard.yaml, with that in the environment of the daemon:',
    orInFile: 'Or in switchboard.yaml, with that in the environment of the daemon:',
    open: ({ url }: { readonly url: string }) =>
      `Open ${url}/ to chat, type here (!tap LABEL presses a button), or:`,
  },
}

export interface Adopted {
  readonly from: string
  readonly to: string
  readonly entries: number
}
