// What issue 14 demands against attackers: rights, limits, credentials, files.
import { requirements } from './row.ts'

export const CLOSED_DOORS = requirements(
  'Issue 14 Nobody in or out',
  `
built   14 I14.revoked-turn          A queued turn, also one put back, whose sender, conversation, integration or binding is no longer admitted ends as refused: revoked at hand-over, final, with ledger and counters
built   14 I14.judged-first          A turn whose sender is no longer admitted is judged before it is handed: nobody reads of it that it was handed, no typing is shown, no file of it is fetched
built   14 I14.revoked-leftover      What a former owner of a lane left in flight, and no agent confirmed, is judged before it is offered again or given up
built   14 I14.revoked-counts        Conservation holds over turns that were revoked, in both stores, and audit verify finds nothing
built   14 I14.revoked-not-mention   Mentions and limits are not asked again at hand-over
built   14 I14.revoked-send          A send that is no longer allowed, replies included, ends as failed: not_allowed or integration_missing; pairing codes are exempt
built   14 I14.revoked-signs         What an agent does (status, tools, partial text) for a sender who is no longer admitted is not shown to them
built   14 I14.revoked-agreed        A node whose configuration differs from another live node's refuses nothing for good: what it does not admit waits
built   14 I14.no-right-by-pairing   A caller who may not approve makes nobody an approver by approving a pairing
built   14 I14.no-right-by-chorus    A connection string, also a rotated one, is given only to a caller who has what it lets speak
built   14 I14.no-right-by-secret    Secrets and integrations of credentials are replaced only by a caller who has the rights that they carry
built   14 I14.rights-table          Every route of the API is in a table of roles, and no role gains by a call what it lacks
built   14 I14.limit-defaults        sender_limit 20/s burst 500, flood_limit 200/s burst 2000 an integration, strangers 1/s burst 30
built   14 I14.stranger-bucket       Strangers draw from a bucket of their own and take nothing of the known senders'
built   14 I14.unproven-bucket       What only bears a known sender's name, and is not proven to be theirs, draws from the strangers' bucket, and they are not written to for it
built   14 I14.limit-told            Over a limit HTTP gets 429 with Retry-After; elsewhere a known sender is told once
built   14 I14.limit-doctor          doctor names limits that are lifted
built   14 I14.stream-gate           A stream is opened only for a sender who is admitted, and the places are capped per sender
built   14 I14.body-credential       Where a header decides, the credential is looked at before the body is read
built   14 I14.body-budget           Bytes of bodies in flight have a budget per listener; beyond it 503 with Retry-After
built   14 I14.body-source           Of those who proved nothing one source takes a quarter of their half of the bytes, unless it speaks for many
built   14 I14.connection-budget     Connections of a listener are capped, and a slow body is ended
built   14 I14.source-places         One source cannot take all connections of a listener that others reach
built   14 I14.revoked-meanwhile     A credential that was taken back while its body came in is refused, at every door
built   14 I14.events-places         /events has so many places for one principal
built   14 I14.listen-gate           A web session whose sender may not speak any more neither streams, reads, uploads nor makes links; an open stream ends, on a hook too
built   14 I14.proxy-check           check warns of a sender_header that public_url makes refuse everybody
built   14 I14.forwarded-not-near    With public_url set, or any header of a proxy present, nothing is loopback
built   14 I14.host-malformed        A malformed Host is refused everywhere
built   14 I14.host-once             Two Host or two Authorization headers are refused at every door: whoever stands in front may have judged the other one
built   14 I14.metrics-host          /metrics is refused under a name that is not ours, as every page is
built   14 I14.notify-credential     Without a credential /mcp/notify says 401 whatever the body is
built   14 I14.position-canonical    A Last-Event-ID that the stream never gave is refused: repeated, unordered or impossible holes
built   14 I14.attach-agent-gone     A token of an agent that is not configured is refused before the WebSocket opens
built   14 I14.prompt-no-group       A request that names no chat is shown in no group unless groups.ID.approvals is true
built   14 I14.command-own-name      A command addressed to another bot is not obeyed; only our own name or none counts
built   14 I14.wrong-credential      A wrong credential is counted, and in the ledger once a source and minute
built   14 I14.wrong-throttled       A source of many wrong credentials is answered 429 for a moment, while a right credential from there still passes
built   14 I14.send-roots            Only files under send_roots are attached: the configuration's folder, a local host's folder, the temporary folder
built   14 I14.send-never            The configuration, keys, file: secrets and dot-folders of home are never attached, by no path, link or race
built   14 I14.folder-mode           A data folder that others may write to is refused or mended, and told
built   14 I14.upload-quota          Uploads that no message took have a quota per sender and expire
built   14 I14.upload-share          Many senders cannot take all the room of uploads that no message took: each has a share, and who has more gives way
built   14 I14.download-quota        Files fetched from Telegram have a quota, and the oldest go first
built   14 I14.yaml-linear           A long quoted line in YAML takes time that grows with its length
built   14 I14.pending-ids           Ids of pending approvals are told to approvers only
built   14 I14.doctor-security       doctor --security judges exposure, tokens, modes, limits, open groups, unsigned hooks and unverified plugins, each with severity, key and fix
built   14 I14.token-use             The token table says when a token was used last, within an hour, written seldom and never while a request waits; token list shows it
built   14 I14.token-unused          doctor --security names tokens that were never used, or not for long, and says where that is not known
built   14 I14.secrets-gone          integrations remove takes the secrets along that were kept for that integration alone, and names those that nothing refers to any more
built   14 I14.doctor-fix            doctor --security --fix mends what is safe to mend, and says what it did
built   14 I14.asks-per-turn         At most ten questions of one turn wait for a person at once; one more is refused as rate_limited, and the same question again is not
built   14 I14.status-bounded        A status is cut to a line before anybody is shown it, and one that is no line at all is refused at reply_url
built   14 I14.security-modules      doctor --security lists what a module calls open: senders that nothing proves, connections without TLS, unsigned posts, a recipe whose secret travels
built   14 I14.attack-routes         Every route is tried with every kind of credential, from a table that a new route without a row fails
built   14 I14.attack-odd            Paths that are spelled another way, odd methods, and streams asked for by HEAD reach nothing
built   14 I14.attach-rights         An attachment ends when the right that opened it ends, not only its token
built   14 I14.attack-ssrf           A hundred forms of private addresses do not pass the guard
built   14 I14.attack-paths          A hundred forms of foreign paths reach no file
built   14 I14.attack-bodies         Slow and huge bodies cost neither memory nor the next one's place
built   14 I14.attack-verdicts       Of verdicts that race one wins, and nobody's who may not
built   14 I14.attack-markdown       Hostile Markdown is read in linear time and stays text
`,
)
