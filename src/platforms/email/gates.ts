// The gates of a mailbox for doctor, from its options: how senders are proven, and what is open.
import type { GateView, Options } from '../../contract/index.ts'

export function emailGates(options: Options): readonly GateView[] {
  const { require_auth_results, authserv_id, verify_dkim, imap, smtp, address } = options as {
    readonly require_auth_results?: boolean
    readonly authserv_id?: unknown
    readonly verify_dkim?: boolean
    readonly address?: string
    readonly imap?: { readonly tls?: unknown; readonly host?: string }
    readonly smtp?: { readonly tls?: unknown; readonly host?: string }
  }
  const gates: GateView[] = []
  if (require_auth_results === false)
    gates.push({
      ...flagged('proven', 'anybody can write an allowed address into From', 'require_auth_results'),
      open: 'high',
    })
  else if (authserv_id === undefined)
    gates.push({
      gate: 'proven',
      pass: verify_dkim !== false,
      flagged: true,
      reason:
        verify_dkim === false
          ? 'nobody can be proven: neither authserv_id nor verify_dkim is set, so every mail is refused'
          : 'senders are proven by DKIM alone; name the server whose Authentication-Results counts',
      key: 'authserv_id',
    })
  for (const [key, server] of [
    ['imap', imap],
    ['smtp', smtp],
  ] as const)
    if (server?.tls === false && !isLoopback(server.host ?? ''))
      gates.push({
        ...flagged(key, 'password and mails go over the network unencrypted', `${key}.tls`),
        open: 'high',
      })
  if (typeof address === 'string' && address !== address.toLowerCase())
    gates.push(
      flagged('address', 'addresses are compared in lower case: write allow_from so, too', 'address'),
    )
  return gates
}

function flagged(gate: string, reason: string, key: string): GateView {
  return { gate, pass: true, flagged: true, reason, key }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** Refused mails are counted up to here, so that the count takes little memory. */
export const MOST_COUNTED = 1_000

/** Returns what the mails since the start show. */
export function seenGates(origin: string, misplaced: number): readonly GateView[] {
  if (misplaced === 0) return []
  const most = misplaced < MOST_COUNTED ? '' : 'at least '
  const mails = misplaced === 1 ? '1 mail was refused' : `${most}${misplaced} mails were refused`
  return [
    {
      gate: 'proven',
      pass: false,
      reason: `${mails}: the results of authserv_id stand below the topmost Received, where a sender could have written them; true believes them, if that server takes out headers of its own name (try: doctor --security --send-test)`,
      key: `${origin}.results_below_received`,
    },
  ]
}
