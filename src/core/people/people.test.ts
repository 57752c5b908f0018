// Who may do what: the whole table of `authorize`, and the users in force when none are configured.
import { describe, expect, it } from 'vitest'
import type { Action, Principal, Resource, Right, UserSettings } from '../../contract/index.ts'
import { OPEN, testIntegration, testSettings } from '../../testing/test-settings.ts'
import { approverChats, type GrantList, isApprover } from './approvers.ts'
import { authorize } from './authorize.ts'
import { usersInForce } from './users.ts'

const ACTIONS: readonly Action[] = [
  ...(['admin.read', 'admin.write', 'chat.talk', 'approval.read'] as const),
  ...(['approval.decide', 'message.send', 'notify.send', 'agent.attach', 'rights.give'] as const),
]
const GATEWAY: Resource = { kind: 'gateway' }
const KATE: Resource = { kind: 'agent', id: 'kate' }
const HERS: Resource = { kind: 'session', id: 's1', agent: 'kate' }

const opens = (who: Principal, on: Resource) => ACTIONS.filter((action) => authorize(who, action, on).allowed)
const user = (...roles: string[]): Principal => ({ kind: 'user', id: 'ann', roles })

describe('authorize', () => {
  it('[I3.roles] [S1.authorize-one] each role opens what it names and nothing more', () => {
    expect(opens(user('owner'), GATEWAY)).toEqual(ACTIONS)
    expect(opens(user('approver'), GATEWAY)).toEqual(['chat.talk', 'approval.read', 'approval.decide'])
    expect(opens(user('operator'), GATEWAY)).toEqual([
      'admin.read',
      'admin.write',
      'chat.talk',
      'approval.read',
    ])
    expect(opens(user('approver', 'operator'), GATEWAY)).toEqual([
      ...(['admin.read', 'admin.write', 'chat.talk', 'approval.read', 'approval.decide'] as const),
    ])
    expect(opens(user(), GATEWAY)).toEqual(['chat.talk'])
    expect(opens(user('admin', 'OWNER'), GATEWAY)).toEqual(['chat.talk'])
  })

  it('[S1.authorize-one] an operator may everything, the others their own and nothing of a neighbour', () => {
    expect(opens({ kind: 'operator', id: 'admin' }, GATEWAY)).toEqual(ACTIONS)
    const agent: Principal = { kind: 'agent', id: 'kate' }
    expect(opens(agent, KATE)).toEqual(['message.send', 'notify.send', 'agent.attach'])
    expect(opens(agent, HERS)).toEqual(['message.send', 'notify.send', 'agent.attach'])
    const session: Principal = { kind: 'session', id: 's1', agent: 'kate', user: null }
    expect(opens(session, HERS)).toEqual(['message.send', 'notify.send'])
    const host: Principal = { kind: 'host', id: 'h', agent: 'kate' }
    expect(opens(host, KATE)).toEqual(['agent.attach'])
    const web: Principal = { kind: 'integration', id: 'web', sender: 'owner' }
    expect(opens(web, { kind: 'integration', id: 'web' })).toEqual(['chat.talk'])
    const foreign: readonly (readonly [Principal, Resource])[] = [
      [agent, { kind: 'agent', id: 'other' }],
      [agent, GATEWAY],
      [session, { kind: 'session', id: 's2', agent: 'kate' }],
      [session, { kind: 'session', id: 's1x', agent: 'other' }],
      [session, GATEWAY],
      [host, { kind: 'agent', id: 'other' }],
      [web, { kind: 'integration', id: 'web2' }],
      [web, GATEWAY],
    ]
    for (const [who, on] of foreign) expect([who, opens(who, on)]).toEqual([who, []])
  })

  it('a credential for notifications is good for those alone, whoever it speaks for', () => {
    const only = ['notify.send'] as const
    expect(opens({ kind: 'agent', id: 'kate', only }, KATE)).toEqual(['notify.send'])
    expect(opens({ kind: 'session', id: 's1', agent: 'kate', user: 'ann', only }, HERS)).toEqual([
      'notify.send',
    ])
    expect(opens({ kind: 'agent', id: 'kate', only: ['admin.write'] }, KATE)).toEqual([])
  })

  it('a refusal says why, and does not say what else there is', () => {
    expect(authorize(user('approver'), 'admin.read', GATEWAY)).toEqual({
      allowed: false,
      reason: 'admin.read needs another role',
    })
    expect(authorize({ kind: 'agent', id: 'kate' }, 'message.send', { kind: 'agent', id: 'bob' })).toEqual({
      allowed: false,
      reason: 'this credential belongs to another agent',
    })
  })
})

const book = (...grants: readonly (readonly [string, string, Right])[]): GrantList => ({
  has: (...given) => grants.some((grant) => grant.join() === given.join()),
  senders: (integration, right) =>
    grants.filter(([at, , what]) => at === integration && what === right).map(([, sender]) => sender),
})

describe('users', () => {
  const two = (users: readonly UserSettings[] = []) =>
    testSettings({
      integrations: [testIntegration('tg', { access: { ...OPEN, dm: 'pairing' } }), testIntegration('hook')],
      agents: ['kate'],
      users,
    })

  it('[S1.user-local] [I35.b17] with none configured there is one, who is whom the operator said and not the first one let in', () => {
    const settings = two()
    expect(usersInForce(settings, book())).toEqual([
      { id: 'local', identities: [], notifyTo: null, roles: ['owner'] },
    ])
    const paired = book(
      ['tg', '40', 'talk'],
      ['tg', '41', 'approve'],
      ['tg', '42', 'user:local'],
      ['tg', '43', 'user:ann'],
    )
    expect(usersInForce(settings, paired)).toMatchObject([{ id: 'local', identities: ['tg:42'] }])
    const may = ['40', '41', '42', '43'].map((sender) =>
      isApprover(settings, paired, { integration: 'tg', sender, agent: 'kate' }),
    )
    expect(may).toEqual([false, true, true, false])
  })

  it('[S1.user-identities] a user is known by integration:sender, and decides by role', () => {
    const ann: UserSettings = {
      id: 'ann',
      identities: ['tg:a:1', 'hook:ci'],
      notifyTo: null,
      roles: ['approver'],
    }
    const ops: UserSettings = { id: 'ops', identities: ['tg:2'], notifyTo: null, roles: ['operator'] }
    const settings = two([ann, ops])
    expect(usersInForce(settings, book(['tg', '41', 'approve']))).toEqual([ann, ops])
    const may = (integration: string, sender: string) =>
      isApprover(settings, book(), { integration, sender, agent: 'kate' })
    expect([may('tg', 'a:1'), may('hook', 'ci'), may('tg', '2'), may('hook', 'a:1'), may('tg', '1')]).toEqual(
      [...[true, true, false, false, false]],
    )
    expect(approverChats(settings, book(), 'kate')).toEqual([
      { integration: 'tg', conversation: 'a:1' },
      { integration: 'hook', conversation: 'ci' },
    ])
  })

  it('[I35.b17] an identity that pairing gave has its user’s roles, and the file wins where they disagree', () => {
    const ann: UserSettings = { id: 'ann', identities: ['tg:1'], notifyTo: null, roles: ['owner'] }
    const ops: UserSettings = { id: 'ops', identities: [], notifyTo: null, roles: ['operator'] }
    const settings = two([ann, ops])
    const paired = book(
      ['tg', '2', 'user:ann'],
      ['tg', '3', 'user:ops'],
      ['tg', '1', 'user:ops'],
      ['tg', '4', 'user:gone'],
    )
    expect(usersInForce(settings, paired).map(({ identities }) => identities)).toEqual([
      ['tg:1', 'tg:2'],
      ['tg:3'],
    ])
    const may = ['1', '2', '3', '4'].map((sender) =>
      isApprover(settings, paired, { integration: 'tg', sender, agent: 'kate' }),
    )
    expect(may).toEqual([true, true, false, false])
    const noOwner = two([{ ...ann, roles: [] }, ops])
    expect(isApprover(noOwner, paired, { integration: 'tg', sender: '2', agent: 'kate' })).toBe(false)
  })
})
