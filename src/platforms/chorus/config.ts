// The options of a chorus integration. Its credential, the connection string, is minted and kept elsewhere.
import { z } from 'zod'
import { type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { optionsProblem, text } from '../../kit/option-words.ts'

export const chorusOptions = z
  .strictObject({
    name: text('Name shown to the service.').optional(),
    allow_private: z.boolean().default(false).describe('Allow callbacks to private and loopback addresses.'),
    identity: z.boolean().default(false).describe('Answer a GET of the connection string with the name.'),
  })
  .describe('A Chorus service; `switchboard chorus connect ID` mints its connection string.')

export interface ChorusConfig {
  readonly id: string
  readonly name: string
  readonly allowPrivate: boolean
  readonly identity: boolean
}

/** Throws `config_invalid` naming the key. */
export function readConfig({ integration }: Pick<PlatformDeps, 'integration'>): ChorusConfig {
  const parsed = chorusOptions.safeParse(integration.options)
  if (!parsed.success) {
    throw new SwitchboardError('config_invalid', `chorus ${integration.id}: ${optionsProblem(parsed)}`)
  }
  const { name, allow_private, identity } = parsed.data
  return { id: integration.id, name: name ?? integration.id, allowPrivate: allow_private, identity }
}
