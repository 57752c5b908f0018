// The words that options of adapters and the configuration share: texts, URLs, references to secrets.
import { z } from 'zod'
import { SECRET_HINT, SECRET_REFERENCE } from '../contract/secret-reference.ts'

export const text = (description: string) =>
  z.string().min(1, { error: 'must not be empty' }).describe(description)

/** The marker is how excerpts know what to mask and the reference what to say. */
export const secret = (description: string) =>
  z
    .string()
    .regex(SECRET_REFERENCE, { error: `a secret is never written here; ${SECRET_HINT}` })
    .meta({
      description: `${description} A reference: env:NAME, file:path or secret:NAME.`,
      'x-secret': true,
    })

/** Any text, or a reference: environment and header values, which may be secret or not. */
export const textOrSecret = z.string().meta({
  description: 'A plain value, or a reference: env:NAME, file:path or secret:NAME.',
  'x-secret': 'or-text',
})

export const httpUrl = (description: string) =>
  z
    .string()
    .refine(isHttpUrl, { error: 'expected a URL that starts with http:// or https://' })
    .describe(description)

function isHttpUrl(written: string): boolean {
  try {
    const url = new URL(written)
    return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== ''
  } catch {
    return false
  }
}

/** What is wrong with options that were handed to an adapter, with the key and never the value; null: nothing. */
export function optionsProblem(parsed: { readonly error?: z.ZodError | undefined }): string | null {
  const issue = parsed.error?.issues[0]
  if (issue === undefined) return null
  const at = issue.path.join('.')
  return at === '' ? issue.message : `${at}: ${issue.message}`
}
