// What the first issues demand beyond SPEC: faults, properties, the repository, the browser.
import { requirements } from './row.ts'

export const RIVER = requirements(
  'Issue 2 The river',
  `
built   2 I2.start                  npm start runs the embedded default and says where it listens
built   2 I2.readme-curl            The README's curl line gets an answer that shows on the event stream
built   2 I2.restart-as-it-was      Killed and started again, everything is found as it was
built   2 I2.library-door           The subpath exports of the package load
built   2 I2.suite-platform         A platform suite under src/testing/ runs against any adapter factory
built   2 I2.suite-connector        A connector suite under src/testing/ runs against any connector factory
built   2 I2.suite-store            A store suite under src/testing/ runs against any store factory
built   2 I2.house                  The rooms and doors are re-derived from the import statements
built   2 I2.requirements           A promise marked built without a proof, and a citation of no promise, fail the tests; what is pending is printed
built   2 I2.postgres-real          The store suite runs against a real PostgreSQL that the tests start
built   2 I2.group-commit           The verbs of one loop turn are one commit
built   2 I2.neighbour-conflict     One verb's conflict never rolls back its neighbours
built   2 I2.property-model         Random verb sequences give the same as a small in-memory model, on both stores
built   2 I2.lane-fencing           Lane rows carry fencing tokens that only grow
built   2 I2.seed-curl              The curl lines of the channels seed work against /hooks/demo
built   2 I2.demo-answers           demo answers a message
built   2 I2.demo-deploy            demo: 'deploy' asks for an approval and then "runs" it
built   2 I2.demo-remind            demo: 'remind me in 5s' speaks first later
built   2 I2.demo-remind-restart    demo: a reminder survives a restart
built   2 I2.demo-help              demo: 'help' says what it can do
built   2 I2.cli-tables             Commands print tables for people
built   2 I2.no-color               NO_COLOR is respected
built   2 I2.structured-logs        Logs are structured: one JSON object a line
built   2 I2.drain-sigterm          SIGTERM drains: what is in flight is finished or kept, and the exit code is 0
built   2 I2.kill9-random           kill -9 at random 20 times while 2,000 messages flow: nothing acknowledged is lost
built   2 I2.kill9-order            After them the order within a session holds
built   2 I2.kill9-marked           After them every repeat is marked
built   2 I2.crash-points           kill -9 at each named crash point (before and after commit, hand-over, send, receipt, settle) loses nothing
built   2 I2.pragma-synchronous     PRAGMA synchronous on the live connection is FULL
built   2 I2.strace-fdatasync       fdatasync returned before the 200 was written
built   2 I2.disk-full              Disk full: a clear error, no false "received", and it goes on when there is room
built   2 I2.locked-db              A locked database: a clear error, no false "received"
built   2 I2.corrupt-db             A corrupt database: a clear error at start
built   2 I2.two-daemons            Two daemons on one data folder: the second says who holds it
built   2 I2.bench-json             npm run bench --json prints one object with the named figures
`,
)

export const PEOPLE = requirements(
  'Issue 3 People and policy',
  `
built   3 I3.schema-everything      The schema covers everything that exists, with titles and defaults for editors
built   3 I3.nexo-yaml              The YAML of the nexo seed loads as it stands
built   3 I3.roles                  Roles owner, approver and operator each open what they name and nothing more
built   3 I3.strangers-learn        A stranger learns nothing: not what agents exist, not who is allowed
built   3 I3.strangers-10000        10,000 strangers do not fill the store, lock the owner out or get more than their replies
built   3 I3.secrets-running        Secrets are set, listed, removed and rotated while the daemon runs
built   3 I3.secrets-planted        Secrets planted everywhere are in no log line, error, JSON output, page or audit export
built   3 I3.web-reload             web: history survives a reload of the page
built   3 I3.web-delivery-state     web: the delivery state stands under each message
built   3 I3.web-markdown-safe      web: Markdown is rendered safely: no script, no javascript: link, no raw HTML
built   3 I3.web-choices            web: approval and choice buttons work
built   3 I3.web-attachment-limit   web: attachments up to a limit; over it a clear error
built   3 I3.web-reconnect          web: a reconnect loses nothing
built   3 I3.web-windows            web: several windows stay in step
built   3 I3.web-token-link         web: a link with the token is printed at start
built   3 I3.web-csp                web: a strict Content-Security-Policy
built   3 I3.web-phone              web: works on a narrow screen, light and dark
built   3 I3.browser-send           Browser: a message is sent and answered
built   3 I3.browser-approve        Browser: an approval is given in a second window
built   3 I3.browser-kill           Browser: the daemon is killed and comes back, and nothing is lost
built   3 I3.inject-name            Injection through names is harmless
built   3 I3.inject-body            Injection through bodies is harmless
built   3 I3.inject-file-name       Injection through file names is harmless
built   3 I3.inject-tool-input      Injection through tool inputs is harmless
built   3 I3.dns-rebinding          A foreign Host (DNS rebinding) is refused on every page and API
built   3 I3.foreign-origin         A foreign Origin is refused on every page and API
built   3 I3.link-expired           An expired link opens nothing
built   3 I3.link-replayed          A replayed one-time link opens nothing
built   3 I3.verdict-non-approver   A verdict from a non-approver does not count
built   3 I3.verdict-group-member   A verdict from a group member who is no approver does not count
built   3 I3.verdict-decided        A verdict on a decided approval changes nothing
built   3 I3.verdict-expired        A verdict on an expired approval changes nothing
built   3 I3.verdict-other-agent    A verdict on another agent's approval needs an approver of that agent
built   3 I3.verdict-two-at-once    Two verdicts at once: one counts, the other is told
built   3 I3.yaml-bomb              A YAML bomb is refused in bounded time and memory
built   3 I3.yaml-duplicate-keys    Duplicate keys are an error with line and column
built   3 I3.yaml-wrong-types       Wrong types are errors with line and column
built   3 I3.break-and-told         A broken file is told with its place while the daemon goes on
`,
)

export const SENDING_TRUTH = requirements(
  'Issue 4 Sending with truth',
  `
built   4 I4.ten-thousand           10,000 sends through a plan that loses 10 % of the responses: every row settled and truthful, visible duplicates printed
built   4 I4.sink-faults            The web platform and a signed webhook sink as targets under 429, 500, time-out after accept and reset
built   4 I4.stored-integrations    Integrations are kept in the encrypted store, hot-applied, and the file's ids are refused
`,
)

export const TELEGRAM = requirements(
  'Issue 5 Telegram and the kit of fakes',
  `
built   5 I5.fault-matrix           Telegram under every fault plan: nothing is lost, repeats only where it cannot tell and then labelled; the matrix is printed
built   5 I5.second-poller          A second poller (409) is found and told, never fought
built   5 I5.media-groups           An album is one message with all its attachments
built   5 I5.attachments            Attachments of each kind are fetched after the gate, size-capped, under safe names, inside the integration's folder
built   5 I5.flood-limits           Telegram's flood limits per chat, per group and overall are kept beforehand
built   5 I5.typing                 Typing is kept alive while the agent works
built   5 I5.fault-plan             Faults of a fake platform are data, counted or drawn from a seed, and checked when they come from a file
built   5 I5.person                 A person's side of the fake can be scripted: write, reply, tap, react, edit, send files
built   5 I5.kill9-telegram         Telegram to the demo agent and an approval by button, across a kill -9 at each step
built   5 I5.kill9-claim             notify_user with claim over Telegram: the reply or tap reaches the session that spoke, across kill -9
`,
)
