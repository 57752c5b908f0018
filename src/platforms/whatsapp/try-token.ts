// Whether a token and a number belong together, asked of WhatsApp itself: before anything is kept, and without an integration.
import { type Clock, defined, type Options } from '../../contract/index.ts'
import { createWhatsAppClient } from './client.ts'
import { DEFAULT_TIMINGS, readConfig } from './config.ts'
import { askSelf } from './self.ts'

const TRY_TIMEOUT_MS = 10_000

/** `options` hold the secrets themselves. Throws what WhatsApp said, never a token. */
export async function tryToken(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const { phone_number_id, access_token, app_secret, verify_token, api_url, api_version } = options
  const secrets: Readonly<Record<string, unknown>> = { access_token, app_secret, verify_token }
  const config = readConfig({
    integration: {
      id: 'try',
      options: {
        phone_number_id,
        access_token: 'env:access_token',
        app_secret: 'env:app_secret',
        verify_token: 'env:verify_token',
        ...defined({ api_url, api_version }),
      },
    },
    secret: (reference) => String(secrets[reference.slice('env:'.length)] ?? ''),
  })
  const client = createWhatsAppClient(
    config,
    { ...DEFAULT_TIMINGS, requestTimeoutMs: TRY_TIMEOUT_MS },
    { clock },
  )
  const { number, name } = await askSelf(client, config)
  return { who: `${number}${name === '' ? '' : ` (${name})`}` }
}
