// What issue 16 promises of the connector `http`: any agent behind a plain POST.
import { requirements } from './row.ts'

export const HTTP_AGENT = requirements(
  '16 The http connector',
  `
built   16 I16.http-post             A turn is one POST of flat JSON: session, sender, address, text, attachments, meta, context, reply_url, mcp_url, mcp_token
built   16 I16.http-signed           With a secret the POST is signed as Standard Webhooks say; a retry keeps webhook-id and renews time and signature
built   16 I16.http-secret-form      A secret that is no Standard Webhooks key is a configuration error that does not repeat it
built   16 I16.http-answers          The answer is {text}, plain text, a list of messages, NDJSON or SSE chunks
built   16 I16.http-list-one-commit  A list of messages is said in order, in one commit with the end of the turn
built   16 I16.http-stream           Chunks are shown as they come where the platform can edit, and the end is the answer
built   16 I16.http-evidence         A 2xx is seen, the answer is answered, an answer without words is told as one
built   16 I16.http-later            202, or any 2xx in mode later, means that the answer comes to reply_url
built   16 I16.http-silent-told      After a 2xx nothing is posted again: no answer within timeout (after 202 redeliver_after) is failed: agent_silent
built   16 I16.http-cut-stream       A cut stream is failed: agent_silent, and the text that came is sent, marked incomplete
built   16 I16.http-retry            Network faults, 408, 429 and 5xx are posted again with backoff and Retry-After under the same id, marked redelivery
built   16 I16.http-4xx              Any other 4xx and a redirect fail the turn with the status; a redirect is never followed
built   16 I16.http-reply            POST to reply_url takes an answer, interim messages, status, ask and files
built   16 I16.http-one-answer       An answer to a turn that was answered, failed or cancelled is refused as conflict; the same one again by its key is not
built   16 I16.http-reply-ends       An unknown reply_url is 404, an expired one 410, a bad body 400 with the field, and nothing is half done
built   16 I16.http-ask              An ask waits 25 s for its verdict, then answers 202 with an id for GET reply_url?approval=ID
built   16 I16.ask-over              Nobody is asked on behalf of a turn that is over: the question is refused as conflict
built   16 I16.deep-input            What an approver is to see is bounded however deep it is nested, and what cannot be shown is not asked about
built   16 I16.http-ask-any-node     The verdict is fetched at any node and after a restart; it reads allowed only once the agent has it
built   16 I16.http-ask-unfetched    A verdict that the agent does not fetch for ten minutes is undeliverable, and is then refused as gone
built   16 I16.http-attachments      Attachments are fetched by their url behind reply_url, and only those of the turn's own chats
built   16 I16.http-files            Files come as base64 in JSON or as multipart, and go out after the text in the same commit
built   16 I16.http-tools            mcp_token opens the tool surface for the turn's own session and binding alone, for 24 h
built   16 I16.http-guard            Private, loopback and link-local addresses and plain http are refused unless allow_private
built   16 I16.http-limits           An answer over the limit, endless, compressed, of a wrong type or no JSON fails the turn with the reason and without its URL
built   16 I16.http-bounded          At most so many requests of an agent are open at once; the rest stays queued
built   16 I16.http-crash            A crash before the 2xx makes a marked repeat, after it none, and a late answer at reply_url still counts
built   16 I16.http-stop             A stop waits for answers under way, and /stop aborts the request
built   16 I16.http-setup            agents add tries the URL live before anything is kept, and no secret is printed
built   16 I16.http-init             init --agent http --url URL tries the agent live and writes a configuration with the secret in a private file
built   16 I16.http-doctor           doctor says what is wrong with a url, an unsigned agent, and a reply_url that leads nowhere
built   16 I16.http-examples         The agents of examples/http in Python, Node and shell answer a real daemon
built   16 I16.http-n8n-zapier       The shapes that n8n and Zapier answer with are understood, or refused with the key to change
built   16 I16.http-kill             Killed with SIGKILL in mid-answer the daemon comes back, tells the person, and loses nothing
built   16 I16.http-bench            The bench prints the overhead of a turn against a bare fetch
`,
)
