-- Partitions for the two tables that grow without end, on an existing database: stop all nodes, run it once with
-- `psql -v ON_ERROR_STOP=1 -1 -f partitions.sql`, start them again. The nodes see no difference. docs/guide/scale.md says when.

-- turns: by hash of the conversation. The duplicate check (integration, conversation, message id, edit version) then
-- stays inside one partition. By time it could not: the same message would be new in every partition.
DROP VIEW goal_turns;
ALTER TABLE turns RENAME TO turns_whole;
CREATE TABLE turns (LIKE turns_whole INCLUDING DEFAULTS) PARTITION BY HASH (integration, conversation);
DO $$ BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TABLE turns_%s PARTITION OF turns FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
  END LOOP;
END $$;
INSERT INTO turns SELECT * FROM turns_whole;
DROP TABLE turns_whole;
CREATE UNIQUE INDEX turns_message ON turns (integration, conversation, message_id, edit_version);
-- No longer unique by itself: a key must hold the columns of the partition. The sequence that gives positions is.
CREATE INDEX turns_seq ON turns (seq);
CREATE INDEX turns_source ON turns (source, seq);
CREATE INDEX turns_queued ON turns (lane, seq) WHERE state = 'queued';
CREATE INDEX turns_flight ON turns (lane, seq) WHERE state IN ('handed','seen')
  AND (reason IS NULL OR reason NOT IN ('acknowledged','one_way'));
CREATE INDEX turns_acknowledged ON turns (lane) WHERE state IN ('handed','seen') AND reason = 'acknowledged';
CREATE INDEX turns_one_way ON turns (lane) WHERE state IN ('handed','seen') AND reason = 'one_way';
CREATE INDEX turns_aside ON turns (state, seq) WHERE state IN ('refused','consumed','failed','expired');
CREATE VIEW goal_turns AS SELECT session AS goal_id, seq AS turn_index, received_at AS recorded_at,
  state AS outcome, source, agent, integration, conversation, thread, sender, message_id, reason, attempts,
  updated_at FROM turns;

-- ledger: by position, which is by time. Old ones can move to cheap disks (a tablespace) as they are; they must not be
-- dropped, for `audit verify` reads the chain from its first entry.
ALTER TABLE ledger RENAME TO ledger_whole;
ALTER TABLE ledger_whole RENAME CONSTRAINT ledger_pkey TO ledger_whole_pkey;
CREATE TABLE ledger (LIKE ledger_whole INCLUDING DEFAULTS, PRIMARY KEY (seq)) PARTITION BY RANGE (seq);
CREATE TABLE ledger_0 PARTITION OF ledger FOR VALUES FROM (MINVALUE) TO (100000000);
CREATE TABLE ledger_1 PARTITION OF ledger FOR VALUES FROM (100000000) TO (200000000);
-- Entries go here when nobody made the next partition in time: nothing is refused, but it grows.
CREATE TABLE ledger_rest PARTITION OF ledger DEFAULT;
INSERT INTO ledger SELECT * FROM ledger_whole;
DROP TABLE ledger_whole;
