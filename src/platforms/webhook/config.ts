// The options of a webhook integration, and what they come to once secrets are read.
import type { KeyObject } from 'node:crypto'
import { z } from 'zod'
import { type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { hmacKey } from '../../kit/hmac.ts'
import { optionsProblem, secret, text } from '../../kit/option-words.ts'

export const webhookOptions = z
  .strictObject({
    secret: secret('Shared secret of the HMAC (or of the plain header).').optional(),
    signature: z
      .enum(['github', 'plain'])
      .default('github')
      .describe('github: HMAC in X-Hub-Signature-256. plain: the secret itself in a header.'),
    sender_header: text(
      'Trusted header that names the sender; from loopback only, unless behind_proxy.',
    ).optional(),
    behind_proxy: z
      .boolean()
      .default(false)
      .describe('A proxy in front sets sender_header itself and lets nobody else set it.'),
    two_way: z.boolean().default(false).describe('Answers are streamed at /hooks/ID/events.'),
    template: text('How the body becomes text; {{path.to.field}} is filled from the JSON body.').optional(),
    out: z
      .strictObject({
        url: text('Where answers are posted: a URL, or a reference to one.'),
        secret: secret('Signs what is posted (X-Signature-256).').optional(),
        allow_private: z.boolean().default(false).describe('Allow private and loopback addresses.'),
      })
      .optional()
      .describe('Answers are posted to a URL.'),
  })
  .superRefine((hook, context) => {
    if (hook.secret === undefined && hook.sender_header === undefined) {
      context.addIssue({
        code: 'custom',
        path: [],
        message:
          'a webhook needs "secret" (its signature is checked) or "sender_header" (a trusted header names the sender)',
      })
    }
    if (hook.secret !== undefined && hook.sender_header !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['sender_header'],
        message: 'a webhook takes either "secret" or "sender_header", not both',
      })
    }
    if (hook.two_way && hook.out !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['out'],
        message: 'a webhook takes either "two_way" (a stream) or "out" (a URL), not both',
      })
    }
    if (hook.sender_header !== undefined && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(hook.sender_header)) {
      context.addIssue({
        code: 'custom',
        path: ['sender_header'],
        message: 'is not the name of an HTTP header',
      })
    }
    const url = hook.out?.url
    if (url !== undefined && !/^(https?:\/\/|env:|file:|secret:)/.test(url)) {
      context.addIssue({
        code: 'custom',
        path: ['out', 'url'],
        message: 'expected a URL that starts with http:// or https://, or a reference to one',
      })
    }
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
  if (!parsed.success) throw invalid(id, optionsProblem(parsed) ?? 'malformed')
  const { secret: shared, signature, sender_header, behind_proxy, template, two_way, out } = parsed.data
  return {
    id,
    credential:
      shared === undefined
        ? { kind: 'header', header: (sender_header ?? '').toLowerCase(), behindProxy: behind_proxy }
        : sharedSecret(deps.secret(shared), signature),
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
