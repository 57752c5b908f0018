// Security findings of a hook, from its options: whose word it believes, and whether the receivers of its posts can
// verify them.
import type {
  ApprovalsOpened,
  IntegrationSettings,
  SecurityFinding,
  ServerReach,
  Severity,
} from '../../contract/index.ts'
import type { AuthType } from './auth-options.ts'
import { webhookOptions, writtenAuth } from './config.ts'
import { LOOPBACK_SENDER } from './verify.ts'

/** Proofs that cover no body. */
const UNSIGNED: Readonly<Partial<Record<AuthType, string>>> = {
  loopback: 'believes every program of this machine',
  url_secret: 'has its secret in the URL, where proxies and senders may log it; nothing signs the body',
  basic: 'is sent a password: nothing signs the body',
  bearer: 'is sent its secret in a header: nothing signs the body',
  header: 'is sent its secret in a header: nothing signs the body',
  gitlab: 'is sent its secret in a header: nothing signs the body; a signing token with auth standard does',
}

export function hookFindings(
  { id, origin, options }: Pick<IntegrationSettings, 'id' | 'origin' | 'options'>,
  server: ServerReach,
  opens: ApprovalsOpened,
): readonly SecurityFinding[] {
  const parsed = webhookOptions.safeParse(options)
  if (!parsed.success) return []
  const { sender_header, behind_proxy, signature, out } = parsed.data
  const found: SecurityFinding[] = []
  const say = (severity: Severity, words: string, key: string) =>
    found.push({ severity, what: `hook ${id} ${words}`, key: `${origin}.${key}` })
  if (sender_header !== undefined) say(...believedHeader(sender_header, behind_proxy, server, opens))
  else if (signature === 'plain')
    say('low', 'is sent its secret in a header: nothing signs the body; github signs it', 'signature')
  const auth = writtenAuth(parsed.data)
  const type = typeof auth === 'object' ? auth.type : auth
  const unsigned = type === undefined ? undefined : UNSIGNED[type]
  if (type === 'loopback' && opens.approvers.includes(LOOPBACK_SENDER))
    say(...asApprover(`${unsigned}, and ${LOOPBACK_SENDER} may approve`, opens), 'auth')
  else if (unsigned !== undefined) say('low', unsigned, 'auth')
  // Receivers with a format of their own identify us by their URL or token.
  if (out?.format === 'json' && out.secret === undefined)
    say('low', 'posts its answers unsigned: who takes them cannot tell that they are ours', 'out.secret')
  return found
}

function believedHeader(
  name: string,
  behindProxy: boolean,
  server: ServerReach,
  opens: ApprovalsOpened,
): [severity: Severity, words: string, key: string] {
  const header = `is unsigned and believes the header ${name}`
  const local = (words: string): [severity: Severity, words: string, key: string] =>
    opens.approvers.length === 0
      ? ['low', words, 'secret']
      : [...asApprover(`${words}, and approve as ${opens.approvers.join(' or ')}`, opens), 'secret']
  if (behindProxy)
    return server.near
      ? local(`${header}: the proxy must set it itself, and any program or user of this machine can`)
      : [
          'high',
          `${header}, and ${server.host} is reached without the proxy: anybody can say who they are`,
          'secret',
        ]
  if (server.public)
    return [
      'medium',
      `${header} from this machine only, and with public_url nobody counts as that: it refuses everybody until behind_proxy is true or it has a secret`,
      'behind_proxy',
    ]
  return local(`${header} from this machine: any program or user here can say who it is`)
}

/** An approver decides what agents may run. */
function asApprover(words: string, { real }: ApprovalsOpened): [severity: Severity, words: string] {
  return [real ? 'high' : 'medium', words]
}
