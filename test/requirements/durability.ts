// What issue 14 demands of the store: files taken away, backup, retention, erasure.
import { requirements } from './row.ts'

export const DURABILITY = requirements(
  'Issue 14 The store under attack',
  `
built   14 I14.file-gone            A database file that is removed, replaced, cut short or linked elsewhere under the daemon is noticed within a second
built   14 I14.log-gone             So is a write-ahead log that is removed, replaced or cut short
built   14 I14.file-overwritten     So is a database or a log that is written over in place, and nothing is acknowledged on top of it
built   14 I14.no-false-alarm       Folds of the log, writes and times that others set, links and readers are no difference, in a long busy run either
built   14 I14.rescue-whole         A copy is called rescued only if it is whole and ends where the database ended; else it is said that nothing could be
built   14 I14.stop-lost            A daemon whose database was taken away stops as soon as any other
built   14 I14.no-empty-after-kill  'up' in a folder whose database is gone, or another one, stops with what was there and how to go on
built   14 I14.gone-503             From then on nothing is acknowledged: intake answers 503, readyz is not ready, status and doctor say why
built   14 I14.rescued              What the open handle holds is copied whole to <db>.rescued-TIME, every acknowledged message in it, and doctor says where
built   14 I14.rescue-elsewhere     Where there is no room or no folder beside it the copy goes elsewhere, and is tried until it succeeds
built   14 I14.file-back            A file that is put back is used again
built   14 I14.no-empty-start       'up' beside a rescued file that the database does not hold stops and says how to put it back
built   14 I14.put-back             'restore' puts a rescued file back, and every acknowledged message is there
built   14 I14.one-database         Two data folders cannot share one database file: the second is refused with the name of the first
built   14 I14.backup               'backup' copies database, attachments and ledger.key of a running daemon into one consistent folder or archive
built   14 I14.backup-whole         A backup is there whole or not at all, private to its owner, and proves its own integrity
built   14 I14.backup-keys          The secrets' key is in a backup only with --with-keys
built   14 I14.backup-postgres      On PostgreSQL 'backup' names pg_dump
built   14 I14.restore              'restore' brings a backup back, and the chain verifies
built   14 I14.restore-live         'restore' never writes into a live folder nor over a database
built   14 I14.restore-cut          What a restore or a backup that was killed left behind is removed by the next one, or by the next start
built   14 I14.prune-killed         kill -9 in the middle of pruning or of a checkpoint, before its commit and after it, leaves the audit whole, and the next run goes on; both stores
built   14 I14.restore-damaged      A backup that was changed is refused, and nothing is written
built   14 I14.restore-sends        Sends that were queued or sending become unknown, open turns are marked as repeats, links are behind
built   14 I14.retain-attachments   Retention removes attachments from disk and mirror, and they are served no more
built   14 I14.retain-inputs        Retention removes the inputs of settled approvals
built   14 I14.retain-rows          Retention of rows removes settled rows, never one that is open or younger than 30 days; counters and conservation hold
built   14 I14.retain-ledger        Ledger entries go only up to a checkpoint entry with head and counters, from which verify starts and says so
built   14 I14.audit-head           'audit head' prints the head that verify would, without verifying
built   14 I14.retain-proof         Verify tells what was pruned from what was taken by hand: rows, bodies, inputs and ledger entries
built   14 I14.retain-slices        Pruning goes in slices, and one that is cut short is harmless
built   14 I14.retain-config        Bodies, attachments, rows and ledger each have a retention; by default all is kept
built   14 I14.erase                'people erase' removes everything that a person said and what was answered, with the chain intact
built   14 I14.erase-key            After erasing a redelivery is still a duplicate, and conservation holds
built   14 I14.erase-files          Erasing removes the person's attachments on disk and in the mirror
built   14 I14.erase-nodes          Files of an erased person go from the disks of the other nodes, too: by an order that each carries out, also after it was away
built   14 I14.erase-claims         Claims on messages to an erased person, and notifications to them, lose their words
built   14 I14.export-files         'people export --to' writes a private folder with the files that the person sent; what cannot be had is named
built   14 I14.export-steps         What a model was told and answered for a person (steps of its turns) is in the export, and is erased with them, in both stores
built   14 I14.erase-owner          Erasing and exporting need the owner, and erasing asks first
built   14 I14.export               'people export' writes out everything that a person said, with or without a daemon
`,
)
