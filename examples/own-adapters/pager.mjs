// A platform of one's own: pages come in by POST with a token, and go out to a URL with the same one.
import { createGuardedFetch, equalSecrets, markVerified, SwitchboardError } from 'switchboard/adapter'
import { z } from 'zod'

const options = z
  .strictObject({
    // "x-secret": written as env:NAME, file:path or secret:NAME, and shown nowhere.
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
    // Whoever is not listed in access.allow_from is nobody.
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
      threads: false,
      edits: false,
      reactions: false,
      files: false,
      buttons: false,
      typing: false,
      // The pager knows our key: the same one twice is one page.
      idempotentSend: true,
    },
    textLimit: { size: 500, unit: 'code-points' },
    markdown: 'written',
    sendFrom: 'any',
    endpoint: {
      // The credential is in a header: whoever lacks it is refused before a byte of the body is read.
      headDecides: () => true,
      // Nothing is parsed before the credential holds.
      verify: (request) =>
        equalSecrets(String(request.headers['x-pager-token'] ?? ''), token)
          ? markVerified(request, 'pager')
          : { status: 401, body: 'who are you?' },
      async handle({ request }) {
        await intake.receive([eventOf(request, deps.clock.now())])
        // Only now: the message is stored.
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
    link: () => ({ state: intake === null ? 'connecting' : 'up' }),
    async stop() {
      intake = null
    },
  }
}

/** A page, or what could not be read: that is recorded too. */
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
