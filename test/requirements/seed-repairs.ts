// What issue 14 mends of Chorus, Telegram, notify and hosted servers.
import { requirements } from './row.ts'

export const SEED_REPAIRS = requirements(
  'Issue 14 The seeds, to the letter',
  `
built   14 I14.server-by-name        send_message to the name of a hosted server reaches it where no native integration of that name is enabled and granted
built   14 I14.server-arguments      Target, thread and text stand in the arguments that the outbound tool's own schema names, the first that it has
built   14 I14.server-mapped         outbound_arguments of an approved entry maps target, body and thread before the schema does
built   14 I14.server-no-target      A target that can be named nowhere is refused, and nothing is sent
built   14 I14.host-mapping          A reply through switchboard/host uses the same mapping, and is refused where no argument can name its place
built   14 I14.server-reply          reply uses the same mapping: chat.postMessage gets channel where the server said channel_id
built   14 I14.server-allow          Allow entries name a hosted server by its name, when a send is ordered and again when it leaves
built   14 I14.album-webhook         Telegram by webhook: an album is one message, also where parts come one after the other's answer, and after a crash
built   14 I14.urgency-telegram      Telegram: high differs from normal on the screen, low comes without a sound
built   14 I14.binding-limit-server  A rate_limit of a binding counts for the channel servers that it admits
built   14 I14.drop-warned           A message that was dropped leaves one structured warning a minute, with how many
built   14 I14.messaging-beside      messaging.json is looked for beside switchboard.yaml where it is named so and nowhere else
built   14 I14.platform-unknown      An integration of a platform that does not exist says so when it is sent to
built   14 I14.turns-pipe            turns in a pipe cuts long text, and with --json nothing
built   14 I14.notify-2026           /mcp/notify answers a request of 2026-07-28 in that form, as /mcp does
built   14 I14.one-way-no-sends      A one-way hook makes no send that must fail, and notify_on never chooses it; check says so
built   14 I14.gates-once            doctor prints the gates of a server once, and a server that is skipped does not pass
built   14 I14.chorus-one-object     Chorus: mcp is one object always, our own endpoint, also in a chain
built   14 I14.chorus-chain-draft     Chorus: an agent written to the draft alone uses the tools of a service two Switchboards away, and its events come back in order
built   14 I14.chorus-service-tools  Chorus: the session's endpoint lists the tools of the service in front as <server>__<tool>, unique within 64 characters, and passes calls on under the guard
built   14 I14.chorus-tools-away     Chorus: a server that does not list its tools within 5 s is left out and told in doctor; readOnlyHint of others is not believed
built   14 I14.chorus-ref-hidden     No reference to tool servers is shown to an agent
built   14 I14.chorus-verify-array   chorus verify does not fail an agent that knows mcp as the draft's one object only
built   14 I14.chorus-approver       Chorus: an approval is asked in the channels where an approver spoke within 24 h; where there is none it is denied at once with the reason
built   14 I14.chorus-repeat-marked  Chorus: a delivery that is posted again says message.redelivery
built   14 I14.chorus-idle-soon      Chorus: idle follows soon after a callback that had to be retried
built   14 I14.chorus-idle-gone      Chorus: nothing is posted to a callback that answered 404
built   14 I14.chorus-chain          Chorus: service, context and channel.name pass through a chain
built   14 I14.chorus-tool-events    Chorus: our agent end sends tool_call and tool_result when its connector has them
built   14 I14.chorus-error-code     Chorus: error.code passes through, and errors do not nest their marks
built   14 I14.status-stream         A status of the agent is an event of its own kind on a hook's stream, and moves no position
built   14 I14.status-line           A status is one line for each turn where a platform has one: after a moment, changed every few seconds at most, gone when the turn is over
built   14 I14.status-gives-way      A line gives way to the platform's pace, delays no answer and no prompt, and is given up when it fails
built   14 I14.status-restart        A stop takes lines away; after a kill the next start does once their turn is over, and goes on with those of open turns
built   14 I14.status-telegram       Telegram: a status is one message per turn that is edited, goes when the answer comes, and never delays an answer
built   14 I14.connector-not-built   A connector that is not built, or that there is not, is a configuration error with line, column and what there is; check exits 2, up refuses, a reload keeps the old one
built   14 I14.reference-built       The reference of the configuration says which platforms and connectors are built
`,
)
