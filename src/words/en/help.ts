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
      '--idle-exit': 'stop after this long without a host or any activity (10m)',
    },
  },
  stop: {
    about: 'end the daemon; it finishes its work first',
  },
  restart: {
    about: 'stop the daemon and start it again in the background',
  },
  init: {
    about: 'set up Switchboard: asks at a terminal or takes flags, tries every credential, starts it',
    options: {
      '--platform': 'a platform where people talk; repeat it for more',
      '--set': 'a key that no question asks for',
      '--agent':
        'who answers: a connector, or an agent of the file; another name is the id of the demo agent',
      '--agent-id': 'the id of the agent (default: the name of its connector)',
      '--start': 'start it in the background afterwards',
      '--no-start': 'only write the file',
      '--no-wait': 'do not wait for the first message',
      '--hook': 'the id of the webhook, as in /hooks/ID (default: alerts)',
      '--port': 'the port to write into the file (default: 4747)',
      '--url': 'http: where the agent takes turns; claude-code: Switchboard on another machine',
      '--mode': 'http: answer (in the response, the default) or later',
      '--secret-file': 'http: the file with the whsec_… secret that the agent already has',
      '--provider': 'llm: anthropic, openai or openai-compatible',
      '--model': 'llm: the model, as the API names it',
      '--base-url': 'llm: where the API is (Ollama, vLLM, OpenRouter …)',
      '--api-key-file': 'llm: the file with the API key (default: asked for, or read from a pipe)',
      '--token-file': 'claude-code: the file with the token',
      '--yes': 'ask nothing, take the defaults',
      '--force': 'overwrite an existing file',
    },
    arguments: {
      words: 'claude-code, for Claude Code only; and --PLATFORM-FLAG VALUE for each question',
    },
  },
  channel: {
    about: 'serve an agent to a host of MCP channels (Claude Code spawns this; stdout is MCP)',
    options: {
      '--agent': 'the agent of switchboard.yaml that this host serves',
      '--dialect': 'claude or nexo: the prefix of its MCP names (default: claude)',
      '--no-start': 'do not start a daemon when there is none',
      '--url': 'attach to the daemon of another machine (https:// or wss://)',
      '--token-file': 'the file with the token for that daemon (or set SWITCHBOARD_TOKEN)',
    },
  },
  check: {
    about: 'check the configuration and show where it is wrong',
    options: {
      '--in-force': 'print the configuration that the daemon uses, with secrets masked',
    },
    arguments: {
      file: 'the file to check (default: the one that "up" would use)',
    },
  },
  schema: {
    about: 'print the JSON Schema of switchboard.yaml, for editors',
  },
  reload: {
    about: 'make the daemon read its configuration again; an invalid one changes nothing',
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
    about: 'run this instance as a service of this user (systemd, launchd)',
  },
  'service install': {
    about: 'write the unit and start it',
    options: {
      '--no-start': 'only write the unit',
      '--print': 'print the unit instead',
      '--manager': MANAGER,
    },
  },
  'service uninstall': {
    about: 'stop the service and remove the unit; the data stays',
    options: {
      '--manager': MANAGER,
    },
  },
  'service status': {
    about: 'show whether it is installed and running (the default)',
    options: {
      '--manager': MANAGER,
    },
  },
  import: {
    about: 'import the settings of another program',
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
    about: 'run a fake platform on this machine, to try Switchboard without an account',
    options: {
      '--port': 'listen on this port (default: 8081; 0 takes a free one)',
      '--fault': 'a fault plan (JSON): the faults to produce',
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
    about: 'show what runs, what waits, and the counts',
  },
  doctor: {
    about: 'what is wrong, numbered, with the command that fixes each',
    options: {
      '--verbose': 'also list what passes: the path of every agent, and each gate',
      '--security': 'list instead what is open, how severe it is, and how to close it',
      '--fix': 'with --security: tighten the modes of our own files and folders, and nothing else',
      '--send-test': 'with --security: also send a forged mail, to see whether it is believed',
    },
  },
  logs: {
    about: 'the log of the daemon; with --turn: everything about one turn',
    options: {
      '--follow': 'keep printing new lines',
      '--integration': 'only lines of this integration',
      '--turn': 'the path of this turn, from the ledger and the log',
      '--lines': 'at most this many, the newest (default: 200)',
    },
  },
  schedules: {
    about: 'turns that start at set times: the next time, and the last result',
  },
  'schedules list': {
    about: 'list them (the default)',
  },
  'schedules run': {
    about: 'run a schedule now, besides its normal times',
    options: {
      '--agent': 'of this agent, when several agents have a schedule of that name',
    },
  },
  turns: {
    about: 'every received message, with its state and reason',
    options: {
      '--source': 'from this source: webhook:demo, channel:slack, schedule:standup',
      '--since': SINCE,
      '--until': 'not newer than this',
      '--agent': 'for this agent',
      '--integration': 'from this integration',
      '--session': 'of this session',
      '--sender': 'from this sender',
      '--state': 'in these states, separated by commas',
      '--limit': LIMIT,
      '--before': BEFORE,
      '--follow': 'keep printing turns as they arrive and change',
    },
  },
  'turns list': {
    about: 'list them (the default)',
  },
  'turns show': {
    about: 'show one turn in full',
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
    about: 'list open turns: queued, handed, seen',
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
    about: "every outgoing message, with the platform's answer",
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
    about: 'show one message in full',
  },
  'outbox retry': {
    about: 'send failed or unknown messages again',
  },
  'outbox bury': {
    about: 'give up failed or unknown messages for good',
  },
  conversations: {
    about: 'every conversation; take one over',
    options: {
      '--integration': 'on this integration',
      '--agent': 'of this agent',
      '--held': 'only conversations that a person holds',
      '--asked': 'only conversations where a person was asked for',
      '--search': 'only those with this text in an id or a name',
      '--since': SINCE,
      '--limit': LIMIT,
      '--before': BEFORE,
    },
  },
  'conversations list': {
    about: 'list them, newest first (the default)',
  },
  'conversations show': {
    about: 'show its messages with their states, and who holds it',
  },
  'conversations take': {
    about: 'take it over: from now on you answer, and the agent does not',
    options: {
      '--force': 'even when another person holds it',
    },
  },
  'conversations say': {
    about: 'write in a conversation that you hold',
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
      '--force': 'even when another person holds it',
    },
  },
  audit: {
    about: 'verify and export the ledger',
  },
  'audit verify': {
    about: 'check the chain and that every message is accounted for',
    options: {
      '--expect': 'a head stored elsewhere, which the chain must contain',
    },
  },
  'audit export': {
    about: 'print every entry, oldest first',
    options: {
      '--format': 'ndjson or csv',
    },
  },
  'audit head': {
    about: 'print the head of the chain, to store elsewhere',
  },
  pair: {
    about: 'people who were given a pairing code',
  },
  'pair list': {
    about: 'list the codes (the default)',
  },
  'pair approve': {
    about: 'let in the sender with this code, to talk',
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
    about: 'remove every right of this sender',
  },
  'access approver': {
    about: 'let this sender decide approvals',
    options: {
      '--remove': 'remove that right',
    },
  },
  approvals: {
    about: 'tool calls that wait for approval',
    options: {
      '--state': 'in these states, separated by commas (default: pending)',
      '--all': 'in any state',
      '--limit': LIMIT,
      '--before': 'only older ones than this `seq`',
    },
  },
  'approvals list': {
    about: 'list them (the default)',
  },
  'approvals show': {
    about: 'show one approval with its whole input',
  },
  'approvals allow': {
    about: 'allow this one call',
  },
  'approvals deny': {
    about: 'deny this one call',
  },
  people: {
    about: 'export or erase what a person wrote',
  },
  'people list': {
    about: 'the users of the configuration, with their roles',
  },
  'people export': {
    about: 'print everything that a person wrote, one JSON object per line',
    options: {
      '--to': 'write it into a new folder, with the files that they sent',
    },
    arguments: {
      who: 'a user of the configuration, or integration:sender',
    },
  },
  'people erase': {
    about: 'erase everything that a person wrote; keys, counters and the ledger stay',
    options: {
      '--yes': 'do not ask',
      '--revoke': 'also remove their granted rights',
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
      '--param': 'with --template: the values of its placeholders, in order',
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
      '--qr': 'also print a QR code, for a phone',
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
      '--value': 'the value itself (others on this machine can see it, so prefer a pipe)',
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
    about: 'list tokens by name, without the tokens (the default)',
    options: {
      '--all': 'also the tokens of single deliveries',
    },
  },
  'token mint': {
    about: 'make a token, and show it once',
    options: {
      '--kind': 'agent, notify, user or admin',
      '--agent': 'for this agent',
      '--session': 'for this session of the agent',
      '--user': 'for this user',
      '--expires': 'how long it is valid: 12h, 30d (default: until it is revoked)',
      '--label': 'a name to recognise it by',
    },
  },
  'token revoke': {
    about: 'revoke a token',
  },
  chorus: {
    about: 'connection strings of Chorus, and tests of other implementations',
  },
  'chorus list': {
    about: 'list connection strings by name, without the strings (the default)',
  },
  'chorus connect': {
    about: 'make a connection string for a chorus integration, and show it once',
  },
  'chorus rotate': {
    about: 'make a new connection string; the older ones stop working at once',
  },
  'chorus verify': {
    about: 'test an agent by its connection string, or a service by a callback URL',
    options: {
      '--service': 'the URL is a callback of a service',
      '--callback': 'where the agent reaches this machine (default: http://127.0.0.1:PORT)',
      '--listen': 'listen for callbacks on this port of 127.0.0.1 (default: any free port)',
      '--allow-private': 'allow an agent on this machine or network',
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
    about: 'ask the questions of its connector, try the agent, and print its lines for switchboard.yaml',
    options: {
      '--http': 'the URL of an agent that takes a JSON POST; it is tried, and gets a signing secret',
      '--mode': 'with --http: answer (in the response, the default) or later',
      '--secret-file': 'with --http: the file with the whsec_… secret that the agent already has',
      '--chorus': 'the connection string of a Chorus agent',
      '--connector':
        'how it is reached otherwise: llm (a model behind an API), channel, demo, … or one of modules:',
      '--provider': 'llm: anthropic, openai or openai-compatible',
      '--model': 'llm: the model, as the API names it',
      '--base-url': 'llm: where the API is (Ollama, vLLM, OpenRouter …)',
      '--api-key-file': 'llm: the file with the API key (default: asked for, or read from a pipe)',
      '--command': 'claude-code, acp: the program, for acp with its arguments; it is tried',
      '--cwd': 'claude-code, acp: the folder that it works in',
      '--write': 'write the lines into switchboard.yaml',
      '--bind': 'where its messages come from (default: web:web)',
      '--allow-private': 'allow an agent on this machine or network',
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
    about: 'remove an agent from switchboard.yaml',
  },
  notify: {
    about: 'notify a user through one of their channels',
    options: {
      '--channel': 'a type (telegram), or type:integration (default: the default channel)',
      '--urgency': 'low, normal or high',
      '--user': 'notify this user (default: the owner)',
    },
    arguments: {
      text: TEXT,
    },
  },
  integrations: {
    about: 'accounts on platforms, from the file or added here',
  },
  'integrations list': {
    about: 'list them (the default)',
  },
  'integrations add': {
    about: 'set up an integration: ask its questions, try it, store it encrypted, start it',
    options: {
      '--id': 'its id (default: the name of the platform)',
      '--platform': 'for scripts: the word before is the id, and no question is asked',
      '--set': 'a key as in the file, e.g. token=secret:TG or out.url=env:URL',
      '--agent': 'the agent that takes its messages',
      '--scope': 'all, or ids separated by commas: who may send through it',
      '--default': 'send notifications here when they name no channel',
      '--yes': 'take the defaults, and store it without asking',
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
    about: 'choose which agents may send through it',
    arguments: {
      agents: 'all, or ids separated by commas',
    },
  },
  'integrations enable': {
    about: 'enable it',
  },
  'integrations disable': {
    about: 'disable it, and keep its settings',
  },
  'integrations remove': {
    about: 'remove it',
  },
  hooks: {
    about: 'webhooks: set up their senders, test them, receive a message again',
  },
  'hooks show': {
    about: 'print the URL, the headers and the lines to paste into the sender',
  },
  'hooks test': {
    about: 'send a sample through the running daemon, signed as configured, and show each step',
    options: {
      '--recipe': 'send an event of this sender (default: the recipe of the hook, else generic)',
      '--event': 'this event, e.g. pull_request (default: the first that makes a message)',
    },
  },
  'hooks replay': {
    about: 'receive the message of a turn again, as a new turn',
  },
  backup: {
    about: 'copy database, attachments and ledger.key, also while a daemon runs',
    options: {
      '--with-keys': 'also the key of the secrets and the admin token: keep such a backup like a password',
    },
    arguments: {
      to: 'a .tar file, a new folder, or an existing folder to create one in',
    },
  },
  restore: {
    about: 'put a backup into a data folder that no daemon uses',
    options: {
      '--replace': 'move an existing database aside',
      '--settle': 'after pg_restore: treat open deliveries as possibly done since the backup',
    },
    arguments: {
      from: 'a backup, or a rescued database',
    },
  },
  help: {
    about: 'explain a command',
  },
} satisfies Readonly<Record<string, CommandHelp>>
