// What SPEC 12 and 13 promise: store, ledger, secrets, several machines.
import { requirements } from './row.ts'

export const STORE = requirements(
  '12 Store, ledger, secrets',
  `
built   2 S12.sqlite-wal            SQLite runs embedded in WAL mode
built   2 S12.one-suite             One contract suite runs on SQLite and on PostgreSQL
built   2 S12.migrations            Migrations are numbered and forward-only: an old database is brought up, a newer one is refused
built   2 S12.goal-turns            The view goal_turns has the indexed source (platform:integration, channel:<server>, schedule:<id>)
built   2 S12.append-only           Turn log, refusals, sends and changes are append-only
built   2 S12.chain                 The ledger is an HMAC chain per node and boot over digests of the bodies
built   2 S12.chain-binds           Each new chain binds the head before it
built   2 S12.verify-edit           audit verify finds an edited entry
built   2 S12.verify-gap            audit verify finds a missing entry
built   2 S12.verify-tail           audit verify finds a cut tail
built   2 S12.lost-key              A ledger sealed with another key (ledger.key lost) is told at every start and by doctor
built   2 S12.verify-expect         audit verify --expect HEAD checks a head kept elsewhere
built   2 S12.counters-in-commit    Counters live in the same commit, so status never counts rows
built   2 S12.export                The ledger is exported as NDJSON and CSV
built   3 S12.ledger-changes        Approvals, access changes and configuration changes are in the ledger
built   4 S12.ledger-notifications  Notifications are in the ledger
built   3 S12.secrets-encrypted     Secrets are encrypted with AES-256-GCM
built   3 S12.key-source            The key comes from SWITCHBOARD_KEY or a key file of mode 0600
built   3 S12.key-file-mode         A key file that others can read is refused
built   3 S12.rotate                'switchboard secrets rotate' re-encrypts under a new key, and the old one opens nothing
built   4 S12.integration-creds     Integration credentials in the store are encrypted
built   3 S12.minted-hashed         Tokens that we mint are stored as hashes
built   9 S12.given-encrypted       Connection strings and callback tokens given to us are encrypted, and pruned when done
built   3 S12.no-secret-printed     No secret in logs, errors, status or audit: one is planted and everything printed is searched
built   2 S12.retention             Message bodies can be pruned while the ledger keeps counting and verifying
built   3 S12.retention-config      Retention is configurable
`,
)

export const MACHINES = requirements(
  '13 Several machines',
  `
built   6 S13.http-on-all           Any number of nodes run the same configuration; HTTP on all
built   6 S13.lease                 Pollers and sockets run under a lease per integration
built   6 S13.limits-shared         Rate limits are shared
built   6 S13.wake-up               Wake-up is by LISTEN/NOTIFY
built   2 S13.lane-lock             The lane row is the lock: owner, fencing token, until; messages are never locked singly
built   2 S13.settle-token          Every settle needs the token: a stale one writes nothing
built   6 S13.frozen-node           A frozen node that wakes up can write nothing
built   6 S13.reachable-lanes       A node claims only lanes whose agent it can reach (attachments are rows)
built   0 S13.sessions-stay         claude-code and acp sessions stay with the node that holds their files
built   6 S13.verdict-across        A verdict given on node A reaches the agent on node B
built   6 S13.browser-across        A browser on A talks to an agent on B
built   6 S13.node-dies             A node that dies loses nothing; its leases and lanes move within 15 s
built   6 S13.same-suite            Same semantics, same suite as SQLite
`,
)
