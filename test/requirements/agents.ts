// What SPEC 6 promises: connectors, their evidence, and the channel connector to the letter of its seed.
import { requirements } from './row.ts'

export const AGENTS = requirements(
  '6 Agents',
  `
built   7 S6.channel-ack-rests      channel: an acknowledged turn takes no room, is not offered again nor pending, and the next reply is about another unless there is none
built   7 S6.ch-kept                channel: a turn that a host still has after an end of the daemon or of the line keeps its state, uses up no attempt and is not given up
built   7 S6.channel-evidence       channel: a tool call that names the message or chat, ack or reply is the evidence
built   9 S6.chorus-evidence        chorus: the first callback event is seen, a message event is answered; 200 is only handed
built   0 S6.claude-code-spawn      claude-code spawns one process per session with stream-json both ways, resumed by session id
built   0 S6.claude-code-evidence   claude-code: command_lifecycle where present, else the replayed user message, and the final result
built   0 S6.acp-prompt             acp hands a turn over with session/prompt over stdio and relays session/request_permission
built   0 S6.acp-evidence           acp: the first session/update is seen, the stop reason is answered
built   0 S6.llm-loop               llm runs a loop over an Anthropic or OpenAI-compatible API with the tool surface and approvals
built   0 S6.llm-evidence           llm: the first token is seen, the end of the loop is answered
built   2 S6.demo-no-key            demo runs in the process and needs no key
built   2 S6.demo-echoes            demo echoes
built   2 S6.demo-asks              demo asks for a permission
built   2 S6.demo-notifies          demo notifies later
built   2 S6.demo-evidence          demo gives its own evidence of seen and answered
built   7 S6.wrap-form              Model-visible form: <channel source="S" k="v">, newline, body, newline, </channel>
built   7 S6.wrap-source-first      source comes first and is reserved; the other attributes are sorted
built   7 S6.wrap-keys              Keys match [A-Za-z_][A-Za-z0-9_]*; others are dropped and counted
built   7 S6.wrap-values            Attribute values are escaped
built   7 S6.wrap-neutralised       Any opening or closing channel tag in the body, in any case or spacing, is neutralised
built   2 S6.meta-fields            Every message carries chat_id, message_id, user, user_id, ts, thread_id, reply_to_message_id, platform where known
built   3 S6.meta-attachments       Attachment fields are in the meta of a message that has attachments
built   2 S6.meta-strings           All meta values are strings
built   2 S6.meta-chat-id           chat_id is the address string, unique across integrations; integration is given too
built   0 S6.final-text-forwarded   A turn that ends without a reply through a tool has its final text forwarded (connectors that see it)
built   7 S6.finished-silent-told   Where the final text is not seen, the sender is told that the agent finished without replying
built   2 S6.redelivery-declared    Offering again is declared per connector, and the dispatch obeys the declaration
built   7 S6.channel-window         channel: in order, without waiting for the one before
built   7 S6.channel-covers         channel: evidence for a later message covers the earlier ones handed to the same host
built   9 S6.chorus-never-again     chorus: never POST again after a 2xx
built   9 S6.chorus-silence-told    chorus: if nothing comes back the person is told
built   0 S6.resume-not-replay      claude-code, acp: a seen turn is resumed as a continuation, never replayed
built   2 S6.absent-queues          With the agent absent turns queue in order, and are handed over when it attaches
built   7 S6.several-hosts          Several hosts may attach to one agent; a turn goes to one of them
built   7 S6.host-sticky            A session sticks to its host, and moves if that one goes away
built   7 S6.host-newest             Where one session is attached twice, an old line that died among them, the newest attachment gets turns and verdicts
built   2 S6.connector-keys         A connector's keys are checked: an unknown one is a configuration error
`,
)

export const CHANNEL = requirements(
  '6 The channel connector',
  `
built   7 S6.ch-capability          Declares experimental['claude/channel'], tools and instructions
built   7 S6.ch-permission-cap      Declares ['claude/channel/permission'] only when the bound senders are authenticated
built   7 S6.ch-notification        A message arrives as notifications/claude/channel {content, meta}
built   7 S6.ch-permission-in       A permission request (four strings, request_id five letters without l) is relayed as an approval
built   7 S6.ch-permission-out      The verdict goes back as notifications/claude/channel/permission {request_id, behavior}
built   7 S6.ch-preview             input_preview up to 15,000 characters is never parsed, cut per platform, never dropped
built   7 S6.ch-no-discover         server/discover is answered with method not found
built   7 S6.ch-always-load         reply carries _meta["anthropic/alwaysLoad"]: true
built   7 S6.ch-tool-use-id         params._meta["claudecode/toolUseId"] is the idempotency key of a send
built   7 S6.ch-clean-end           Ends cleanly on EOF, SIGINT and SIGTERM
built   7 S6.ch-stdout-mcp          stdout carries MCP alone
built   7 S6.ch-socket              The shim attaches to the daemon of the data folder over a local socket of mode 0600
built   7 S6.ch-remote              The same frames run over WebSocket /attach with an agent-scoped bearer
built   7 S6.ch-starts-daemon       If no daemon answers the shim starts a detached one (up --idle-exit)
built   7 S6.ch-idle-exit           up --idle-exit ends when no host was attached and nothing happened for that long
built   7 S6.ch-revives             Any attached shim revives a daemon that died
built   2 S6.one-daemon             Exactly one daemon owns a data folder
built   2 S6.lock-kernel            The lock of a data folder is freed by the kernel on kill -9
built   7 S6.ch-unproven            A host is unproven until a call names a turn that was pushed to it; proven hosts go first
built   7 S6.ch-unproven-30s        Where another host is attached an unproven one gets one turn and 30 s, then the next host is tried
built   7 S6.ch-frozen              What waits behind a turn that an unproven host is tried with overtakes it nowhere
built   7 S6.ch-not-twice           No turn is handed twice down the same line of a host
built   7 S6.ch-call-unknown        A tool call that the daemon had when it went away is told as unknown, not as undone, 15 s after the loss; a stop lets calls finish first
built   7 S6.ch-one-answer          A turn that moved to another host and was answered there is not answered again by the first one
built   7 S6.ch-doctor-why          doctor says why nothing answers
built   7 S6.ch-busy-holds          Unseen turns are offered again only after the host detached
built   7 S6.ch-chat-proves-oldest  A call that names only the chat proves its oldest handed turn; newer ones need reply_to, message_id or ack
built   7 S6.ch-expiry-no-verdict   When an approval expires or is decided elsewhere the chat prompt is retired and no verdict is sent
built   7 S6.ch-passed-on           A decision that was passed on reads "passed on", not "allowed"
built   7 S6.ch-nexo                --dialect nexo does the same with the prefix nexo/
built   7 S6.ch-files-in            Pictures and small files of a message lie at image_path or file_path for a host of this machine, said in meta alone
built   7 S6.ch-files-out           reply attaches files of this machine by absolute paths, after the text; files of the data folder are refused
built   7 S6.ch-real-binary         The real Claude Code (opt-in) takes plugin and marketplace, shakes hands with the shim, and its reply answers a waiting turn
built   7 S6.ch-skills-owner        No message of a channel can set off the plugin's skills that change access: the model cannot call them, and only listing is approved beforehand
built   7 S6.ch-plugin              Packaged as a Claude Code plugin: plugin.json with channels, .mcp.json, marketplace file, skills
`,
)
