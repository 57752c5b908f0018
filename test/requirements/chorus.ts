// What SPEC 8 promises: Chorus as a service, as an agent and as a library.
import { requirements } from './row.ts'

export const CHORUS = requirements(
  '8 Chorus',
  `
built   9 S8.post-shape             Service: POST {channel, message, callback, mcp} to the connection string
built   9 S8.callback-fresh         Service: callback is a fresh, unguessable URL per delivery, stored hashed
built   9 S8.callback-expires       Service: callbacks live 24 h, then answer 410
built   9 S8.mcp-scoped             Service: mcp points to Switchboard's endpoint with a bearer scoped to that session
built   9 S8.fields                 Service: channel.id is the session UUID, service the platform, context from the binding, content the plain text
built   9 S8.message-id             Service: message.id is the turn id, the same on retry
built   9 S8.error-fails            Service: an error event with no message fails the turn
built   9 S8.handed-2xx             Service: 2xx is handed
built   9 S8.retry-5xx              Service: 5xx and network faults are retried with backoff
built   9 S8.retry-429              Service: 429 is retried after Retry-After
built   9 S8.fail-4xx               Service: other 4xx fail the turn with the status
built   9 S8.events-order           Service: callback events message, tool_call, tool_result, status, error, lifecycle are taken in order of receipt
built   9 S8.events-unknown         Service: unknown event types are accepted and ignored
built   9 S8.events-malformed       Service: malformed JSON gets 400
built   9 S8.token-unknown          Service: an unknown callback token gets 404
built   9 S8.event-idempotent       Service: Idempotency-Key or event_id makes a retried event safe
built   9 S8.ndjson                 Service: NDJSON bodies with several events are accepted
built   9 S8.connect                Agent: 'switchboard chorus connect ID' mints .../inbox/sk_..., stored hashed, shown once
built   9 S8.rotate                 Agent: rotate kills the old connection string at once
built   9 S8.durable-200            Agent: a delivery is answered 200 only after it is durable
built   9 S8.repeat-id              Agent: a repeated message.id in a channel is accepted and not processed twice
built   9 S8.missing-fields         Agent: missing required fields get 400 naming them
built   9 S8.wrong-secret           Agent: a wrong secret gets 404
built   9 S8.output-order           Agent: output goes to that delivery's callback in order, retried
built   9 S8.lifecycle              Agent: lifecycle is sent first and last
built   9 S8.mcp-shapes             Agent: mcp may be absent, an object, or an array, and its tools reach the agent
built   9 S8.ssrf-addresses         URLs given by others are fetched under a guard: no private, loopback or link-local address after DNS resolution unless allowed
built   9 S8.ssrf-redirects         The guard follows no redirects
built   9 S8.ssrf-limits            The guard has time and size limits
built   9 S8.urls-not-logged        Callback, connection and MCP URLs appear in no log
built   9 S8.library                The library exports createAgent and deliver
built   9 S8.chained                Two Switchboards can be chained
built   9 I9.verify                 chorus verify tests an agent or a service, says what holds, and comes to an end whatever answers
built   9 I9.error-told             An error after the answer is told to the person, also after a restart
built   9 I9.slow-agent             A delivery that hangs delays no other conversation
built   9 I9.dead-names             Callbacks whose name servers are dead delay no other look-up of the process
built   9 I9.tools-kept             tool_call and tool_result are kept durably beside their turn, bounded, for turns show and the console
built   9 I9.tools-no-secret        What is kept or shown of a tool call holds no credential
built   9 I9.tools-in-chat          Tool calls are said in the chat only where show_tools is set
built   9 I9.tools-suffice          An agent that knows only its delivery and the tools of it can read history and roster, answer, react, and have its files
built   9 I9.blank-no-answer        A message without words answers no turn: whoever waits is told that nothing was said
`,
)
