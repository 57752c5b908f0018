// What issue 21 promises of the console: signing in, the pages, what they do, for whom, and how they bear hostile text.
import { requirements } from './row.ts'

export const CONSOLE_PAGES = requirements(
  '21 The console',
  `
built   21 I21.con-link          switchboard console prints a one-time link that signs a user in, --user names whom
built   21 I21.con-link-once     A link works once: replayed, expired, foreign or of another kind it opens nothing and burns nothing
built   21 I21.con-link-right    A link is minted by an owner alone
built   21 I21.con-cookie        The session is an HttpOnly SameSite=Strict cookie, named by the port, Secure over https
built   21 I21.con-cookie-port   Two daemons on one machine do not sign each other out
built   21 I21.con-origin        A request with the cookie from a page of another site or port is refused, and a write without Origin is
built   21 I21.con-roles-now     Roles are those of this moment: a user who lost them, or is gone, is signed out at once
built   21 I21.con-logout        Signing out ends the session, for a copy of the cookie too
built   21 I21.con-wrong         Wrong sessions and links are counted and put off like wrong tokens
built   21 I21.con-csp           The page is served under a strict policy: no inline script or style, no other host, no frame
built   21 I21.con-own-host      No page of the console asks any other host for anything
built   21 I21.con-weight        The first page is under 200 kB compressed, charts included
built   21 I21.con-gzip          Assets go out compressed to browsers that take it
built   21 I21.con-roles         Each role is shown and offered what its routes let through, and what is hidden is refused when it is called
built   21 I21.con-approver      An approver sees approvals and hears of nothing else
built   21 I21.con-live          One event stream moves every page
built   21 I21.con-restart       The console survives a kill of the daemon: it says so, comes back and shows what happened meanwhile
built   21 I21.con-now           Now shows counts, links with complete until, agents and what needs a person, each with the way there
built   21 I21.con-charts        Volume and time to answer are drawn, and stand beside it as a table
built   21 I21.con-series        The figures of charts are read in a bounded number of rows, exact where there are few, and told as estimates where not
built   21 I21.con-approve-two   An approval is decided in two windows at once: one wins, the other is told by whom
built   21 I21.con-approvals     An approval shows the whole input; the history shows who, where and how long it took
built   21 I21.con-pair          A stranger is let in or turned away in the console
built   21 I21.con-people        People shows who may talk and approve, and why: the key of the configuration or who granted it; roles and what they may do
built   21 I21.con-people-data   A person's data is exported and erased there, by an owner
built   21 I21.con-gates         Each agent, binding, host, process and channel server shows its gates with reason and the key that changes it
built   21 I21.con-strings       Connection strings are minted and rotated there, shown once
built   21 I21.con-config        The configuration in force is shown read-only with secrets masked, and its problems at their line
built   21 I21.con-config-check  An edited text is checked before it is written, with line, column and hint, and changes nothing
built   21 I21.con-outbox        Failed and unknown messages are sent again or buried, one or many at once
built   21 I21.con-outbox-many   Many at once: each is told by itself, and one that cannot be moved stops no other
built   21 I21.con-turns         The turn log is filtered by source, agent, person, state and time
built   21 I21.con-turn          A turn shows its states, attempts, tool events, cost, approvals and sends
built   21 I21.con-export        What the filter shows is exported as NDJSON and CSV, and a formula in it stays text
built   21 I21.con-verify        The ledger is verified from there
built   21 I21.con-try           Any agent is tried from there, as the operator who is signed in
built   21 I21.con-conversations Conversations are listed with search and filters, and a thread shows states, attempts, approvals, tool events and cost
built   21 I21.con-many          10,000 conversations and a 10 MB conversation are paged, and only what is in view is on the page
built   21 I21.con-step-in       A conversation is taken, written to and given back there
built   21 I21.con-keys          Everything is reached by keyboard: ? g j k y n
built   21 I21.con-axe           axe finds nothing on any page, in light, dark, wide and narrow
built   21 I21.con-inject        Script and style in names, bodies, tool inputs, file names, YAML and server names stay text
built   21 I21.con-rows-linked   Every row has an address of its own
built   21 I21.con-bench         The bench compares Now and Conversations at many turns with an empty store, as a ratio
`,
)
