// An example platform. Pages come in by POST with a token, and go out to a URL with the same token.
import { createGuardedFetch, equalSecrets, markVerified, SwitchboardError } from 'switchboard/adapter'
import { z } from 'zod'

const options = z
  .strictObject({
    // "x-secret": the file holds env:NAME, file:path or secret:NAME. The value is shown nowhere.
    token: z.string().meta({ description: 'What both sides show each other.', 'x-secret': true }),
    url: z.url().describe('Where pages go.'),
  })
  .describe('A pager.')

export const version = '1.0.0'

export const platforms = [
  {
    name: 'pager',
    options,
    docs: 'https://example.com/pager',
    // Only senders in access.allow_from may speak.
    defaultAccess: { dm: 'allowlist' },
    create: (deps) => createPager(deps),
  },
]

/** @param {import('switchboard/adapter').PlatformDeps} deps */
export function createPager(deps, { timeoutMs = 10_000 } = {}) {
  const { url } = deps.integration.options
  const token = deps.secret(deps.integration.options.token)
  const fetch = createGuardedFetch(deps)
  let intake = null

  return {
    abilities: {
      textLimit: { size: 500, unit: 'code-points' },
      // The pager knows our key. The same key twice is one page.
      idempotentSend: true,
    },
    endpoint: {
      // The credential is in a header, so a wrong one is refused before the body is read.
      headDecides: () => true,
      // Parse nothing before the credential is verified.
      verify: (request) =>
        equalSecrets(String(request.headers['x-pager-token'] ?? ''), token)
          ? markVerified(request, 'pager')
          : { status: 401, body: 'who are you?' },
      async handle({ request }) {
        await intake.receive([eventOf(request, deps.clock.now())])
        // The message is stored now, so the answer is true.
        return { status: 200, body: 'received' }
      },
    },
    async start(given) {
      intake = given
    },
    async send({ to, op, key }) {
      if (op.kind !== 'text' && op.kind !== 'prompt')
        throw new SwitchboardError('platform_rejected', `a pager shows no ${op.kind}`)
      const { status, headers } = await fetch({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-pager-token': token, 'idempotency-key': key },
        body: JSON.stringify({ to: to.conversation, text: op.text }),
        timeoutMs,
        maxResponseBytes: 65_536,
        allowPrivate: true,
        allowHttp: true,
      })
      if (status === 429)
        throw new SwitchboardError('rate_limited', 'the pager is busy', {
          retryAfterMs: Number(headers['retry-after'] ?? 1) * 1000,
        })
      if (status >= 500) throw new SwitchboardError('platform_unavailable', `the pager answered ${status}`)
      if (status >= 300) throw new SwitchboardError('platform_rejected', `the pager answered ${status}`)
      return { platformIds: [key] }
    },
    async stop() {
      intake = null
    },
  }
}

/** Returns a message, or an `unparsable` event, which is recorded too. */
function eventOf({ body }, at) {
  const common = { chat: 'direct', at }
  try {
    const { id, from, text } = JSON.parse(Buffer.from(body).toString('utf8'))
    if (![id, from, text].every((one) => typeof one === 'string' && one !== ''))
      throw new Error('a field is absent')
    return { kind: 'message', ...common, conversation: from, sender: { id: from }, messageId: id, text }
  } catch {
    return {
      kind: 'unparsable',
      ...common,
      conversation: 'pager',
      sender: { id: 'pager' },
      problem: 'not a page',
    }
  }
}
