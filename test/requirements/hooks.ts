// What issue 17 demands: webhooks that take what senders really send, and signed posts that takers really take.
import { requirements } from './row.ts'

export const HOOKS = requirements(
  'Issue 17 Webhooks',
  `
built   17 I17.standard-interop   What the reference library of Standard Webhooks signs we take, and it takes what we sign
built   17 I17.rotation           Several keys count at once, on the way in and on the way out, so that a key can be changed with nothing lost
built   17 I17.tolerance          A signed time that is older or further ahead than the tolerance does not count
built   17 I17.bad-headers        Whatever the headers of a credential hold (twice, empty, absurd), nothing is thrown and nothing is taken
built   17 I17.ed25519            A sender that signs by Ed25519 is verified by its public key
built   17 I17.auth-forms         Each form of auth (github, standard, slack, stripe, gitlab, basic, bearer, header, url_secret, loopback) takes its sender and refuses a wrong credential
built   17 I17.auth-own-form      A form of one's own says header, prefix, encoding, hash, signed string, id, timestamp and tolerance, and is verified so
built   17 I17.auth-short-forms   secret with signature github or plain, and sender_header, mean what they meant before auth
built   17 I17.url-secret         url_secret is /hooks/ID/SECRET: 404 when wrong, and the secret is in no log, turn or answer
built   17 I17.loopback           Under loopback the sender is local; nothing forwarded, and no page of another site, counts
built   17 I17.two-signatures     Of two signatures in a header one that is right is enough; two headers of one name are none
built   17 I17.replay             A signed request that comes again within its tolerance is found by its id and repeats nothing
built   17 I17.unsigned-id        Where the signature covers a time, an id beside it makes no second message of the same request
built   17 I17.signed-place       A signed body counts only for the conversation that the configuration or the signed part names
built   17 I17.sns                SNS is verified by its certificate, fetched under the guard from Amazon's own hosts only
built   17 I17.was-401            Stripe, Svix, GitLab, Bitbucket, Jira, Shopify, Linear, Sentry, PagerDuty, Slack, Basic, a key header and a secret in the URL are taken by configuration alone
built   17 I17.recipes            Each recipe makes of three kinds of its sender's events a conversation, an id and a short text
built   17 I17.recipe-follow-ups  What belongs together (a pull request, an incident, an issue) reaches one conversation
built   17 I17.recipe-page        Each recipe has a page of about ten lines
built   17 I17.vendor-signs       Fixtures are signed by the vendor's own library where it is on npm
built   17 I17.github-session     A GitHub pull request's events reach one session in order, and its ping none
built   17 I17.when               when filters by header and field; what is filtered out is consumed: filtered, counted and not kept
built   17 I17.template           A template has conditions, loops, defaults and headers
built   17 I17.template-bounded   A template runs no code, reads no file, reaches no prototype, and ends in bounded time and size
built   17 I17.expressions        conversation, message_id and sender are expressions over body and headers
built   17 I17.challenges         Challenges are answered as each sender expects: echo of a GET, hub.challenge, url_verification, SNS confirmation
built   17 I17.lying-type         A body that is not what its type says is recorded as unparsable where structure is needed
built   17 I17.exact-numbers      A number that no double holds keeps every digit in ids, conversations and texts
built   17 I17.encodings          A body in the charset that its type names is read; a compressed one is refused, and told why
built   17 I17.foreign-event      A body without what a recipe's words are made of is recorded as unparsable, and is no turn of blanks
built   17 I17.nested             A mebibyte of nested JSON is answered and harms nobody
built   17 I17.out-standard       out.url gets posts signed as Standard Webhooks, with the same id on every try
built   17 I17.out-retried        A post that fails for now is retried by schedule, one that fails for good is failed with the status and listed
built   17 I17.out-formats        out.format writes as Slack, Discord, Teams, ntfy, Gotify and PagerDuty take it, urgency mapped
built   17 I17.out-errors         A taker that answers 200 with an error in its body is not taken for a confirmation
built   17 I17.hooks-show         hooks show prints URL, headers and the lines to paste at the sender, and no secret
built   17 I17.hooks-test         hooks test sends a fixture of a recipe through the running daemon, signed as configured, and shows each step
built   17 I17.hooks-replay       hooks replay hands a turn's message over again as a new turn, and says so
`,
)
