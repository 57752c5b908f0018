// What to configure at a sender: the URL, its proof, and a command to try it. Made from the options as written, so it
// contains no secret.
import type { Options } from '../../contract/index.ts'
import { RECIPES, type RecipeName } from './recipes/index.ts'
import { NAMED_FORMS } from './signed-form.ts'

export interface PastePlace {
  readonly id: string
  /** The address of this server. */
  readonly base: string
  readonly options: Options
}

export function pasteLines({ id, base, options }: PastePlace): readonly string[] {
  const hook = `${base}/hooks/${encodeURIComponent(id)}`
  const auth = authOf(options)
  if (auth.type === undefined && options.secret === undefined && options.sender_header === undefined)
    return ['nothing is to be pasted: it only posts, to out.url']
  const url = auth.type === 'url_secret' ? `${hook}/SECRET` : hook
  const { proof, curl } = proofOf(auth, options)
  return [
    `URL: ${url}`,
    ...(options.recipe === undefined ? [] : ['content type: application/json']),
    ...proof,
    ...(options.two_way === true ? [`answers: ${url}/events`] : []),
    ...(curl === null ? [] : [`by hand: curl -d 'hello' ${curl}${url}`]),
    `try it: switchboard hooks test ${id}`,
  ]
}

/** The configured proof, or the recipe's. */
function authOf(options: Options): Options {
  if (typeof options.auth === 'object' && options.auth !== null) return options.auth as Options
  const recipe = typeof options.recipe === 'string' ? RECIPES[options.recipe as RecipeName] : undefined
  const known = options.secret === undefined || options.signature !== undefined ? undefined : recipe?.auth
  return { type: options.auth ?? known ?? undefined }
}

interface Proof {
  readonly proof: readonly string[]
  /** Its part of a curl command; null: curl cannot make it. */
  readonly curl: string | null
}

function proofOf(auth: Options, options: Options): Proof {
  const oneLineProof = (line: string, curl: string | null = null): Proof => ({ proof: [line], curl })
  const { type } = auth
  if (options.sender_header !== undefined) {
    const name = String(options.sender_header)
    return oneLineProof(`header: ${name}, which names the sender`, `-H '${name}: NAME' `)
  }
  switch (type) {
    case undefined:
      return options.signature === 'plain'
        ? oneLineProof('header: X-Webhook-Secret: the secret itself', `-H "X-Webhook-Secret: $SECRET" `)
        : oneLineProof('header: X-Hub-Signature-256, an HMAC of the body with the secret')
    case 'loopback':
      return oneLineProof(
        'no credential: it takes what this machine itself sends, and nothing that was forwarded',
        '',
      )
    case 'standard':
      return oneLineProof(
        'headers: webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks), by the secret',
      )
    case 'url_secret':
      return oneLineProof('SECRET in the URL is the value of the secret', '')
    case 'basic':
      return oneLineProof(
        `header: Authorization: Basic, ${auth.user === undefined ? 'user and password as the secret has them' : `user ${String(auth.user)}`}`,
        `-u "${auth.user === undefined ? '' : `${String(auth.user)}:`}$SECRET" `,
      )
    case 'bearer':
      return oneLineProof(
        'header: Authorization: Bearer, and the secret',
        `-H "Authorization: Bearer $SECRET" `,
      )
    case 'gitlab':
      return oneLineProof(
        'secret token: the value of the secret (header X-Gitlab-Token)',
        `-H "X-Gitlab-Token: $SECRET" `,
      )
    case 'header':
      return oneLineProof(
        `header: ${String(auth.name)}, which holds the secret`,
        `-H "${String(auth.name)}: $SECRET" `,
      )
    case 'sns':
      return oneLineProof('protocol: HTTPS, raw message delivery off; the subscription confirms itself')
    case 'hmac':
    case 'ed25519':
      return oneLineProof(
        `header: ${String(auth.header ?? 'X-Signature-Ed25519')}, the signature as auth says`,
      )
    default: {
      const known = Object.hasOwn(NAMED_FORMS, String(type))
      const form = known ? NAMED_FORMS[type as keyof typeof NAMED_FORMS] : null
      const name = form?.header.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
      return form === null
        ? { proof: [], curl: null }
        : oneLineProof(`secret: the value of the secret, which signs by the header ${name}`)
    }
  }
}
