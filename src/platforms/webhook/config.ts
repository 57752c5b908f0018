// The options of a webhook integration, and their values once secrets are read.
import { z } from 'zod'
import { asSwitchboardError, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { optionsProblem, text } from '../../kit/option-words.ts'
import { type Auth, readAuth } from './auth.ts'
import { type AuthOptions, authOptions, KEYLESS, secrets } from './auth-options.ts'
import { type Meaning, type MeaningOptions, readMeaning } from './meaning.ts'
import { outOptions, type Posting, readOut } from './out-options.ts'
import { RECIPE_NAMES, RECIPES } from './recipes/index.ts'
import { whenOptions } from './when.ts'

export const webhookOptions = z
  .strictObject({
    auth: authOptions,
    secret: secrets('The key of "auth"; alone: of the GitHub signature (or of the plain header).').optional(),
    signature: z
      .enum(['github', 'plain'])
      .optional()
      .describe('Without "auth". github: HMAC in X-Hub-Signature-256. plain: the secret itself in a header.'),
    verify_token: secrets('What hub.verify_token must be, where a sender asks before it sends.').optional(),
    sender_header: text(
      'Trusted header that names the sender; from this machine only, unless behind_proxy.',
    ).optional(),
    behind_proxy: z
      .boolean()
      .default(false)
      .describe('A proxy in front sets sender_header itself and lets nobody else set it.'),
    two_way: z.boolean().default(false).describe('Answers are streamed at /hooks/ID/events.'),
    recipe: z
      .enum(RECIPE_NAMES)
      .optional()
      .describe('What the events of a known sender mean: text, conversation and id.'),
    when: whenOptions,
    template: text(
      'How the body becomes text, in Liquid: {{ path.to.field }}, {{ headers["x-event"] }}.',
    ).optional(),
    conversation: text('Which conversation it belongs to, as a template over body and headers.').optional(),
    message_id: text('The id that stays the same when it is sent again, as a template.').optional(),
    sender: text('Who sent it, as a template: the id that access is judged by.').optional(),
    out: outOptions,
  })
  .superRefine((hook, context) => {
    const wrong = templateProblem(hook)
    if (wrong !== null) context.addIssue({ code: 'custom', path: wrong.path, message: wrong.message })
    for (const { path, message } of authProblems(hook)) context.addIssue({ code: 'custom', path, message })
    if (hook.sender !== undefined && hook.sender_header !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['sender'],
        message: 'a webhook takes either "sender" or "sender_header", not both',
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
  })
  .describe('Messages by POST /hooks/ID.')

export type Outward = { readonly kind: 'none' } | { readonly kind: 'stream' } | Posting

export interface WebhookConfig {
  readonly id: string
  readonly auth: Auth
  readonly verifyTokens: readonly string[]
  /** Null: the body is the message. */
  readonly meaning: Meaning | null
  readonly outward: Outward
}

/** Reads and checks the options. Throws `config_invalid` naming the key. */
export function readConfig(deps: Pick<PlatformDeps, 'integration' | 'secret'>): WebhookConfig {
  const { id, options } = deps.integration
  const parsed = webhookOptions.safeParse(options)
  if (!parsed.success) throw invalid(id, optionsProblem(parsed) ?? 'malformed')
  const { secret: shared, two_way, out } = parsed.data
  const texts = (references: string | readonly string[] | undefined) =>
    [references ?? []].flat().map((reference) => deps.secret(reference))
  return {
    id,
    auth: authOf(id, parsed.data, deps.secret),
    verifyTokens: texts(parsed.data.verify_token ?? shared),
    meaning: readMeaning(parsed.data),
    outward: out === undefined ? { kind: two_way ? 'stream' : 'none' } : outOf(id, out, deps.secret),
  }
}

type WrittenHook = Pick<
  z.output<typeof webhookOptions>,
  'auth' | 'secret' | 'signature' | 'sender_header' | 'behind_proxy' | 'recipe'
>

/** Reports templates that cannot be read, for `check`. */
function templateProblem(hook: MeaningOptions): { readonly path: string[]; readonly message: string } | null {
  try {
    readMeaning(hook)
    return null
  } catch (thrown) {
    const [, key = '', message = ''] = /^(\w+): (.*)$/s.exec(asSwitchboardError(thrown).message) ?? []
    return { path: [key], message: `"${key}" cannot be read: ${message}` }
  }
}

function authOf(id: string, hook: WrittenHook, read: (reference: string) => string): Auth {
  const { secret: shared, signature, sender_header, behind_proxy } = hook
  const auth = writtenAuth(hook)
  if (sender_header !== undefined)
    return { kind: 'sender', header: sender_header.toLowerCase(), behindProxy: behind_proxy }
  try {
    if (auth === undefined && shared === undefined) return { kind: 'closed' }
    if (auth !== undefined || signature !== 'plain')
      return readAuth({ auth: auth ?? 'github', secret: shared, read })
  } catch (thrown) {
    throw invalid(id, asSwitchboardError(thrown).message)
  }
  return { kind: 'plain', secrets: [shared ?? []].flat().map(read) }
}

/** If only a key is given, the recipe knows how its sender proves itself. */
export function writtenAuth(hook: WrittenHook): AuthOptions | undefined {
  const { auth, secret: shared, signature, recipe } = hook
  const known =
    recipe === undefined || shared === undefined || signature !== undefined ? null : RECIPES[recipe].auth
  return auth ?? (known as AuthOptions | null) ?? undefined
}

/** Reports a missing or a second proof. */
function authProblems(hook: WrittenHook & { readonly two_way: boolean; readonly out?: unknown }) {
  const { secret: shared, signature, sender_header } = hook
  const auth = writtenAuth(hook)
  const type = typeof auth === 'object' ? auth.type : auth
  const own = typeof auth === 'object' ? (auth.secret ?? auth.value) : undefined
  const problem = (message: string, ...path: string[]) => [{ path, message }]
  if (sender_header !== undefined && (shared ?? auth) !== undefined)
    return problem('a webhook takes either "secret" or "sender_header", not both', 'sender_header')
  if (sender_header !== undefined) return []
  // A hook that only posts receives nothing.
  if (auth === undefined && shared === undefined && hook.out !== undefined) return []
  if (auth === undefined && shared === undefined)
    return problem(
      'a webhook needs "auth", "secret" (its signature is checked) or "sender_header" (a trusted header names the sender)',
    )
  if (type === undefined) return []
  if (signature !== undefined)
    return problem('a webhook takes either "auth" or "signature", not both', 'signature')
  if (KEYLESS.includes(type) && shared !== undefined)
    return problem(`auth ${type} takes no "secret"`, 'secret')
  if (!KEYLESS.includes(type) && (shared ?? own) === undefined)
    return problem(`auth ${type} needs "secret": a reference to its key`)
  if (shared !== undefined && own !== undefined) return problem('is in "auth" already', 'secret')
  if (hook.two_way && (type === 'sns' || type === 'ed25519'))
    return problem(`auth ${type} has no secret to read the stream with; answer by "out"`, 'two_way')
  return []
}

function outOf(id: string, out: Parameters<typeof readOut>[0], read: (reference: string) => string): Posting {
  try {
    return readOut(out, read)
  } catch (thrown) {
    throw invalid(id, asSwitchboardError(thrown).message)
  }
}

function invalid(id: string, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `webhook ${id}: ${problem}`)
}
