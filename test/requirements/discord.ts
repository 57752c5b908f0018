// What issue 20 promises of Discord: the platform, its emulator, its set-up. Completeness itself is in completeness.ts.
import { requirements } from './row.ts'

export const DISCORD = requirements(
  '20 Discord',
  `
built   20 I20.fake-wire        The fake's REST API answers @discordjs/rest and /core as Discord does: posts, nonces, history, files, threads, commands, refusals
built   20 I20.fake-limits      The fake tells its limits in headers and refuses with 429, which the library obeys
built   20 I20.fake-gateway     The fake's gateway speaks to @discordjs/ws: identify, resume with replay, reconnect, invalid session, zombie, intents, zlib-stream
built   20 I20.resume           After a reconnect, a lost connection and a resumable invalid session the same session goes on, and what lay between comes once
built   20 I20.zombie           A connection whose beats are not answered, one without hello and one without a session are found and replaced in bounded time
built   20 I20.quiet            Beats alone restart nothing
built   20 I20.close-codes      Each close code is told for what it is: 4014 names the intent and where to switch it on, 4004 the token, and neither is hammered
built   20 I20.identify-limits  Sessions are begun one at a time with a pause between, none where the day's are used up, and one that ends at once is waited for
built   20 I20.shards           As many shards as Discord advises, each with its session; a server that is in one of them is heard once
built   20 I20.session-kept     The session is stored in the commit of what it brought: a short stop resumes and misses nothing
built   20 I20.not-stored       What cannot be stored is asked for again by a resume, and counts as heard only after the commit
built   20 I20.refused-resume   A resume that is refused after downtime with 50 messages in between misses none and repeats none
built   20 I20.three-refusals   A session that is refused again and again is given up for a new one
built   20 I20.lease            Where there are several nodes only the holder of the lease has a connection
built   20 I20.chats-in         Direct chats are direct; channels, voice channels, threads and forum posts are groups, threads under the channel that they are in
built   20 I20.mentions-in      A mention is the bot's name, a role of its, or an answer to a message of its
built   20 I20.edits-in         An edit is an edit once; previews, pins and updates that tell a part are none, or are asked for whole
built   20 I20.deletes-in       A deletion, alone or of many, comes as a deletion of each message
built   20 I20.quotes-in        An answer comes with what it quotes, also where that is gone
built   20 I20.files-in         Files and stickers are references until they are asked for; an address that ran out is asked for anew; other hosts are not fetched from
built   20 I20.embeds-in        Embeds that somebody made, forwards and polls come as text; previews do not
built   20 I20.bots-in          The bot's own words make no turn; other bots and webhooks are refused as such
built   20 I20.no-content       That the intent for the content is missing is told once, and by doctor
built   20 I20.commands         /new, /stop, /status and /help, and /ask where there is no content, are registered only when they changed; those of others stay
built   20 I20.interactions     Buttons, selects, commands and modals are answered within three seconds, whatever the commit takes, and closed after it
built   20 I20.expired-token    An interaction whose token has expired is decided all the same, and nothing breaks
built   20 I20.history          Channels, active threads and direct chats of those allowed are read back as the events the link would have brought
built   20 I20.history-rights   A channel that is not seen is no place; one whose history may not be read is told with the permission that is missing
built   20 I20.other-servers    Discord servers of others that tell less, or count their ids otherwise, are spoken to all the same
built   20 I20.markdown-out     The tree goes out as Discord's Markdown, 2,000 characters a message by its own count, fences carried over
built   20 I20.no-ping          Whatever is written, nothing that goes out can ping, and no edit does
built   20 I20.nonce            Each post carries a nonce of its row with enforce_nonce: the same row twice is one message
built   20 I20.reconcile        After a lost answer the gateway's echo or the history decides sent or absent, in forums too; of two that look alike it is not guessed
built   20 I20.components       Approvals and claims are buttons, edited when decided, without buttons; long questions are shown whole as a file
built   20 I20.threads-out      Threads are made for each message or for the rest of a long answer, where that is configured; in a forum a post is opened, one for a long text too
built   20 I20.files-out        Files go as multipart with the limit of their server
built   20 I20.typing           Typing is kept up while the agent works, and ends
built   20 I20.targets          Ids of channels, threads, people and direct chats are told apart; anything else is refused with a hint
built   20 I20.missing-rights   403 and 404 say which permission is missing in which channel, or what is gone
built   20 I20.limits           Limits of routes and the global one are kept from the headers, for that route and channel alone; requests that were refused are counted against Discord's budget
built   20 I20.revoked          A token revoked in the middle is told, loses nothing, and heals
built   20 I20.kicked           A bot that is taken out of its server goes on elsewhere, and says what happened
built   20 I20.gone-channel     A channel deleted in the middle of sending refuses that message with the reason, and nothing else
built   20 I20.bad-frames       Unknown opcodes and events, frames that are no JSON, 10 MB frames and compressed bombs harm nothing
built   20 I20.safe-names       A nickname can write no mention and no Markdown, in or out
built   20 I20.fault-matrix     Under every fault plan nothing is lost and nothing repeated
built   20 I20.deaf             A deaf link, a ghost and a gap lose nothing, and no agent sees anything twice
built   20 I20.river            Approvals, claims and notify_user run over Discord, and only approvers' taps count
built   20 I20.invite           The set-up prints the link with the exact permission bits and the intents to switch on; doctor compares
built   20 I20.import           access.json of the official Discord plugin is imported
built   20 I20.from-zero        The page works as written, against the emulator, with the built command line
built   20 I20.killed           A daemon killed in the middle resumes its session and loses and repeats nothing
`,
)
