// The module of the platform `webhook`: what Switchboard knows before it runs one.
import { randomBytes } from 'node:crypto'
import type { PlatformModule } from '../../contract/index.ts'
import { webhookOptions } from './config.ts'
import { hookFindings } from './findings.ts'
import { pasteLines } from './paste-lines.ts'

export const webhookModule: PlatformModule = {
  name: 'webhook',
  options: webhookOptions,
  docs: 'docs/platforms/webhook.md',
  title: 'A webhook (alerts, CI, scripts)',
  // With a sender header, the list decides. A signature alone is the credential.
  defaultAccess: ({ sender_header }) => ({ dm: sender_header === undefined ? 'credential' : 'allowlist' }),
  oneWay: ({ two_way, out }) => two_way !== true && out === undefined,
  nearOnly: ({ sender_header, behind_proxy, auth }) => {
    if (sender_header !== undefined) return behind_proxy === true ? null : 'sender_header'
    const type = typeof auth === 'object' && auth !== null && 'type' in auth ? auth.type : auth
    return type === 'loopback' ? 'auth' : null
  },
  hints: {
    oneWay: 'two_way or out would take it',
    nearOnly: 'give it a secret; or behind_proxy: true, where the proxy sets the header itself',
  },
  setup: {
    questions: [
      {
        key: 'secret',
        flag: 'secret',
        ask: 'secret that the sender signs with',
        secret: true,
        fresh: () => randomBytes(32).toString('hex'),
      },
    ],
    paste: pasteLines,
    url: ({ base, id }) => `${base}/hooks/${encodeURIComponent(id)}`,
  },
  security: hookFindings,
  create: async (deps) => (await import('./index.ts')).createWebhook(deps),
}
