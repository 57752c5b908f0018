// The gates between a platform and an agent, as `doctor` shows them: their names, and why each is open or closed. The
// names of gates are also keys of findings, so the adapters' own gates keep theirs.

export interface Counted {
  readonly count: number
}

export interface Server {
  readonly integration: string
}

export interface Mention {
  readonly requireMention: boolean
}

/** Stands behind the members of a group who may talk. */
const mentioned = (mention: boolean) => (mention ? ', when the agent is mentioned' : '')

export const gates = {
  on: 'on',
  switchedOff: 'switched off',
  policyUnreadable: ({ problem }: { readonly problem: string }) =>
    `unreadable, the door is closed: ${problem}`,
  anybody: 'anybody may talk: "*" is listed',
  group: {
    anyMember: ({ requireMention }: Mention) =>
      `any member may talk${mentioned(requireMention)}: "*" is listed`,
    listed: ({ count, requireMention }: Counted & Mention) =>
      `${count === 0 ? 'whoever may talk directly' : `${count} listed`}${mentioned(requireMention)}`,
  },
  unbound: {
    sendsOnly: 'for sending only: no agent takes what arrives',
    refused: 'no agent takes what arrives, so it is refused; scope: all says that it is for sending only',
  },
  approvers: {
    some: ({ count }: Counted) => `${count} may decide`,
    nonePairing: 'nobody yet: pair somebody, or list them in access.approvers',
    none: 'nobody yet: list them in access.approvers',
  },
  /** Who may write directly. */
  senders: {
    credential: 'whoever holds the credential',
    credentialListed: ({ count }: Counted) => `credential, and one of ${count} listed`,
    allowlist: ({ listed, granted }: { readonly listed: number; readonly granted: number }) =>
      `${listed} listed, ${granted} granted`,
    pairing: ({ listed, granted }: { readonly listed: number; readonly granted: number }) =>
      `${granted} paired or granted, and ${listed} listed`,
    off: 'off',
  },
  noIntegration: ({ id }: { readonly id: string }) => `no integration "${id}"`,
  configured: 'configured',
  attached: 'attached',
  notAttached: 'nobody is attached',
  server: {
    skipped: ({ gate, integration }: Server & { readonly gate: string }) =>
      `skipped (${gate}): see ${integration}`,
    down: ({ detail, integration }: Server & { readonly detail: string | undefined }) =>
      `${detail ?? 'down'}: see ${integration}`,
    open: ({ integration }: Server) => `all its gates are open: see ${integration}`,
  },
  limit: {
    none: 'none',
    some: ({ rps, burst }: { readonly rps: number; readonly burst: number }) =>
      `${rps} a second per sender, ${burst} at once`,
  },
  module: {
    nonsense: 'its module answered nonsense',
    threw: ({ why }: { readonly why: string }) => `its module threw: ${why}`,
  },
  noDaemon: 'no daemon is running',
}
