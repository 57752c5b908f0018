// What to paste at a sender: the URL, and how it proves itself. The options as they are written, so no secret is in it.
import type { Options } from '../../contract/index.ts'
import { NAMED_FORMS } from './signed-form.ts'

export interface PastePlace {
  readonly id: string
  /** Where this server is reached. */
  readonly base: string
  readonly options: Options
}

export function pasteLines({ id, base, options }: PastePlace): readonly string[] {
  const hook = `${base}/hooks/${encodeURIComponent(id)}`
  const auth = typeof options.auth === 'object' ? (options.auth as Options) : { type: options.auth }
  const url = auth.type === 'url_secret' ? `${hook}/SECRET` : hook
  return [
    `URL: ${url}`,
    ...proofLines(auth, options),
    ...(options.two_way === true ? [`answers: ${url}/events`] : []),
  ]
}

function proofLines(auth: Options, options: Options): readonly string[] {
  const { type } = auth
  if (options.sender_header !== undefined)
    return [`header: ${String(options.sender_header)}, which names the sender`]
  switch (type) {
    case undefined:
      return options.signature === 'plain'
        ? ['header: the secret itself (see the page)']
        : ['header: X-Hub-Signature-256, an HMAC of the body with the secret']
    case 'loopback':
      return ['no credential: it takes what this machine itself sends, and nothing that was forwarded']
    case 'standard':
      return [
        'headers: webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks), by the secret',
      ]
    case 'url_secret':
      return ['SECRET in the URL is the value of the secret']
    case 'basic':
      return [
        `header: Authorization: Basic, user ${String(auth.user ?? 'and password as the secret has them')}`,
      ]
    case 'bearer':
      return ['header: Authorization: Bearer, and the secret']
    case 'gitlab':
      return ['Secret token: the secret (header X-Gitlab-Token)']
    case 'header':
      return [`header: ${String(auth.name)}, which holds the secret`]
    case 'sns':
      return ['protocol: HTTPS, without raw message delivery; the subscription confirms itself']
    case 'hmac':
    case 'ed25519':
      return [`header: ${String(auth.header ?? 'X-Signature-Ed25519')}, the signature as auth says`]
    default: {
      const form = Object.hasOwn(NAMED_FORMS, String(type))
        ? NAMED_FORMS[type as keyof typeof NAMED_FORMS]
        : null
      return form === null ? [] : [`secret: the value of the secret; it signs by the header ${form.header}`]
    }
  }
}
