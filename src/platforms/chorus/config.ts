// The options of a chorus integration. Its credential, the connection string, is minted and stored elsewhere.
import { z } from 'zod'
import { type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { addressList, isNetwork } from '../../kit/http/address-list.ts'
import type { JwtRules } from '../../kit/http/jwt.ts'
import { httpUrl, optionsProblem, secret, text } from '../../kit/option-words.ts'

const jwt = z
  .strictObject({
    issuer: text('What `iss` must be.'),
    audience: text('What `aud` must be, or hold.'),
    jwks_url: httpUrl('Where the issuer publishes its keys.').optional(),
    secret: secret('The key that is shared with the issuer, for HS256, HS384 and HS512.').optional(),
  })
  .superRefine((rules, context) => {
    if ((rules.jwks_url === undefined) === (rules.secret === undefined))
      context.addIssue({ code: 'custom', path: [], message: 'takes either "jwks_url" or "secret"' })
  })
  .describe('Each delivery brings a signed JWT as `Authorization: Bearer`; else it is 401.')

const verify = z
  .strictObject({
    jwt: jwt.optional(),
    ip_allow: z
      .array(
        text('An address or a network.').refine(isNetwork, {
          error: 'expected an IP address or a network, such as 192.0.2.7 or 10.0.0.0/8',
        }),
      )
      .min(1)
      .optional()
      .describe('Deliveries from other addresses are 403. Behind a proxy see `server.trusted_proxies`.'),
  })
  .refine(({ jwt: token, ip_allow }) => token !== undefined || ip_allow !== undefined, {
    error: 'names "jwt", "ip_allow" or both',
  })
  .describe('What a delivery must bring besides the secret in its URL.')

export const chorusOptions = z
  .strictObject({
    name: text('Name shown to the service.').optional(),
    allow_private: z.boolean().default(false).describe('Allow callbacks to private and loopback addresses.'),
    verify: verify.optional(),
    identity: z.boolean().default(false).describe('Answer a GET of the connection string with the name.'),
  })
  .describe('A Chorus service; `switchboard chorus connect ID` mints its connection string.')

export interface ChorusConfig {
  readonly id: string
  readonly name: string
  readonly allowPrivate: boolean
  readonly identity: boolean
  readonly jwt: JwtRules | null
  /** Null: requests from any address. */
  readonly mayCome: ((address: string | null) => boolean) | null
}

/** Throws `config_invalid` naming the key. */
export function readConfig({
  integration,
  secret: read,
}: Pick<PlatformDeps, 'integration' | 'secret'>): ChorusConfig {
  const parsed = chorusOptions.safeParse(integration.options)
  if (!parsed.success) {
    throw new SwitchboardError('config_invalid', `chorus ${integration.id}: ${optionsProblem(parsed)}`)
  }
  const { name, allow_private, identity, verify: asked } = parsed.data
  return {
    ...{ id: integration.id, name: name ?? integration.id, allowPrivate: allow_private, identity },
    jwt: asked?.jwt === undefined ? null : rulesOf(asked.jwt, read),
    mayCome: asked?.ip_allow === undefined ? null : addressList(asked.ip_allow),
  }
}

function rulesOf(
  { issuer, audience, jwks_url, secret: reference }: z.output<typeof jwt>,
  read: PlatformDeps['secret'],
): JwtRules {
  const key = jwks_url === undefined ? { secret: read(reference ?? '') } : { jwksUrl: jwks_url }
  return { issuer, audience, key }
}
