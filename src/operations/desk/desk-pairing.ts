// Letting a newcomer in by their code, or turning them away. Approving grants the right to talk. The right to approve, and
// being one of the users, are given only where they are asked for.
import {
  address,
  type Desk,
  defined,
  type NewSend,
  type PairingRow,
  type Right,
  type Settings,
  type Store,
  SwitchboardError,
  type UserSettings,
  type Wording,
} from '../../contract/index.ts'
import { LOCAL_USER, usersInForce } from '../../core/people/users.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { wordsIn } from '../../words/index.ts'
import { pairingView } from './views.ts'

interface DeskPairingDeps {
  readonly store: Pick<Store, 'pairings' | 'approvePairing' | 'denyPairing'>
  readonly gateway: Pick<Gateway, 'grants' | 'links'>
  readonly settings: () => Settings
}

export function createDeskPairing({
  store,
  gateway,
  settings,
}: DeskPairingDeps): Pick<Desk, 'approvePairing' | 'denyPairing'> {
  return {
    async approvePairing(code, by, { approver = false, user: id } = {}) {
      const wanted = code.trim().toLowerCase()
      const waiting = (await store.pairings()).find((one) => one.code === wanted)
      if (!waiting) throw noCode(code)
      const user = id === undefined ? null : userFor(waiting, id)
      const rights: readonly Right[] = [
        ...(approver ? ['approve' as const] : []),
        ...(user === null ? [] : [`user:${user.id}` as const]),
      ]
      const words = welcome(waiting, { approver, user })
      const pairing = await store.approvePairing(wanted, by, { rights, words })
      if (!pairing) throw noCode(code)
      await gateway.grants.load()
      return {
        ...pairingView(pairing),
        approver,
        ...defined({ user: user?.id }),
        granted: grantedWords(pairing.integration, { approver, user }),
      }
    },
    async denyPairing(code, by) {
      if (!(await store.denyPairing(code.trim().toLowerCase(), by))) throw noCode(code)
    },
  }

  function userFor({ integration, sender }: PairingRow, id: string): UserSettings {
    const users = usersInForce(settings(), gateway.grants)
    const ids = users.map((one) => one.id).join(', ')
    const user = users.find((one) => one.id === id)
    if (!user && id === LOCAL_USER)
      throw new SwitchboardError(
        'input_invalid',
        'user: users are configured, so say which of them this is',
        {
          hint: `switchboard pair approve CODE --user ID; users: ${ids}`,
        },
      )
    if (!user) throw new SwitchboardError('not_found', `there is no user "${id}"`, { hint: `users: ${ids}` })
    const identity = `${integration}:${sender}`
    const listed = settings().users.find((one) => one.identities.includes(identity))
    if (listed && listed.id !== id)
      throw new SwitchboardError('conflict', `${identity} is user "${listed.id}" by the configuration`, {
        hint: 'change users[].identities in the file, or let them in without --me and --user',
      })
    return user
  }

  function welcome({ integration, conversation }: PairingRow, granted: Granted): readonly NewSend[] {
    const link = gateway.links.get(integration)
    if (!link) return []
    const op = { kind: 'text', text: welcomeText(granted) } as const
    const to = address(integration, conversation)
    return [{ to, platform: link.platform, op, cause: 'pairing', agent: null, session: null, turn: null }]
  }
}

interface Granted {
  readonly approver: boolean
  readonly user: UserSettings | null
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
