// Who may know an adapter by its name or by a key of its options, and why. A path that ends in '/' is a folder.

export type MayKnow = Readonly<Record<string, readonly [words: string, why: string]>>

/** The rows: they name every adapter. */
export const ROWS = ['src/app/registry.ts', 'src/app/emulators.ts']

/** Names outside the adapters' own folders and rows. */
export const MAY_NAME: MayKnow = {
  'src/chorus/': ['chorus channel mcp', 'the library door of the Chorus protocol, and its fields'],
  'src/kit/chorus/': ['chorus channel mcp', 'the words of the Chorus protocol'],
  'src/kit/index.ts': ['chorus', 'passes on the words of the Chorus protocol'],
  'src/kit/standard-webhooks.ts': ['webhook', 'headers of Standard Webhooks'],
  'src/kit/wrap-channel.ts': ['channel', 'the tag <channel>'],
  'src/kit/markdown/reader.ts': ['email', 'addresses in a text, as the parser calls them'],
  'src/contract/channel-servers.ts': [
    'mcp http',
    'CHANNEL_PLATFORM: bindings and mcp_servers call it that; a transport',
  ],
  'src/contract/agent.ts': ['chorus', 'a kind of token'],
  'src/contract/desk.ts': ['chorus', 'connection strings of the Chorus protocol are minted'],
  'src/config/channel-integrations.ts': ['mcp', 'makes the integrations of mcp_servers'],
  'src/config/issues.ts': ['mcp', 'says that mcp_servers makes them'],
  'src/config/json-schema.ts': ['mcp', 'mcp_servers makes them, so nobody writes one'],
  'src/config/load.ts': ['mcp', 'mcp_servers makes them, so nobody writes one'],
  'src/config/stored-integration.ts': ['mcp', 'mcp_servers makes them, so nobody adds one'],
  'src/config/schema/integrations.ts': ['mcp', 'mcp_servers makes them, so nobody writes one'],
  'src/config/schema/access.ts': ['channel', 'a host of an agent shows requests of its own'],
  'src/config/schema/agents.ts': [
    'channel slack',
    'the connector of an agent that names none; an example of a plugin',
  ],
  'src/config/schema/mcp-servers.ts': ['slack', 'an example of a plugin of Claude Code'],
  'src/config/installed-plugin.ts': ['slack', 'an example of a plugin of Claude Code'],
  'src/config/default-settings.ts': ['web webhook demo', 'the embedded default is a configuration'],
  'src/attach/host-connection.ts': ['channel', 'the connector at the other end of this socket'],
  'src/attach/remote-link.ts': ['http', 'the beginning of a URL'],
  'src/server/api/openapi.ts': ['http', 'a word of OpenAPI'],
  'src/server/api/routes.ts': ['chorus', 'connection strings of the Chorus protocol are minted'],
  'src/server/metrics.ts': ['llm', 'the name of a metric'],
  'src/server/pages.ts': ['mcp', 'the path /mcp'],
  'src/server/wrong-credentials.ts': ['mcp', 'the door /mcp, as the metric calls it'],
  'src/app/channel-shim.ts': ['claude-code', 'a command that mends it'],
  'src/app/chat-link.ts': ['web', '/chat is the page of that platform'],
  'src/app/endpoints.ts': ['web', '/chat is the page of that platform'],
  'src/app/desk-console.ts': ['web', 'a try of an agent is a chat of that platform'],
  'src/app/daemon.ts': ['web', 'prints the link to /chat'],
  'src/app/principals.ts': ['web', 'a kind of token, which the page has'],
  'src/app/secret-doors.ts': ['chorus', 'a kind of token'],
  'src/app/chorus-connections.ts': ['chorus', '/inbox is the door of that platform'],
  'src/app/chorus-verify.ts': ['chorus', '`chorus verify` tries an agent or service of others'],
  'src/app/daemon-desk.ts': ['chorus', 'connection strings of the Chorus protocol are minted'],
  'src/app/desk.ts': ['chorus', 'connection strings of the Chorus protocol are minted'],
  'src/app/doctor.ts': ['mcp', 'a binding of plugin mcp names an entry of mcp_servers'],
  'src/app/doctor-gates.ts': ['mcp', 'the gates of a channel server are those of its hosting'],
  'src/app/hosted-servers.ts': ['mcp', 'starts the servers that these integrations speak through'],
  'src/app/host-abilities.ts': ['channel', 'what a host is told from the file alone, where nothing runs'],
  'src/app/lent-tools.ts': ['mcp chorus', 'a field of the Chorus protocol'],
  'src/app/look-over-module.ts': ['channel', 'words that no platform may be called by: sources of turns'],
  'src/store/reads/sending.ts': ['channel', 'the name of a column'],
  'src/tools/tool.ts': ['channel', 'a field of the official plugins’ tools'],
  'src/tools/fetch-messages.ts': ['channel', 'a field of the official plugins’ tools'],
  'src/tools/message-format.ts': [
    'telegram',
    'MarkdownV2 is a format of that name, in the official plugin’s words',
  ],
  'src/cli/claude-gates.ts': ['claude-code', 'the page of the guide'],
  'src/cli/claude-state.ts': ['telegram discord imessage', 'plugins of Claude Code, not platforms'],
  'src/cli/configuration.ts': ['mcp', 'mcp_servers makes them, so nobody adds one'],
  'src/cli/starter-config.ts': ['web webhook demo', 'the file that `init` writes, with its comments'],
  'src/cli/output/problems.ts': ['claude-code', 'a command that mends it'],
  'src/cli/program.ts': ['demo chorus', 'what `up` starts with; the commands `chorus`'],
  'src/cli/program/chorus.ts': [
    'chorus llm demo claude-code acp',
    'the name of a command; examples in its help',
  ],
  'src/cli/program/reading.ts': ['slack webhook demo', 'examples of a source'],
  'src/cli/program/sending.ts': ['telegram', 'an example of a channel'],
  'src/cli/program/setup.ts': [
    'channel claude-code demo webhook llm telegram discord imessage',
    'commands and what they write; plugins of Claude Code; examples in the help',
  ],
  'src/cli/commands/agents.ts': [
    'http chorus web telegram',
    'its flags --http and --chorus; the chat page that it writes beside an agent; an example of a binding',
  ],
  'src/cli/commands/agents-change.ts': [
    'demo',
    'what `init` puts there to begin with gives way to the first agent',
  ],
  'src/cli/commands/chorus.ts': ['chorus', 'the command'],
  'src/cli/commands/doctor.ts': [
    'channel claude-code',
    'Claude Code is asked, and shown in the JSON, only where an agent waits for it',
  ],
  'src/cli/commands/import.ts': ['imessage telegram discord', 'plugins of Claude Code, not platforms'],
  'src/cli/commands/init.ts': ['claude-code demo web webhook', 'what `init` writes'],
  'src/cli/commands/init-claude-code.ts': [
    'channel telegram web claude-code',
    'what `init claude-code` writes',
  ],
  'src/cli/commands/up-banner.ts': ['demo', 'the id of the webhook that the embedded default has'],
  'web/console/pages/agents.tsx': [
    'chorus',
    'the connection string of that connector, and its place in the API',
  ],
}

/** Names of other adapters within an adapter's folder: words of its own protocol or options. */
export const MAY_NAME_OTHERS: MayKnow = {
  'src/agents/acp/': ['http', 'a transport of MCP'],
  'src/agents/channel/': ['claude-code', 'the page of the guide that sets its host up'],
  'src/agents/chorus/': ['channel mcp', 'fields of the Chorus protocol'],
  'src/agents/claude-code/': ['http', 'a transport of MCP'],
  'src/agents/http/': ['webhook', 'headers of Standard Webhooks'],
  'src/platforms/discord/': ['channel webhook', 'where messages are, and webhooks, are things of Discord'],
  'src/platforms/mcp/': [
    'http channel email webhook',
    'a transport; what tools call the place a message goes to',
  ],
  'src/platforms/slack/': ['channel', 'where messages are is so called there'],
  'src/platforms/telegram/': ['webhook channel', 'how updates come; a kind of chat'],
  'src/platforms/webhook/': [
    'slack discord email http',
    'the forms and the senders that webhooks know, and their fields',
  ],
  'src/platforms/whatsapp/': ['webhook email', 'how updates come; a field of a contact'],
}

/** Where the core has a platform's name in an identifier. */
export const CORE_MAY_NAME: MayKnow = {
  'src/core/dispatch/delivery.ts': ['mcp', 'MCP_SERVERS_REF: where servers that are lent to a turn are kept'],
}

/** Keys of adapters' options that are words of the house as well. */
export const SHARED_KEYS: Readonly<Record<string, string>> = {
  message_id: 'the id of a message, in tools, tables and the API',
  output_tokens: 'usage of a turn, in the API',
  cache_read: 'usage, in tables and metrics',
  cache_write: 'usage, in tables and metrics',
}

/** Keys of adapters' options outside their folders. */
export const MAY_KNOW_OPTIONS: MayKnow = {
  'src/kit/': ['allow_private turn_timeout', 'what adapters share says which key of theirs would mend it'],
  'src/config/default-settings.ts': [
    'behind_proxy sender_header two_way',
    'the embedded default is a configuration',
  ],
  'src/cli/starter-config.ts': ['two_way', 'the file that `init` writes'],
  'src/app/hosted-servers.ts': ['server', 'starts the servers that these integrations speak through'],
  'src/app/lent-tools.ts': [
    'allow_private',
    'whether the servers that this integration was lent may be near',
  ],
  'src/config/settings-of.ts': [
    'cwd command',
    'those of mcp_servers, which are keys of the configuration itself',
  ],
  'src/cli/commands/agents.ts': ['allow_private', 'its flag --allow-private'],
}

/** What a file may know by the table: of its own row, and of the folders that it is in. */
function allowedTo(file: string, table: MayKnow): readonly string[] {
  return Object.entries(table).flatMap(([path, [words]]) =>
    path === file || (path.endsWith('/') && file.startsWith(path)) ? words.split(' ') : [],
  )
}

/** `file: word` for what the table does not allow, and `path: word` for what it allows and nobody needs. */
export function compare(known: ReadonlyMap<string, ReadonlySet<string>>, table: MayKnow) {
  const wrong = [...known].flatMap(([file, words]) => {
    const allowed = allowedTo(file, table)
    return [...words].filter((word) => !allowed.includes(word)).map((word) => `${file}: ${word}`)
  })
  const idle = Object.entries(table).flatMap(([path, [words]]) =>
    words
      .split(' ')
      .filter(
        (word) =>
          ![...known].some(
            ([file, has]) => has.has(word) && allowedTo(file, { [path]: [words, ''] }).length > 0,
          ),
      )
      .map((word) => `${path}: ${word}`),
  )
  return { wrong, idle }
}
