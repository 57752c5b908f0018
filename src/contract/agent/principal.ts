// Who asks for something. One authorize and one token table serve /api, /chat, /events, /mcp, /attach and the command line.

export type Principal =
  /** The admin token, the local control socket. */
  | { readonly kind: 'operator'; readonly id: string }
  | { readonly kind: 'user'; readonly id: string; readonly roles: readonly string[] }
  | { readonly kind: 'agent'; readonly id: string; readonly only?: readonly Action[] }
  /** `only`: the credential is good for these actions and no others. */
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
  /** Gives somebody a right that the giver may not have: to approve, to own, a new door to an agent. */
  'rights.give',
  /** Reads out or erases all that a person said. */
  'people.data',
  /** Which secrets and tokens there are; never what they say. */
  'secrets.read',
  'chat.talk',
  /** Takes a conversation over, writes there as a person, gives it back. */
  'conversation.hold',
  'approval.read',
  /** What a tool call would do: inputs, prompts and what agents tell of their tools. */
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

/** Who the link of the web page speaks for unless it was minted for somebody else: its token holder may approve. */
export const WEB_OWNER = 'owner'
