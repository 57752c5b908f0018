// What issue 36 demands of the code: nothing changes outside, and each thing is written once.
import { requirements } from './row.ts'

export const CODE_BASE = requirements(
  'Issue 36 A code base that a stranger reads with pleasure',
  `
built   36 I36.golden-json      The --json output of every command equals its golden file, or the list says why it is left out
built   36 I36.golden-api       The description of the API and the names of the metrics equal their golden files
built   36 I36.golden-text      What people read of doctor, status and lists equals its golden file
built   36 I36.golden-setup     What each set-up command asks, prints and writes equals its golden file
built   36 I36.core-order       The folders of the core import each other in one direction, and outbound knows nothing of dispatch
built   36 I36.one-parse        The Markdown of a message is parsed once per send
built   36 I36.one-server       Callers of /mcp share one MCP server object, and no call ends or answers another caller's
built   36 I36.link-loop        One loop keeps every link: lease, backoff, probes, overlap, and an end in every state
built   36 I36.link-stop        A link that is stopped ends in every state, and gives its lease back
built   36 I36.api-client       One API client judges failures by a table, and leaves the outcome open where something may have been done
built   36 I36.contract-page    The guide lists every member of the adapter contract, required ones marked, each with an example
built   36 I36.reference        The reference pages are made from the tables of the code, and are up to date
built   36 I36.limits-tested    A token of a limit is taken by whom it belongs to, and given back by what was not stored
built   36 I36.outcomes-tested  Each row of the table of open outcomes has its test
`,
)
