// What issue 23 demands of the way of a message: PostgreSQL, agents behind HTTP, hosts, the start.
import { requirements } from './row.ts'

export const WHOLE_WAY = requirements(
  'the whole way, fast',
  `
built   23 I23.pg-plans         With many rows in the tables no statement that a message costs on PostgreSQL reads a table whole
built   23 I23.pg-trips         On PostgreSQL many messages take as many statements as few, and a commit of all steps four round trips
built   23 I23.pg-waves         Verbs of a commit that need nothing of each other are asked side by side; who touches the same lane comes behind
built   23 I23.pg-born          On PostgreSQL what a commit brings and takes is written once, as what became of it, and one message that two receive at once is one turn
built   23 I23.pg-notify        A commit notifies nobody: hints go out behind it, and where some were lost the others hear that they missed some
built   23 I23.pg-lists         A list of texts or numbers reaches PostgreSQL as it was given, whatever is in it
built   23 I23.told-first       What a commit brings is told in the ledger before what the same commit moves, also where repeats come with it
built   23 I23.held-look        A turn from a place that nobody ever held is handed over without looking for words of a takeover
built   23 I23.lone-commits     A lone message is three commits: received and handed over with its credentials; answered and being sent; sent, which shares the next one
built   23 I23.sqlite-planned   On SQLite a statement is planned once, whatever limit and however short a list is bound to it
built   23 I23.patient-pressure Nothing is held back for intake where people wait for their answers before they speak again
built   23 I23.kept-connections A connection to an agent is used again for a moment, for the name and the addresses that it was checked for alone
built   23 I23.pg-end-to-end    Answered end to end, one node on PostgreSQL does at least 0.6 of one on SQLite
pending 23 I23.pg-received      Received, PostgreSQL does at least 0.8 of SQLite
pending 23 I23.pg-claims        Claims of lanes on PostgreSQL are at least 0.6 of those on SQLite
pending 23 I23.pg-nodes-cpu     Three nodes cost at most 1.15 times the CPU time a message of one
pending 23 I23.chorus-one       A lone message to a Chorus agent and back takes at most 5 times a bare loop
built   23 I23.chorus-many      256 conversations with Chorus agents do at least 0.15 of a bare loop
built   23 I23.held-lookup      What is asked of the turns that a host holds costs the same however many it holds
built   23 I23.rooms-dealt      The places of a host are dealt to the conversations that wait, so that one commit fills them
built   23 I23.evidence-together Evidence of many turns is one commit, and frames of one turn of the loop are one write
pending 23 I23.host-stdio       A host over stdio gets at least 0.25 of what a bare server pushes, from the inbox
pending 23 I23.hosted-servers   Hosted channel servers bring at least 0.45 of what a bare client reads into the inbox
pending 23 I23.intake           Intake is at least 0.65 of a bare server with the agent absent, 0.40 while it drains
built   23 I23.ready            A start is ready within 350 ms and status answers within 150 ms
built   23 I23.few-files       A start, status and a host's shim load few files, and no package that is not used; errors of modules of others keep their code
built   23 I23.field-read       A template of a hook that is one field alone is read without the engine, and says the same
`,
)
