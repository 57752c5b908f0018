// What stands open to others, for `doctor --security`: each risk, the modes of files, and what could not be judged.
import { plural } from '../plural.ts'

export interface Host {
  readonly host: string
}

export interface Named {
  readonly id: string
}

export interface ListedTokens {
  readonly count: number
  readonly ids: string
  /** How many are not named. */
  readonly more: number
}

export interface OpenFile {
  readonly path: string
  /** The permission bits, in octal. */
  readonly mode: string
  readonly by: keyof typeof BY
}

const BY = { group: 'its group', others: 'others' }

export const security = {
  risks: {
    /** The adapter or the module says what it found. */
    'trial-failed': {},
    'module-risk': {},
    'listener-open': ({ host }: Host) =>
      `it listens on ${host}, without TLS: whoever reaches this machine reaches its doors; a proxy in front needs 127.0.0.1 only`,
    'admin-token-generated': ({ host }: Host) =>
      `it listens on ${host}, and no admin token was chosen for it`,
    'public-url-unencrypted': ({ url }: { readonly url: string }) =>
      `${url} is no https address: tokens and messages can be read on the way`,
    'admin-token-in-file':
      'the admin token stands in the configuration in plain text; env:NAME or file:PATH keeps it out',
    'proxy-unmarked': ({ url }: { readonly url: string }) =>
      `the proxy at ${url} names no visitor and asks under our own Host, by itself or because a visitor wrote it, so a visitor looks local: X-Sender is believed and /metrics is open`,
    'anybody-may-talk': ({ id }: Named) => `anybody may talk to ${id}: allow_from lists "*"`,
    'any-member-may-talk': ({ id, group }: Named & { readonly group: string }) =>
      `any member of group ${group} of ${id} may talk: allow_from lists "*"`,
    'limit-lifted': ({ key }: { readonly key: string }) => `${key} is lifted: nothing holds back a flood`,
    'binding-unlimited': ({ id, integration }: Named & { readonly integration: string }) =>
      `senders of ${integration} reach ${id} without a limit`,
    'token-lasting': ({ kind, ...tokens }: ListedTokens & { readonly kind: string }) =>
      tokens.count === 1
        ? `a token of kind ${kind} never expires${listed(tokens)}`
        : `${tokens.count} tokens of kind ${kind} never expire${listed(tokens)}`,
    'token-unused': (tokens: ListedTokens) =>
      `${tokensWere(tokens)} never used, in a week or longer${listed(tokens)}`,
    'token-idle': (tokens: ListedTokens) =>
      `${tokensWere(tokens)} not used for three months or longer${listed(tokens)}`,
    'plugin-unverified': {
      byHand: ({ id, source }: Named & { readonly source: string }) =>
        `channel server ${id} is called ${source} by hand, and nothing verifies it`,
      noMarketplace: ({ id }: Named) =>
        `channel server ${id} comes from no marketplace: nothing says whose program it is`,
    },
  },
  files: {
    keyOfAnother: ({ path }: { readonly path: string }) =>
      `${path} belongs to another user, who knows what is in it; if that was not you, remove it`,
    writesFolder: (file: OpenFile) => open(file, `may write in the data folder ${file.path}`),
    looksIntoFolder: (file: OpenFile) => open(file, `may look into the data folder ${file.path}`),
    key: (file: OpenFile) => open(file, `may read or change ${file.path}: rotate what it protects`),
    kept: (file: OpenFile) => open(file, `may read or change ${file.path}, with what people said in it`),
    changesSecret: (file: OpenFile) => open(file, `may change the secret ${file.path}`),
    readsSecret: (file: OpenFile) => open(file, `may read the secret ${file.path}`),
    config: (file: OpenFile) => open(file, `may change the configuration ${file.path}`),
    configFolder: (file: OpenFile) => open(file, `may replace the configuration in ${file.path}`),
  },
  /** What nothing could be said about, and why. */
  unjudged: {
    noDaemon: {
      tokens: 'tokens that never expire or are not used: no daemon was asked',
      proxies: 'proxies in front of the daemon: no daemon was asked',
      plugins: 'plugins of channel servers: no daemon was asked',
      listener:
        'the listening address and admin token in force: no daemon was asked, the configuration was judged',
    },
    tokenUse: 'whether tokens that were minted before their use was recorded are used',
    module: ({ subject, why }: { readonly subject: string; readonly why: string }) =>
      `what stands open at ${subject}: ${why}`,
    mode: ({ path, code }: { readonly path: string; readonly code: string | undefined }) =>
      `the mode of ${path}: ${code ?? 'it cannot be looked at'}`,
    noModes: 'modes of files: this system has none',
    database: ({ why }: { readonly why: string }) => `the database's file: ${why}`,
    oldDaemon: 'doors, tokens, limits and plugins: the daemon is of an older version',
    configuration: ({ why }: { readonly why: string }) =>
      `doors, tokens, limits and plugins: no daemon was asked, and ${why}`,
  },
  tried: {
    nothing: 'no integration that runs has anything to try',
    noDaemon: 'nothing: --send-test needs a running daemon',
  },
  /** The report for people. */
  report: {
    nothingOpen: 'Nothing is open that was looked at.',
    fixed: 'fixed',
    notFixed: 'not fixed: it is not ours to change',
    fixable: '(--fix does it)',
    tried: 'tried',
    notJudged: 'not judged',
  },
}

function tokensWere({ count }: ListedTokens): string {
  return count === 1 ? 'a token was' : `${plural(count, 'token')} were`
}

function listed({ ids, more }: Omit<ListedTokens, 'count'>): string {
  return `: ${ids}${more === 0 ? '' : ` and ${more} more`}`
}

function open({ by, mode }: OpenFile, what: string): string {
  return `${BY[by]} ${what} (mode ${mode})`
}
