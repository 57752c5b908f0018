// What issue 35 demands: the listener among strangers.
import { requirements } from '../row.ts'

export const EDGES_SERVER = requirements(
  'Issue 35 The listener among strangers',
  `
built   35 I35.b4-header             A stranger cannot name himself somebody else at a webhook that believes a header, nor take the key of another's message; doctor --security names such a webhook
built   35 I35.b19b                  A burst on the web chat costs linear work, whatever number of streams is open
built   35 I35.b19c                  A connection that never sent a byte, and refused strangers, delay SIGTERM by nothing
built   35 I35.b19c-body             A body that never comes to its end holds the end of the daemon up for two seconds at most, and one that comes is taken
built   35 I35.b19d                  sender_limit of a webhook with a secret counts each conversation
built   35 I35.b30                   Pings of GitHub organisations and Apps are accepted
built   35 I35.b36                   Two daemons on one host keep separate sessions of the chat
built   35 I35.b37                   1,024 silent connections lock nobody out
built   35 I35.b38                   A signature without a timestamp is remembered: a replay under a new delivery id is refused
built   35 I35.b39                   A request with any mark of a proxy, or with a Host that is not ours, is not loopback
built   35 I35.b40                   send to a web address of nobody is input_invalid
built   35 I35.b45-data-folder       A data folder that others may write to, and an admin.token of another owner, are refused
built   35 I35.b45-own-signature     An own signature form whose parts can slide into each other is refused
built   35 I35.b45-local-approver    doctor --security rates "any local user may approve" by what it opens
built   35 I35.b45-verdict-newline   verdict recorded ends as the seed says
built   35 I35.b45-unsigned-id       An unsigned id is never the duplicate key of a signed webhook
`,
)
