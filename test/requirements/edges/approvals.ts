// What issue 35 demands: approvals across crashes.
import { requirements } from '../row.ts'

export const EDGES_APPROVALS = requirements(
  'Issue 35 Approvals across crashes',
  `
built   35 I35.a2                  A table of crashes: kill -9 at every step of a turn with a tool, for llm, http, claude-code, acp, chorus and channel; a yes is used once, an open question stays open, the answer comes once or labelled, a later message is answered within a minute, no process goes on alone
built   35 I35.b2                  A yes is used once: a call that had begun when the daemon died is asked again, with the words that it may already have run
built   35 I35.b14                 A yes given while a turn is being taken up after a restart waits for it, 60 s at most
built   35 I35.b15                 kill -9 with an approval open ends the agent process before it can go on alone, and the question stays open
built   35 I35.b15-hosted          kill -9 of the daemon ends its hosted channel servers before they see that their pipes end
built   35 I35.b19a                The same ask.id of an http agent returns the same verdict, marked as a repeat, until its turn ends
built   35 I35.b45-host-ask        host ask({input: object}) does not expire in silence
built   35 I35.b45-takeover-word   A takeover time-out counts from the holder’s last word
built   35 I35.left-dead-prompt        A question that is sent late, or again, is asked only while its approval is open; else its row says why it was not sent
`,
)
