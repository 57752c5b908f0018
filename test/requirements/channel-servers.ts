// What SPEC 9 promises: hosting MCP channel servers.
import { requirements } from './row.ts'

export const CHANNEL_SERVERS = requirements(
  '9 Hosting MCP channel servers',
  `
built   8 S9.two-prefixes           Servers declaring experimental['nexo/channel'] or ['claude/channel'] are platforms
built   8 S9.gates-order            The five gates run in order: capability, killswitch, binding allowlist, plugin source, approved list
built   8 S9.gates-every-message    The gates run again for every message
built   8 S9.gates-every-verdict    The gates run again for every verdict
built   8 S9.skip-typed             A failure is Skip {kind, reason} with kinds capability, disabled, session, marketplace, allowlist
built   8 S9.skip-names-key         The reason names the YAML key
built   8 S9.stamp-from-install     plugin_source is stamped from where the server was installed, never copied from the approval
built   8 S9.plugin-resolves        'plugin: slack@anthropic' resolves the command from that marketplace's folder
built   8 S9.stamp-unverified       A stamp written by hand beside a command is shown as unverified
built   8 S9.bucket-before-parse    A token bucket per server comes before parsing; drops are counted and visible
built   8 S9.bad-meta               A bad meta value drops the key under claude/, the message under nexo/, always recorded
built   8 S9.reload-stops           Reload: what no longer passes stops at once
built   8 S9.reload-starts          Reload: what now passes starts without a restart
built   8 S9.tools                  The agent has channel_list, channel_send and channel_status for its current binding, falling back to the agent id
built   8 S9.send-fills-text        channel_send fills text unless arguments already has text or content
built   8 S9.send-cap               channel_send caps content at 64 KiB
built   8 S9.send-tool-name         The outbound tool name comes from the registration snapshot, default send_message
built   8 S9.send-tool-missing      A server that lacks the tool gives a clear error
built   8 S9.send-destination       Destination keys must name a conversation that spoke through that server, or be allowed (<server>:<id>, <server>:*)
built   8 S9.status-unknown         An unknown server in channel_status gives registered: false
built   8 S9.read-only-hint         channel_list and channel_status carry readOnlyHint
built   8 S9.relay-capable          Permission requests go to servers with <prefix>/channel/permission
built   8 S9.relay-schema           Requests to nexo servers carry schema: 1
built   8 S9.restart-backoff        Servers that crash are restarted with backoff
built   8 S9.library                The same host works as a library (switchboard/host)
built   8 S9.source-logged          Every turn from a channel is logged with source channel:<server> in an indexed column
built   8 S9.turns-filter           'switchboard turns --source channel:slack --since 1d' answers from it
`,
)

export const HOSTING = requirements(
  'Issue 8 Hosting channel servers',
  `
built   8 I8.around                 Switchboard serving is hosted by Switchboard hosting: one message goes around, an approval comes back
built   8 I8.kill-server            kill -9 of a hosted server loses and doubles nothing that its sender offers again
built   8 I8.kill-host              kill -9 of the hosting daemon around hand-over, settling and sending: its children end, and the message is answered after a new start
built   8 I8.kill-serving           kill -9 of the serving daemon: the hosted shim starts it again
built   8 I8.server-lease           On PostgreSQL one node has a server, every node sends through it, and another takes it over when that one dies
built   8 I8.none-stops-others      Servers that flood, hang in initialize, die in mid-message, write garbage or answer what they were not asked stop no other
built   8 I8.flood-before           A server that floods before it answers initialize is read no further than the bound, and is given up when its time is over
built   8 I8.stray-helper           A server whose helper left its family and keeps a pipe open is started again, and holds up neither a reload nor the end of the daemon
built   8 I8.no-descriptors         A server that cannot be started for want of file descriptors is down and tried again; the daemon lives on
built   8 I8.reload-holds-none      While a reload ends one server, the others go on; a pool that is stopped meanwhile starts nobody again
built   8 I8.declared-by-its-connection What a server pushed is let in by what its own connection declared, also when that is gone; refused it is never without a word
built   8 I8.tools-by-binding       Channel tools see the servers of the binding that took the turn's conversation, whether its server is up or down; all of the agent's only where a call comes from no place
built   8 I8.thread-alone           A thread of a server that names no chat is a conversation of its own: equal message ids in two of them are two messages
built   8 I8.http-malformed         Over HTTP, too, what does not parse is refused: unparsable, and a good message is not lost for what stands beside it
built   8 I8.nexo-body              Hosts that put the body of a channel message into the element as it is get one that cannot leave it
built   8 I8.spoken-last            The library never refuses a send to the conversation that spoke last, however many spoke
built   8 I8.empty-content          A message with empty content is taken, with its meta
built   8 I8.gates-at-the-call      The gates are asked again after the server was asked for its tools, right before it is called
built   8 I8.two-agents             A server that two agents let in speaks to each in a session of its own
built   8 I8.store-away             What servers push while the store is away waits in order; what had to be dropped is counted and told
built   8 I8.pushed-once            What a server pushed is stored once, also when the answer to its commit was lost
built   8 I8.last-words             What a server still pushes while it is ended (a restart, a reload, a lost lease) is stored
built   8 I8.narrow-by-id           Access beside a server counts ids only: a display name opens nothing and approves nothing
built   8 I8.gate-views             doctor shows each of the five gates, also behind the first that is closed
built   8 I8.ask-again              What only the allowlist opened for channel_send is asked again at the moment of sending
`,
)
