// What issue 22 demands of the connector acp: any agent that speaks the Agent Client Protocol over stdio.
import { requirements } from './row.ts'

export const ACP = requirements(
  'Issue 22 The connector acp',
  `
built   22 I22.acp-session      One process a session, started when a message comes; a turn is handed over with session/prompt
built   22 I22.acp-updates      Text after the last tool is the answer; plan and tool calls are status and events, thoughts are hidden
built   22 I22.acp-permission   A permission request becomes an approval with the whole input merged by its call; yes and no are chosen by kind, and for one call
built   22 I22.acp-cancel       /stop sends session/cancel and answers every open permission as cancelled, whatever stop reason comes back
built   22 I22.acp-files-out    Pictures, sound and texts go along as the agent's capabilities allow; the rest is named
built   22 I22.acp-mcp          The session is handed Switchboard's own tools over HTTP with a token of that session alone
built   22 I22.acp-load         A session is taken up by session/load after idling, a restart or a crash, and what it replays is not said again
built   22 I22.acp-resume       session/resume is preferred where nothing has to be looked up
built   22 I22.acp-lost         Where the agent no longer has the session a new one begins, and the person is told
built   22 I22.no-tool-twice    After a kill a seen turn is continued: finished tools are named as not to be run again, unfinished ones as unknown
built   22 I22.acp-not-begun    A message that the agent's memory lacks comes again, marked as a repeat
built   22 I22.acp-maybe        Where the agent does not tell what it remembers the message is marked as one that may have come
built   22 I22.acp-asked        Where nothing can be known a person is asked whether the message is begun anew, and no ends it
built   22 I22.acp-auth         An agent that wants a sign-in is told with the ways to do it; a configured one is used
built   22 I22.acp-doors        Files and commands of the client are closed unless the configuration opens them, and then only within cwd
built   22 I22.acp-setup        init and agents add start it, ask who it is, and say whether somebody has to sign in
built   22 I22.missing          acp: a program that is missing is told with the install hint, and the agent is away
built   22 I22.wrong-protocol   acp: one of another protocol version is away with the reason
built   22 I22.garbage          acp: banners, broken lines, unknown updates and requests of its own do no harm
built   22 I22.huge-line        acp: a line without end ends the process, and the turn says why
built   22 I22.huge-answer      acp: a huge answer is cut, and says so
built   22 I22.errors           acp: an error, a refusal and a limit are told in the agent's words
built   22 I22.exit-in-turn     acp: an exit in mid-turn gives the turn back, and it goes on in a new process
built   22 I22.hang             acp: a hang is found by silence and a probe, an endless turn by its time, and the person is told
built   22 I22.stubborn         acp: one that ignores SIGTERM, outlives its input or forks is gone with its family
built   22 I22.own-environment  acp: it has only the listed environment, and no secret of it is shown
built   22 I22.max-processes    acp: the longest idle process makes room; where none is idle the turn waits
built   22 I22.idle             acp: an idle process ends, and the next message takes its session up
built   22 I22.approval-killed  acp: a permission that was never given is not told as begun after a kill
built   22 I22.acp-daemon       Through a real daemon: an answer, an approval, a stop, kill -9 in mid-turn and in mid-approval, and no tool twice
built   22 I22.acp-browser      From the web chat in a browser: an answer, a permission by its button, a stop, and kill -9 in mid-turn
built   22 I22.acp-nodes        A session stays with the node that holds its memory; that node gone, the person is told that /new begins another
built   22 I22.acp-new          A new session of a chat ends the process of the old one
built   22 I22.acp-real         Real ACP agents of others answer initialize, begin a session and are ended cleanly
`,
)
