// What `--help` says of each command: what it does, its options and its arguments. The keys are the command's words.

const SINCE = 'not older than this: 90s, 15m, 2h, 1d, or ISO 8601'
const LIMIT = 'at most this many, newest first (default: 50; with --json: all)'
const BEFORE = 'only rows before this one: continues a list that was cut'
const TEXT = 'the text; - reads it from standard input'
const MANAGER = 'systemd or launchd (default: the one of this machine)'

export interface CommandHelp {
  readonly about: string
  readonly options?: Readonly<Record<string, string>>
  readonly arguments?: Readonly<Record<string, string>>
}

/** The headings over groups of commands, and what stands below the list. */
export const helpFrame = {
  start: 'Start and set up:',
  look: 'Look:',
  people: 'People:',
  send: 'Send, and keep what is needed for it:',
  keep: 'Keep:',
  firstSteps: `
First steps:
  switchboard up        start it, with a web chat and a demo agent
  switchboard status    what runs and what waits
  switchboard init      set up your own: asks, tries, starts`,
}

export const help = {
  switchboard: {
    about: 'The gateway between the places where people talk and the AI agents that work for them.',
    options: {
      '--json': 'print JSON for scripts: lists as one object a line',
      '--config': 'the configuration (default: switchboard.yaml here or further up)',
      '--data': 'the data folder (default: .switchboard beside the file)',
      '--name': 'the data folder by a name of its own, in ~/.switchboard/instances',
      '--color': 'colours even without a terminal',
      '--no-color': 'no colours',
      '--version': 'print the version',
    },
  },
  up: {
    about: 'run the daemon until it is stopped',
    options: {
      '--host': 'listen here (default: 127.0.0.1)',
      '--port': 'listen on this port (default: 4747; 0 takes a free one)',
      '--open': 'open the web chat in a browser',
      '--fresh': 'start empty, even beside data that an earlier version kept in ~/.switchboard',
      '--detach': 'run it in the background, and return when it is ready',
      '--idle-exit': 'end when no host is attached and nothing happened for this long (10m)',
    },
  },
  stop: {
    about: 'end the daemon; it finishes its work first',
  },
  restart: {
    about: 'end the daemon and start it again in the background',
  },
  init: {
    about: 'set it up: asks at a terminal, tries every credential, starts it; or by flags',
    options: {
      '--platform': 'where people talk; again for more',
      '--set': 'a key that no question asks for',
      '--agent':
        'who answers: a connector, or an agent of the file; another name is the id of the demo agent',
      '--agent-id': 'what the agent is called (default: by its connector)',
      '--start': 'start it in the background when it is written',
      '--no-start': 'only write',
      '--no-wait': 'do not wait for the first message',
      '--hook': 'the id of the webhook, as in /hooks/ID (default: alerts)',
      '--port': 'the port to write down (default: 4747)',
      '--url': 'http: where the agent takes turns; claude-code: Switchboard on another machine',
      '--mode': 'http: answer (in the response, the default) or later',
      '--secret-file': 'http: the whsec_… that the agent verifies with already',
      '--provider': 'llm: anthropic, openai or openai-compatible',
      '--model': 'llm: the model, as the API names it',
      '--base-url': 'llm: where the API is (Ollama, vLLM, OpenRouter …)',
      '--api-key-file': 'llm: where the API key is; without it the key is asked for, or piped in',
      '--token-file': 'claude-code: where the token for it is',
      '--yes': 'ask nothing, take the defaults',
      '--force': 'overwrite what is there',
    },
    arguments: {
      words: 'claude-code, for Claude Code alone; and --PLATFORM-FLAG VALUE for each question',
    },
  },
  channel: {
    about: 'serve an agent to a host of MCP channels (Claude Code spawns this; stdout is MCP)',
    options: {
      '--agent': 'the agent that the host is',
      '--dialect': 'claude or nexo: the prefix of what is said (default: claude)',
      '--no-start': 'do not start a daemon when there is none',
      '--url': 'attach to the daemon of another machine (https:// or wss://)',
      '--token-file': 'the token to attach there with (or in SWITCHBOARD_TOKEN)',
    },
  },
  check: {
    about: 'check the configuration and say where it is wrong',
    options: {
      '--in-force': 'print what the daemon has in force instead, with secrets masked',
    },
    arguments: {
      file: 'the file to check (default: the one that "up" would use)',
    },
  },
  schema: {
    about: 'print the JSON Schema of switchboard.yaml, for editors',
  },
  reload: {
    about: 'make the daemon read its configuration again; a wrong one changes nothing',
  },
  instances: {
    about: 'the instances of this user: file, folder, daemon',
  },
  'instances list': {
    about: 'list them (the default)',
  },
  'instances adopt': {
    about: 'move a data folder beside the configuration that it belongs to',
    arguments: {
      dir: 'a data folder that no daemon holds',
    },
  },
  service: {
    about: 'this instance as a service of yours (systemd, launchd)',
  },
  'service install': {
    about: 'write the unit and start it',
    options: {
      '--no-start': 'only write it',
      '--print': 'print it instead',
      '--manager': MANAGER,
    },
  },
  'service uninstall': {
    about: 'stop it and remove the unit; the data stays',
    options: {
      '--manager': MANAGER,
    },
  },
  'service status': {
    about: 'whether it is installed and runs (the default)',
    options: {
      '--manager': MANAGER,
    },
  },
  import: {
    about: 'take over what another program kept',
  },
  'import claude-access': {
    about: 'print its access.json as an access: block for switchboard.yaml',
    options: {
      '--grant': 'let its allowFrom talk on this integration at once',
    },
    arguments: {
      dir: 'the state folder of an official Claude Code plugin, its access.json, or its name (telegram, discord, imessage)',
    },
  },
  emulate: {
    about: 'run a fake platform on this machine, to try things without an account',
    options: {
      '--port': 'listen on this port (default: 8081; 0 takes a free one)',
      '--fault': 'a fault plan (JSON): what goes wrong on purpose',
    },
    arguments: {
      platform: 'which one; without it: list them',
    },
  },
  completion: {
    about: 'print a script that completes commands and options',
    arguments: {
      shell: 'bash, zsh or fish',
    },
  },
  version: {
    about: 'print the version',
  },
  status: {
    about: 'what runs, what waits and the counts',
  },
  doctor: {
    about: 'what is wrong, numbered, with the command that fixes each',
    options: {
      '--verbose': 'also what passes: the live path of every agent, each gate',
      '--security': 'instead: what is open, how bad that is and the key or command that closes it',
      '--fix': 'with --security: close the modes of our own files and folders, and nothing else',
      '--send-test': 'with --security: also send a forged mail, to see whether it is believed',
    },
  },
  logs: {
    about: 'the log of the daemon; with --turn: everything about one turn',
    options: {
      '--follow': 'go on printing as lines come',
      '--integration': 'the lines of this integration',
      '--turn': 'the way of this turn, from the ledger and the log',
      '--lines': 'at most this many, the newest (default: 200)',
    },
  },
  schedules: {
    about: 'turns that start by themselves: when next, what came of the last',
  },
  'schedules list': {
    about: 'list them (the default)',
  },
  'schedules run': {
    about: 'start one now, beside its times',
    options: {
      '--agent': 'of this agent, where several have one of that name',
    },
  },
  turns: {
    about: 'every message that came in, with its state and the reason',
    options: {
      '--source': 'from this source: webhook:demo, channel:slack, schedule:standup',
      '--since': SINCE,
      '--until': 'not younger than this',
      '--agent': 'for this agent',
      '--integration': 'from this integration',
      '--session': 'of this session',
      '--sender': 'said by this sender',
      '--state': 'in these states, separated by commas',
      '--limit': LIMIT,
      '--before': BEFORE,
      '--follow': 'go on printing as turns come and move',
    },
  },
  'turns list': {
    about: 'list them (the default)',
  },
  'turns show': {
    about: 'one turn in full',
  },
  'turns export': {
    about: 'print every turn that matches the filters of the list (needs the daemon)',
    options: {
      '--format': 'ndjson or csv',
    },
  },
  'turns retry': {
    about: 'queue a failed or expired turn again',
  },
  'turns cancel': {
    about: 'give up a turn that is still open',
  },
  inbox: {
    about: 'turns that are not settled yet: queued, handed, seen',
    options: {
      '--state': 'other states, separated by commas',
      '--agent': 'for this agent',
      '--integration': 'from this integration',
      '--session': 'of this session',
      '--since': SINCE,
      '--limit': LIMIT,
      '--before': BEFORE,
    },
  },
  outbox: {
    about: 'every message that goes out, with what the platform said',
    options: {
      '--state': 'in these states, separated by commas',
      '--agent': 'from this agent',
      '--integration': 'through this integration',
      '--session': 'of this session',
      '--since': SINCE,
      '--limit': LIMIT,
      '--before': BEFORE,
    },
  },
  'outbox list': {
    about: 'list them (the default)',
  },
  'outbox show': {
    about: 'one message in full',
  },
  'outbox retry': {
    about: 'send failed or unknown messages again',
  },
  'outbox bury': {
    about: 'give failed or unknown messages up for good',
  },
  conversations: {
    about: 'every place where something was said; step in',
    options: {
      '--integration': 'on this integration',
      '--agent': 'of this agent',
      '--held': 'that a person holds',
      '--asked': 'where a person was asked for',
      '--search': 'with this in an id or a name',
      '--since': SINCE,
      '--limit': LIMIT,
      '--before': BEFORE,
    },
  },
  'conversations list': {
    about: 'list them, the latest first (the default)',
  },
  'conversations show': {
    about: 'what was said there, with states; who holds it',
  },
  'conversations take': {
    about: 'take it over: from now on you answer there, not the agent',
    options: {
      '--force': 'also where another one holds it',
    },
  },
  'conversations say': {
    about: 'write there as a person, where you hold it',
    options: {
      '--key': 'an idempotency key: the same key again sends nothing again',
      '--wait': 'how long to wait for the confirmation (default: 10s)',
    },
    arguments: {
      text: TEXT,
    },
  },
  'conversations give': {
    about: 'give it back to the agent',
    options: {
      '--force': 'also where another one holds it',
    },
  },
  audit: {
    about: 'the ledger: prove it, export it',
  },
  'audit verify': {
    about: 'check the chain and that every message is accounted for',
    options: {
      '--expect': 'a head kept elsewhere that must be in the chain',
    },
  },
  'audit export': {
    about: 'print every entry, oldest first',
    options: {
      '--format': 'ndjson or csv',
    },
  },
  'audit head': {
    about: 'print the head of the chain, to keep elsewhere',
  },
  pair: {
    about: 'people who were given a pairing code',
  },
  'pair list': {
    about: 'list the codes (the default)',
  },
  'pair approve': {
    about: 'let the sender with this code in, to talk',
    options: {
      '--approver': 'they may also approve tool calls',
      '--me': 'this is you: an identity of the user who approves',
      '--user': 'they are this user of the configuration',
    },
  },
  'pair deny': {
    about: 'forget this code',
  },
  access: {
    about: 'who may talk and who may approve',
  },
  'access list': {
    about: 'list the rights (the default)',
  },
  'access allow': {
    about: 'let this sender talk',
  },
  'access remove': {
    about: 'take every right from this sender',
  },
  'access approver': {
    about: 'let this sender decide approvals',
    options: {
      '--remove': 'take that right away again',
    },
  },
  approvals: {
    about: 'tool calls that wait for a yes or no',
    options: {
      '--state': 'in these states, separated by commas (default: pending)',
      '--all': 'in any state',
      '--limit': LIMIT,
      '--before': 'only those before this one (its `seq`)',
    },
  },
  'approvals list': {
    about: 'list them (the default)',
  },
  'approvals show': {
    about: 'one approval with the whole input',
  },
  'approvals allow': {
    about: 'allow this one call',
  },
  'approvals deny': {
    about: 'deny this one call',
  },
  people: {
    about: 'what a person said: write it out, or erase it',
  },
  'people list': {
    about: 'the users of the configuration, with their roles',
  },
  'people export': {
    about: 'print everything that a person said, one JSON object a line',
    options: {
      '--to': 'write it into a new folder, with the files that they sent',
    },
    arguments: {
      who: 'a user of the configuration, or integration:sender',
    },
  },
  'people erase': {
    about: 'erase everything that a person said; keys, counters and the ledger stay',
    options: {
      '--yes': 'do not ask',
      '--revoke': 'take their granted rights back, too',
    },
    arguments: {
      who: 'a user of the configuration, or integration:sender',
    },
  },
  send: {
    about: 'send a message: TO is an address (integration:conversation[:thread]) or platform:target',
    options: {
      '--thread': 'into this thread',
      '--integration': 'through this integration',
      '--template': 'a template of the platform instead of free text',
      '--language': 'with --template: its language (default: en_US)',
      '--param': 'with --template: what stands in its places, in order',
      '--key': 'an idempotency key: the same key again sends nothing again',
      '--wait': 'how long to wait for the confirmation (default: 10s)',
    },
    arguments: {
      text: TEXT,
    },
  },
  link: {
    about: 'print a one-time link to the web chat',
    options: {
      '--qr': 'as a QR code, too: for a phone',
    },
  },
  console: {
    about: 'open the console: a one-time link signs you in',
    options: {
      '--user': 'sign in as this user of the configuration (default: the first owner)',
      '--no-open': 'only print the link',
    },
  },
  secrets: {
    about: 'the encrypted store behind secret:NAME',
  },
  'secrets list': {
    about: 'list the names, never the values (the default)',
  },
  'secrets set': {
    about: 'set a secret; the value is asked for, or read from standard input',
    options: {
      '--value': 'the value itself (others on this machine can see it; better not)',
    },
  },
  'secrets remove': {
    about: 'forget a secret',
  },
  'secrets rotate': {
    about: 'encrypt all secrets again, with a new key',
  },
  token: {
    about: 'bearer tokens for agents, notifications and the API',
  },
  'token list': {
    about: 'list them, never the tokens themselves (the default)',
    options: {
      '--all': 'also the tokens of single deliveries',
    },
  },
  'token mint': {
    about: 'make a token; it is shown this once',
    options: {
      '--kind': 'agent, notify, user or admin',
      '--agent': 'for this agent',
      '--session': 'for this session of the agent',
      '--user': 'for this user',
      '--expires': 'how long it is good: 12h, 30d (default: until revoked)',
      '--label': 'a name to know it by',
    },
  },
  'token revoke': {
    about: 'revoke a token',
  },
  chorus: {
    about: 'connection strings of Chorus, and a check of others',
  },
  'chorus list': {
    about: 'list them, never the strings themselves (the default)',
  },
  'chorus connect': {
    about: 'mint a connection string for a chorus integration; it is shown this once',
  },
  'chorus rotate': {
    about: 'mint a new one; the older ones stop working at once',
  },
  'chorus verify': {
    about: 'test an agent by its connection string (or a service by a callback URL) and say what holds',
    options: {
      '--service': 'the URL is a callback of a service',
      '--callback': 'where the agent reaches this machine (default: http://127.0.0.1:PORT)',
      '--listen': 'where callbacks are listened for on 127.0.0.1 (default: any free port)',
      '--allow-private': 'the agent is on this machine or network',
      '--wait': 'how long to wait for callbacks (default: 30)',
    },
  },
  agents: {
    about: 'the agents and how they are reached',
  },
  'agents list': {
    about: 'list them (the default)',
  },
  'agents try': {
    about: 'say something to an agent as the operator, and print its answer',
    options: {
      '--wait': 'how long to wait for it (default: 60)',
    },
  },
  'agents add': {
    about: 'ask what its connector asks, try it, and print its lines for switchboard.yaml',
    options: {
      '--http': 'the URL of an agent that takes a JSON POST: tried, and signed for',
      '--mode': 'with --http: answer (in the response, the default) or later',
      '--secret-file': 'with --http: the whsec_… that it verifies with already',
      '--chorus': 'the connection string of a Chorus agent',
      '--connector':
        'how it is reached otherwise: llm (a model behind an API), channel, demo, … or one of modules:',
      '--provider': 'llm: anthropic, openai or openai-compatible',
      '--model': 'llm: the model, as the API names it',
      '--base-url': 'llm: where the API is (Ollama, vLLM, OpenRouter …)',
      '--api-key-file': 'llm: where the API key is; else it is asked for, or piped in',
      '--command': 'claude-code, acp: the program, for acp with its arguments; it is tried',
      '--cwd': 'claude-code, acp: the folder that it works in',
      '--write': 'put the lines into switchboard.yaml instead',
      '--bind': 'where its messages come from (default: web:web)',
      '--allow-private': 'it is on this machine or network',
    },
    arguments: {
      flags: 'an answer to each question of its connector, e.g. --model NAME',
    },
  },
  'agents set': {
    about: 'change keys of an agent in switchboard.yaml',
    arguments: {
      'key=value': 'as in switchboard.yaml, with dots: connector.dialect=nexo; key= takes it away',
    },
  },
  'agents remove': {
    about: 'take an agent out of switchboard.yaml',
  },
  notify: {
    about: 'notify a user through a channel of theirs',
    options: {
      '--channel': 'a type (telegram), or type:integration (default: the default channel)',
      '--urgency': 'low, normal or high',
      '--user': 'whom (default: the owner)',
    },
    arguments: {
      text: TEXT,
    },
  },
  integrations: {
    about: 'accounts on platforms, of the file and added here',
  },
  'integrations list': {
    about: 'list them (the default)',
  },
  'integrations add': {
    about: 'set up an integration: ask, try it live, keep it encrypted, start it',
    options: {
      '--id': 'what it is called here (default: the platform)',
      '--platform': 'for scripts: the word before is the id, and nothing is asked',
      '--set': 'a key as in the file, e.g. token=secret:TG or out.url=env:URL',
      '--agent': 'the agent that takes its messages',
      '--scope': 'all, or ids separated by commas: who may send through it',
      '--default': 'where notifications go when no channel is named',
      '--yes': 'take the defaults, and keep it without asking',
    },
    arguments: {
      platform: 'what to set up; with --platform: the id',
      flags: 'an answer to each question of the platform, e.g. --token TOKEN',
    },
  },
  'integrations paste': {
    about: 'print what to paste elsewhere: URLs, manifests',
  },
  'integrations grant': {
    about: 'say which agents may send through it',
    arguments: {
      agents: 'all, or ids separated by commas',
    },
  },
  'integrations enable': {
    about: 'turn it on',
  },
  'integrations disable': {
    about: 'turn it off, but keep it',
  },
  'integrations remove': {
    about: 'forget it',
  },
  hooks: {
    about: 'webhooks: set one up at its sender, try it, take a message again',
  },
  'hooks show': {
    about: 'print the URL, the headers and the lines to paste at the sender',
  },
  'hooks test': {
    about: 'send a sample through the running daemon, signed as configured, and show each step',
    options: {
      '--recipe': 'send an event of this sender (default: the recipe of the hook, else generic)',
      '--event': 'this event, e.g. pull_request (default: the first that makes a message)',
    },
  },
  'hooks replay': {
    about: 'take the message of a turn once more, as a new turn',
  },
  backup: {
    about: 'copy database, attachments and ledger.key, also while a daemon runs',
    options: {
      '--with-keys': 'also the key of the secrets and the admin token: keep such a backup like a password',
    },
    arguments: {
      to: 'a .tar file, a new folder, or a folder in which one is made',
    },
  },
  restore: {
    about: 'put a backup into a data folder that no daemon uses',
    options: {
      '--replace': 'move a database that is there aside',
      '--settle': 'after pg_restore: what was open there may have happened since',
    },
    arguments: {
      from: 'what `backup` made, or a database that was rescued',
    },
  },
  help: {
    about: 'explain a command',
  },
} satisfies Readonly<Record<string, CommandHelp>>
