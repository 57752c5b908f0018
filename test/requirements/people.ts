// What SPEC 4 and 10 promise: who may speak, who may approve, and how an approval is asked and answered.
import { requirements } from './row.ts'

export const ACCESS = requirements(
  '4 Who may speak, who may approve',
  `
built   3 S4.gate-on-sender         The gate looks at the sender's stable id, never at the room or a display name
built   3 S4.dm-pairing             dm: pairing lets the paired and listed talk, and gives a stranger a code
built   3 S4.dm-allowlist           dm: allowlist lets the listed talk and refuses all others in silence
built   3 S4.dm-disabled            dm: disabled refuses every direct message
built   3 S4.groups-off             A group that is not listed is refused
built   3 S4.group-mention-default  require_mention defaults to true: an unmentioned group message is refused
built   3 S4.group-empty-allow      A group's empty allow_from means the integration's
built   3 S4.group-star             A group's allow_from ["*"] lets any member talk
built   3 S4.group-star-flagged     doctor flags a group that is open to any member
built   5 S4.default-telegram       telegram defaults to pairing
built   0 S4.default-chats          slack, discord and whatsapp default to pairing
built   0 S4.default-email          email defaults to allowlist, and no code is ever sent to a stranger
built   0 S4.default-imessage       imessage defaults to allowlist with no code to strangers; the owner's own addresses pass
built   3 S4.default-web            web: the token is the gate
built   3 S4.default-webhook        webhook: its HMAC or allow_from is the gate
built   9 S4.default-chorus         chorus: the connection string is the gate
built   8 S4.default-mcp            mcp: the five gates, plus access where it is set
built   0 S4.email-proven           Email senders must be proven (require_auth_results, default true)
built   0 S4.email-authserv         Only the Authentication-Results header of the named authserv_id counts
built   3 S4.pairing-code-form      A pairing code is 6 lower-case hex digits
built   3 S4.pairing-code-hour      A pairing code is valid for one hour
built   3 S4.pairing-two-replies    A stranger gets at most 2 replies
built   3 S4.pairing-one-code       There is one code per sender: asking again shows the same one
built   3 S4.pairing-cap            Pending codes per integration are capped
built   3 S4.pairing-no-lockout     Strangers cannot use the cap to lock the owner out
built   3 S4.pairing-refused        The stranger's message itself is refused and recorded
built   3 S4.pairing-approve-cli    The owner approves with 'switchboard pair approve CODE'
built   3 S4.pairing-approve-api    The owner can approve through /api, where the console does it
built   3 S4.pairing-not-by-chat    A pairing is never approved by a chat message
built   3 S4.pairing-told           The newcomer is told that the pairing was approved
built   3 S4.pairing-never-picks    Approving never picks "the only pending one" by itself: the code is needed
built   3 S4.pairing-then-talks     After the approval the newcomer's next message passes
built   3 S4.two-rights             allow_from may talk, approvers may decide approvals: one right does not give the other
built   3 S4.approver-default       approvers default to the paired owner
built   3 S4.group-verdict          In groups a verdict counts only from an approver
built   3 S4.unreadable-closes      An unreadable access policy closes the door and never falls back to a more open one
built   3 S4.refusal-names-gate     A refusal names the gate and the configuration key in the ledger
built   3 S4.refusal-in-doctor      doctor shows refusals with the gate and the key to change
built   0 S4.refusal-in-console     The console shows refusals with the gate and the key to change
built   3 S4.stranger-sees-nothing  The stranger sees nothing of a refusal (pairing apart)
built   5 S4.import-claude-access   'switchboard import claude-access DIR' imports access.json of the official plugins
`,
)

export const APPROVALS = requirements(
  '10 Approvals',
  `
built   7 S10.asked-by-channel      Claude Code asks over the channel connector
built   0 S10.asked-by-claude-code  The claude-code connector's permission requests become approvals
built   0 S10.asked-by-acp          acp permission requests become approvals
built   0 S10.asked-by-llm          The llm loop asks before a risky tool
built   3 S10.asked-by-demo         The demo agent asks
built   8 S10.asked-by-mcp-host     MCP hosts can ask
built   3 S10.states                An approval goes pending, decided, passing, relayed or undeliverable, or expired, or withdrawn
built   3 S10.allowed-after-write   "Allowed" is shown only after the verdict was written to the asking host
built   3 S10.agent-gone            A verdict whose host is gone reads "decided, agent gone"
built   7 S10.verdict-waits         A verdict given while its host is away (a restart, a line that broke) waits 15 s for it, says so, and is passed on when it is back
built   3 S10.verdict-from-row      Connectors learn of a verdict from the row
built   6 S10.any-node              Any node may decide: the verdict reaches the asking host on another node
built   3 S10.survives-restart      A pending approval survives a restart and can still be decided
built   3 S10.one-winner            One durable row, a compare-and-set: of two verdicts at once one wins
built   3 S10.already-answered      Every other surface is told "already answered by X"
built   3 S10.surface-chat          The originating chat shows the prompt if an approver is there
built   3 S10.surface-dm            The approvers' direct messages show the prompt
built   0 S10.surface-console       The console shows the prompt
built   3 S10.surface-api           /api lists and decides approvals
built   3 S10.surface-cli           'switchboard approvals' lists and decides
built   35 S10.asked-where          'approvals show', /api and the console tell who was asked about a call, where, and whether the question came there
built   8 S10.surface-servers       Relay-capable channel servers are asked
built   3 S10.buttons               Buttons decide where the platform has them
built   3 S10.text-verdict          'yes ID' and 'no ID' always decide, in the form of the seed's expression, in any case
built   3 S10.id-form               Ids are random, five letters a-z without l
built   3 S10.id-unique             Ids are unique among the pending
built   3 S10.id-polite             Ids are free of rude words
built   7 S10.id-of-host            A host's own id is shown as it came unless it collides with a pending one
built   3 S10.id-not-authority      An id locates, it does not authorise: the decider must be an approver of that agent
built   8 S10.server-verdict        A channel server's verdict counts only if it passes the gates and was asked, and is recorded as server:<name>
built   3 S10.whole-input           The prompt shows the whole command or input
built   3 S10.cut-safely            An input too long for the platform is cut safely, with "show all" where needed
built   7 S10.show-all             "Show all" sends the whole input in parts, to the approver who taps and to that chat alone; without buttons the prompt names the command
built   3 S10.input-hash            The input's hash is bound to the verdict
built   3 S10.one-call              Allow is for one call: the same tool asks again next time
built   3 S10.expiry-denies         Expiry (default 10 min) denies and says so, where Switchboard holds the decision
built   3 S10.unreachable-denied    A prompt that could reach nobody is denied at once with the reason, where Switchboard holds the decision
built   3 S10.prompts-edited        Prompts are edited when decided, on every surface that can
built   3 S10.audit                 Who decided, where and when is in the audit
built   3 S10.ordinary-chat         Anything that is not exactly a verdict is ordinary chat and reaches the agent
built   3 S10.unknown-id-chat       The right form with an id neither pending nor decided in the last 24 h is ordinary chat ("no sorry")
built   3 S10.decided-id-answered   The right form with an id decided within 24 h is answered "already answered by X"
`,
)
