// Newcomers: letting them in by their code, or turning them away. Approving grants the right to talk. The right to
// approve, and being one of the users, are given only where they are asked for.
import { z } from 'zod'
import {
  address,
  defined,
  iso,
  type NewSend,
  type PairingRow,
  type PairingView,
  type Right,
  SwitchboardError,
  type UserSettings,
  type Wording,
} from '../../contract/index.ts'
import { LOCAL_USER, usersInForce } from '../../core/people/users.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { wordsIn } from '../../words/index.ts'
import { liveParts, type OperationContext } from '../context.ts'
import { all, PageQuery, text } from '../inputs.ts'
import { operation } from '../operation.ts'

const ApproveBody = z
  .strictObject({
    approver: z.boolean().optional().describe('They may also approve tool calls.'),
    me: z.boolean().optional().describe('This is me: an identity of the user who approves.'),
    user: text.optional().describe('They are this user of the configuration.'),
  })
  .refine(({ me, user }) => me !== true || user === undefined, { error: 'me and user exclude each other' })

export function pairingView(row: PairingRow): PairingView {
  return {
    code: row.code,
    integration: row.integration,
    sender: row.sender,
    sender_name: row.senderName,
    expires_at: iso(row.expiresAt),
  }
}

export const PAIRINGS = [
  operation({
    route: 'GET /api/pairings',
    summary: 'People who are waiting to be let in.',
    query: PageQuery,
    run: async ({ store }) => all((await store.pairings()).map(pairingView)),
  }),
  operation({
    route: 'POST /api/pairings/{code}/approve',
    summary: 'Lets a stranger in: to talk, and to what the body says beside it.',
    body: ApproveBody,
    gives: ({ approver, user }) => approver === true || user !== undefined,
    run: async (call) => {
      const { store, path, body, by } = call
      const { gateway } = liveParts(call)
      const wanted = path.code.trim().toLowerCase()
      const waiting = (await store.pairings()).find((one) => one.code === wanted)
      if (!waiting) throw noCode(path.code)
      const id = body.me === true ? (call.user ?? LOCAL_USER) : body.user
      const granted = {
        approver: body.approver === true,
        user: id === undefined ? null : userFor(waiting, id, call, gateway),
      }
      const rights: readonly Right[] = [
        ...(granted.approver ? ['approve' as const] : []),
        ...(granted.user === null ? [] : [`user:${granted.user.id}` as const]),
      ]
      const words = welcome(waiting, granted, gateway)
      const pairing = await store.approvePairing(wanted, by, { rights, words })
      if (!pairing) throw noCode(path.code)
      await gateway.grants.load()
      return {
        ...pairingView(pairing),
        /** The right to approve was granted separately. */
        approver: granted.approver,
        /** The user whose identity the newcomer is. */
        ...defined({ user: granted.user?.id }),
        /** The same in words, after the newcomer's name: "may talk". */
        granted: grantedWords(pairing.integration, granted),
      }
    },
  }),
  operation({
    route: 'POST /api/pairings/{code}/deny',
    summary: 'Forgets a stranger’s code.',
    run: async (call) => {
      liveParts(call)
      const { code } = call.path
      if (!(await call.store.denyPairing(code.trim().toLowerCase(), call.by))) throw noCode(code)
    },
  }),
]

interface Granted {
  readonly approver: boolean
  readonly user: UserSettings | null
}

/** The user whose identity the newcomer becomes. Throws where that contradicts the configuration. */
function userFor(
  { integration, sender }: PairingRow,
  id: string,
  { settings }: Pick<OperationContext, 'settings'>,
  { grants }: Pick<Gateway, 'grants'>,
): UserSettings {
  const users = usersInForce(settings(), grants)
  const ids = users.map((one) => one.id).join(', ')
  const user = users.find((one) => one.id === id)
  if (!user && id === LOCAL_USER)
    throw new SwitchboardError('input_invalid', 'user: users are configured, so say which of them this is', {
      hint: `switchboard pair approve CODE --user ID; users: ${ids}`,
    })
  if (!user) throw new SwitchboardError('not_found', `there is no user "${id}"`, { hint: `users: ${ids}` })
  const identity = `${integration}:${sender}`
  const listed = settings().users.find((one) => one.identities.includes(identity))
  if (listed && listed.id !== id)
    throw new SwitchboardError('conflict', `${identity} is user "${listed.id}" by the configuration`, {
      hint: 'change users[].identities in the file, or let them in without --me and --user',
    })
  return user
}

function welcome(
  { integration, conversation }: PairingRow,
  granted: Granted,
  { links }: Pick<Gateway, 'links'>,
): readonly NewSend[] {
  const link = links.get(integration)
  if (!link) return []
  const op = { kind: 'text', text: welcomeText(granted) } as const
  const to = address(integration, conversation)
  return [{ to, platform: link.platform, op, cause: 'pairing', agent: null, session: null, turn: null }]
}

function welcomeText({ approver, user }: Granted): Wording {
  const as = user === null ? null : user.id === LOCAL_USER ? 'owner' : { user: user.id }
  return wordsIn().notices.paired({ as, approver })
}

/** What was granted, after the name of the person. */
function grantedWords(integration: string, { approver, user }: Granted): string {
  const decides = approver || user?.roles.includes('owner') || user?.roles.includes('approver')
  const may = `${decides ? 'may talk and approve tool calls' : 'may talk'} on ${integration}`
  if (user === null) return may
  const roles = user.roles.length === 0 ? 'no role' : user.roles.join(', ')
  return `${may}, as the user ${user.id} (${roles})`
}

function noCode(code: string): SwitchboardError {
  return new SwitchboardError('not_found', `there is no pending code ${code}`, {
    hint: 'switchboard pair list',
  })
}
