// The options of a webhook integration, and what they come to once secrets are read.
import type { KeyObject } from 'node:crypto'
import { z } from 'zod'
import { type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { hmacKey } from '../../kit/index.ts'

export const webhookOptions = z
  .strictObject({
    secret: z.string().min(1).optional().describe('Reference to the shared secret.'),
    signature: z
      .enum(['github', 'plain'])
      .default('github')
      .describe('github: HMAC in X-Hub-Signature-256. plain: the secret itself in a header.'),
    sender_header: z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)
      .optional()
      .describe('Trusted header that names the sender; from loopback only, unless behind_proxy.'),
    behind_proxy: z
      .boolean()
      .default(false)
      .describe('A proxy in front sets sender_header itself and lets nobody else set it.'),
    two_way: z.boolean().default(false).describe('Answers are streamed at /hooks/ID/events.'),
    template: z.string().min(1).optional().describe('Text made from the body: {{repository.full_name}}.'),
    out: z
      .strictObject({
        url: z.string().min(1),
        secret: z.string().min(1).optional(),
        allow_private: z.boolean().default(false),
      })
      .optional()
      .describe('Answers are posted to a URL, signed X-Signature-256.'),
  })
  .describe('Messages by POST /hooks/ID.')

export type Credential =
  | { readonly kind: 'github'; readonly secret: string; readonly key: KeyObject }
  | { readonly kind: 'plain'; readonly secret: string }
  | { readonly kind: 'header'; readonly header: string; readonly behindProxy: boolean }

export type Outward =
  | { readonly kind: 'none' }
  | { readonly kind: 'stream' }
  | {
      readonly kind: 'post'
      readonly url: string
      readonly key: KeyObject | null
      readonly allowPrivate: boolean
    }

export interface WebhookConfig {
  readonly id: string
  readonly credential: Credential
  readonly template: string | null
  readonly outward: Outward
}

/** Reads and checks the options. Throws `config_invalid` naming the key. */
export function readConfig(deps: Pick<PlatformDeps, 'integration' | 'secret'>): WebhookConfig {
  const { id, options } = deps.integration
  const parsed = webhookOptions.safeParse(options)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalid(id, `${issue?.path.join('.') || 'options'}: ${issue?.message ?? 'malformed'}`)
  }
  const { secret, signature, sender_header, behind_proxy, template, two_way, out } = parsed.data
  if ((secret === undefined) === (sender_header === undefined)) {
    throw invalid(
      id,
      'give either secret (a signature is checked) or sender_header (a trusted header), not both',
    )
  }
  if (two_way && out !== undefined)
    throw invalid(id, 'give either two_way (a stream) or out (a URL), not both')
  return {
    id,
    credential:
      secret === undefined
        ? { kind: 'header', header: (sender_header ?? '').toLowerCase(), behindProxy: behind_proxy }
        : sharedSecret(deps.secret(secret), signature),
    template: template ?? null,
    outward: out === undefined ? { kind: two_way ? 'stream' : 'none' } : post(out, deps.secret),
  }
}

function sharedSecret(secret: string, signature: 'github' | 'plain'): Credential {
  return signature === 'github' ? { kind: 'github', secret, key: hmacKey(secret) } : { kind: 'plain', secret }
}

function post(
  out: { readonly url: string; readonly secret?: string | undefined; readonly allow_private: boolean },
  read: (reference: string) => string,
): Outward {
  return {
    kind: 'post',
    url: /^(?:env|file|secret):/.test(out.url) ? read(out.url) : out.url,
    key: out.secret === undefined ? null : hmacKey(read(out.secret)),
    allowPrivate: out.allow_private,
  }
}

function invalid(id: string, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `webhook ${id}: ${problem}`)
}
