// The part of the schema for the listener and the store.
import { z } from 'zod'
import { DEFAULT_PORT } from '../../contract/index.ts'
import { isNetwork } from '../../kit/http/address-list.ts'
import { httpUrl, secret } from './words.ts'

export const serverSchema = z
  .strictObject({
    host: z
      .string()
      .min(1, { error: 'must not be empty' })
      .default('127.0.0.1')
      .describe('Address to listen on. A public one needs an admin token.'),
    port: z
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .meta({ default: DEFAULT_PORT })
      .describe('Port to listen on; 0 picks a free one. Left out: 4747, or the next one that is free.'),
    public_url: httpUrl(
      'How people outside reach this server: used in links and for Origin checks.',
    ).optional(),
    trusted_proxies: z
      .array(
        z.string().refine(isNetwork, {
          error: 'expected an IP address or a network, such as 127.0.0.1 or 10.0.0.0/8',
        }),
      )
      .min(1)
      .optional()
      .describe(
        'Addresses or networks of your own proxies. Behind one of them the last address in X-Forwarded-For that is not listed counts as the caller, for `verify.ip_allow`. Whoever can connect from a listed address can claim any address: list no network that others use. Default: none, and the address of the connection counts.',
      ),
    admin_token: secret('The admin token.').optional(),
  })
  .describe('The one listener.')

export const storeSchema = z
  .string()
  .refine((store) => /^(sqlite:.+|postgres(ql)?:\/\/.+|env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/.test(store), {
    error: 'expected sqlite:path, postgres://…, or a reference (env:NAME) to one of them',
  })
  .meta({
    description:
      'sqlite:path (relative to this file) or postgres://…; a reference such as env:DATABASE_URL also works.',
    'x-secret': true,
  })
