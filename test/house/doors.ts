// Which room may import which, as data, and the few exceptions, each with its reason.

/** A room is a folder of src/. '*' may import every room. Tests beside the code may import any. */
export const DOORS: Readonly<Record<string, readonly string[] | '*'>> = {
  contract: [],
  // The texts for people, by language. Every room that makes such a text takes it from there.
  words: ['contract'],
  core: ['contract', 'words'],
  kit: ['contract', 'words'],
  tools: ['contract', 'words'],
  platforms: ['contract', 'words', 'kit'],
  agents: ['contract', 'words', 'kit', 'tools'],
  attach: ['contract', 'words'],
  store: ['contract', 'words'],
  // Adapters and configuration use the same helpers for options (a secret, a URL).
  config: ['contract', 'words', 'kit'],
  server: ['contract', 'words', 'core'],
  // The machine: clocks, the log, our version.
  runtime: ['contract', 'words'],
  // The one list of built-in modules, and the modules of third parties.
  modules: ['contract', 'words', 'config', 'runtime', 'platforms', 'agents', 'testing'],
  // The pipeline: assembling, starting, stopping and reloading it.
  gateway: ['contract', 'words', 'kit', 'core', 'config', 'tools', 'attach', 'chorus', 'runtime', 'modules'],
  // Everything that keeps a message from arriving.
  health: ['contract', 'words', 'core', 'config', 'server', 'runtime', 'modules', 'gateway'],
  // What an operator may ask and do.
  operations: [
    ...['contract', 'words', 'kit', 'core', 'config', 'store', 'server'],
    ...['runtime', 'modules', 'gateway', 'health'],
  ],
  // The process: its folder, its database, its start and its end.
  daemon: '*',
  // Questions, answers, and an edited file. It asks the modules for their options, and the gateway which files hold
  // secrets.
  setup: [
    ...['contract', 'words', 'kit', 'config', 'store', 'server'],
    ...['runtime', 'modules', 'gateway', 'daemon'],
  ],
  cli: [
    'contract',
    'words',
    'config',
    'runtime',
    'modules',
    'gateway',
    'health',
    'operations',
    'setup',
    'daemon',
  ],
  // The platform suite cuts texts as the outlet does.
  testing: ['contract', 'words', 'kit'],
  // A package export: both ends of the Chorus protocol, without the gateway.
  chorus: ['contract', 'words', 'kit'],
  // A package export: hosting channel servers with the pool of platforms/mcp, without store and pipeline.
  host: ['contract', 'words', 'kit', 'platforms', 'config', 'core'],
  // A package export for third-party adapters. It stays small.
  'adapter.ts': ['contract', 'words', 'kit'],
  // A package export: the reader of Markdown, for third-party renderers.
  'markdown.ts': ['contract', 'kit'],
  'index.ts': '*',
}

/**
 * The folders of src/core, from the bottom up. A folder imports the folders named in its row and the files that lie
 * beside the folders. A row names only rows above it, so the pipeline is put together in a straight line: each part
 * after the parts that it needs.
 */
export const CORE_DOORS: Readonly<Record<string, readonly string[]>> = {
  lanes: [],
  schedules: [],
  cluster: [],
  people: ['cluster'],
  outbound: ['lanes', 'cluster', 'people'],
  approvals: ['cluster', 'people'],
  inbound: ['people', 'outbound', 'approvals'],
  history: ['inbound'],
  takeover: ['people', 'outbound'],
  dispatch: ['lanes', 'cluster', 'people', 'outbound', 'approvals'],
  'tool-actions': ['people', 'outbound', 'takeover', 'dispatch'],
}

/** Rooms that load no npm package at all. */
export const NO_PACKAGES = ['contract', 'core', 'words']

/** Paths (a file, or a folder ending in '/') that the rule does not apply to, and why. */
export type Exceptions = Readonly<Record<string, string>>

export interface Rule {
  readonly name: string
  /** Matched against code, with comments and strings blanked. */
  readonly code?: RegExp
  /** Matched against each string literal. */
  readonly string?: RegExp
  /** Matched against import specifiers. */
  readonly imports?: RegExp
  /** The folders to check. If absent, all of src/. */
  readonly within?: readonly string[]
  readonly except: Exceptions
}

const OUTSIDE_WORLD =
  /^(node:)?(fs|fs\/promises|net|http|https|http2|tls|dgram|dns|dns\/promises|child_process|os|process|worker_threads|cluster|timers|timers\/promises|readline)$/

export const RULES: readonly Rule[] = [
  {
    name: 'core knows no wall clock, chance, timer or environment: they are handed in',
    code: /\bDate\.now\b|\bMath\.random\b|\bset(Timeout|Interval|Immediate)\s*\(|\bprocess\.|\bnew Date\(\s*\)|\bperformance\.now\b|\brandomUUID\b|\brandomBytes\b/,
    within: ['src/core/', 'src/contract/'],
    except: {},
  },
  {
    name: 'core knows no file, socket or process',
    imports: OUTSIDE_WORLD,
    within: ['src/core/', 'src/contract/'],
    except: {},
  },
  {
    name: 'only config reads the environment',
    code: /\bprocess\.env\b/,
    except: {
      'src/config/': 'the room that reads it',
      'src/cli/': 'hands its own environment to config and to the daemon it starts, and honours NO_COLOR',
      'src/testing/': 'starts real processes with an environment of their own',
    },
  },
  {
    name: 'only config reads files',
    imports: /^(node:)?fs(\/promises)?$/,
    except: {
      'src/config/': 'the room that reads them',
      'src/store/sqlite/': 'an embedded database is a file: its folder is made and its state looked at',
      'src/modules/': 'looks where a module of a third party lies',
      'src/gateway/files/': 'files that people send, and those that agents may send',
      'src/health/': 'looks at free space and at the modes of files',
      'src/operations/': 'files of people, and a data folder without a daemon',
      'src/daemon/': 'owns the data folder: lock, key file, socket',
      'src/setup/': 'writes the configuration file and the private files that the user asked for',
      'src/cli/': 'writes what the user asked to be written (export) and reads what is piped or named',
      'src/server/': 'serves the built pages',
      'src/platforms/web/files.ts': 'uploads are kept in the data folder, under names of our own',
      'src/kit/files/file-store.ts': 'attachments are kept in the data folder, and sent from there alone',
      'src/kit/files/shared-folder.ts':
        'files of an integration lie in the data folder, wherever they were taken',
      'src/agents/acp/client-files.ts':
        'what an agent asks its client to read or write, within its folder, where the configuration opened that',
      'src/kit/workers/': 'looks up in /proc how much processor time a worker used',
      'src/kit/processes/':
        'what runs is recorded in files, looked up in /proc, and git worktrees are found there',
      'src/agents/claude-code/':
        'its sessions are noted, and its transcripts read, on the machine where it runs',
      'src/platforms/imessage/chat-db.ts': 'asks which file lies at the path of the database, and reads none',
      'src/platforms/imessage/files.ts': 'files that people send lie on this disk, in the folder of Messages',
      'src/platforms/imessage/send.ts':
        'Messages sends a file from a folder that it may read: it is laid there and taken away',
      'src/attach/': 'its socket is a file: what was left behind is removed, and its mode set',
      'src/testing/': 'makes scratch folders',
    },
  },
  {
    name: 'only store writes SQL',
    string:
      /^\s*(SELECT\b[\s\S]*\bFROM\b|select\b[\s\S]*\bfrom\b|(INSERT|insert)( OR \w+| or \w+)? (INTO|into) |(UPDATE|update) \w+ (SET|set) |(DELETE FROM|delete from) |(CREATE|create) (UNIQUE |unique )?(TABLE|INDEX|VIEW|table|index|view) |(ALTER TABLE|alter table) |(PRAGMA|pragma) \w+)/,
    except: {
      'src/store/': 'the room that writes it',
      'src/platforms/imessage/chat-db.ts':
        'reads a foreign database, read-only: Messages keeps what was said in one, and has no other door',
      'src/testing/imessage/messages-double.ts': 'makes such a database, as Messages would',
      'src/testing/store-suite/': 'looks at query plans',
      'src/testing/postgres/databases.ts':
        'keeps book of the databases that it lends to tests, and empties them',
    },
  },
  {
    name: 'only server listens',
    code: /\.listen\s*\(/,
    except: {
      'src/server/': 'the room that listens',
      'src/daemon/daemon.ts': 'tells the server to',
      'src/attach/': 'the socket of the shims',
      'src/gateway/access/attached-hosts.ts': 'tells the attach server to',
      'src/testing/': 'fakes of platforms are servers',
    },
  },
  {
    name: 'only kit fetches foreign URLs',
    code: /(?<![.\w])fetch\s*\(|\bglobalThis\.fetch\b|\bhttps?\.(request|get)\s*\(|(?<![.\w])(httpRequest|httpsRequest)\s*\(|\bnew EventSource\s*\(/,
    except: {
      'src/kit/': 'the room that fetches, under its guard',
      'src/testing/': 'suites call the adapter under test on loopback',
    },
  },
  {
    name: 'only kit loads an HTTP client',
    imports: /^(undici|node:https|https|axios|got|node-fetch)$/,
    except: { 'src/kit/': 'the room that fetches, under its guard' },
  },
  {
    name: 'only kit and server load node:http',
    imports: /^(node:)?http2?$/,
    except: {
      'src/kit/': 'fetches, under its guard',
      'src/server/': 'listens',
      'src/cli/daemon-client.ts': "speaks to the daemon's own socket, never to a foreign host",
      'src/testing/': 'fakes of platforms are servers',
    },
  },
  {
    name: 'only modules/registry.ts names concrete adapters',
    imports: /^\.\.?\/(.*\/)?(platforms|agents)\//,
    except: {
      'src/modules/registry.ts': 'the one list of what is built in',
      'src/host/': 'hosting channel servers alone, as a library: the pool is that of platforms/mcp',
    },
  },
  {
    name: 'only src/words makes a text for people: a Wording is never cast from a literal',
    code: /\bas (unknown as )?(Wording|Words)\b|<Wording>/,
    except: { 'src/words/': 'the catalogues' },
  },
  {
    name: 'no any',
    code: /(:|<|\bas|\||&|,|=>)\s*any\b(?!\s*[:(.])|\bany\[\]/,
    except: {},
  },
  {
    name: 'no default exports',
    code: /\bexport\s+default\b/,
    except: {},
  },
  {
    name: 'no classes but errors',
    code: /\bclass\s+\w+(?!\w)(?!\s+extends\s+\w*Error\b)/,
    except: {},
  },
]

export function isExcepted(file: string, except: Exceptions): boolean {
  return Object.keys(except).some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path))
}
