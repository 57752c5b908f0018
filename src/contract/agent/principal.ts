// The caller of an action. One `authorize` and one token table serve /api, /chat, /events, /mcp, /attach and the
// command line.

export type Principal =
  /** The admin token, the local control socket. */
  | { readonly kind: 'operator'; readonly id: string }
  | { readonly kind: 'user'; readonly id: string; readonly roles: readonly string[] }
  | { readonly kind: 'agent'; readonly id: string; readonly only?: readonly Action[] }
  /** `only`: the credential is valid for these actions only. */
  | {
      readonly kind: 'session'
      readonly id: string
      readonly agent: string
      readonly user: string | null
      readonly only?: readonly Action[]
    }
  | { readonly kind: 'host'; readonly id: string; readonly agent: string }
  | { readonly kind: 'integration'; readonly id: string; readonly sender: string }

export const ACTIONS = [
  'admin.read',
  'admin.write',
  /** Gives a person a right that the giver may not have: to approve, to own, or access to an agent. */
  'rights.give',
  /** Exports or erases all messages of a person. */
  'people.data',
  /** Lists secrets and tokens, never their values. */
  'secrets.read',
  'chat.talk',
  /** Takes a conversation over, writes there as a person, and gives it back. */
  'conversation.hold',
  'approval.read',
  /** The content of a tool call: inputs, prompts and agents' reports about their tools. */
  'approval.input',
  'approval.decide',
  'message.send',
  'notify.send',
  'agent.attach',
] as const

export type Action = (typeof ACTIONS)[number]

export type Resource =
  | { readonly kind: 'gateway' }
  | { readonly kind: 'integration'; readonly id: string }
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'session'; readonly id: string; readonly agent: string }

export type Authorization = { readonly allowed: true } | { readonly allowed: false; readonly reason: string }

/** The user behind a web link that was not minted for another user. The token's holder may approve. */
export const WEB_OWNER = 'owner'
