// What SPEC says of every platform's options and default access, held against the modules themselves.
import { expect, it } from 'vitest'
import type { PlatformModule } from '../src/contract/index.ts'
import { PLATFORMS } from '../src/modules/registry.ts'

const module = async (name: string): Promise<PlatformModule> => {
  const found = await PLATFORMS[name]?.()
  if (!found) throw new Error(`${name} is not built`)
  return found
}

/** The keys of the table in section 7. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  telegram: ['token', 'mode', 'secret_token', 'api_root'],
  slack: ['bot_token', 'mode', 'app_token', 'signing_secret', 'api_url'],
  discord: ['token', 'api_url'],
  email: ['address', 'imap', 'smtp', 'require_auth_results'],
  chorus: ['name'],
  imessage: ['db_path', 'allow_sms'],
  whatsapp: ['phone_number_id', 'access_token', 'app_secret', 'verify_token', 'api_url'],
}

it.each(Object.entries(KEYS))('[S7.keys-others] %s takes the keys that are promised', async (name, keys) => {
  const { properties } = (await module(name)).options['~standard'].jsonSchema.input({
    target: 'draft-2020-12',
  }) as { properties: Readonly<Record<string, unknown>> }
  expect(Object.keys(properties)).toEqual(expect.arrayContaining([...keys]))
})

it.each(['telegram', 'slack', 'discord', 'whatsapp'])(
  '[S4.default-chats] %s pairs by default',
  async (name) => {
    const { defaultAccess } = await module(name)
    const access = typeof defaultAccess === 'function' ? defaultAccess({}) : defaultAccess
    expect(access).toMatchObject({ dm: 'pairing' })
  },
)
