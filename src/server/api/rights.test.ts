// Every route of the API against every role: who may call it, and that a caller cannot give rights that they lack. The
// table names every route, and a route without a row fails.

import { expect, it } from 'vitest'
import type { Action, Principal, Settings } from '../../contract/index.ts'
import { authorize } from '../../core/people/authorize.ts'
import { OPERATIONS, withContext } from '../../operations/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { testIntegration, testSettings } from '../../testing/test-settings.ts'
import { type Answers, fakeContext } from '../fixtures/fake-context.ts'
import { RIGHT, RIGHTS } from '../fixtures/rights-table.ts'
import { createApi } from './api.ts'

const user = (...roles: string[]): Principal => ({ kind: 'user', id: 'ann', roles })
const CALLERS: Readonly<Record<string, Principal>> = {
  admin: { kind: 'operator', id: 'admin' },
  owner: user('owner'),
  operator: user('operator'),
  approver: user('approver'),
  viewer: user('viewer'),
  nobody: user(),
  agent: { kind: 'agent', id: 'kate' },
  session: { kind: 'session', id: 's', agent: 'kate', user: 'ann' },
  host: { kind: 'host', id: 'h', agent: 'kate' },
  web: { kind: 'integration', id: 'web', sender: 'owner' },
}

const PAIRING = {
  code: 'x1',
  integration: 'chat',
  sender: 'bob',
  senderName: null,
  conversation: 'c',
  expiresAt: 1,
}
const ANSWERS: Answers = { pairings: async () => [PAIRING], approvePairing: async () => PAIRING }

const named = (route: { method: string; path: string }) => `${route.method} ${route.path}`

/** Returns the calls that an operation made, or null if the caller was refused. */
async function calls(
  principal: Principal,
  route: string,
  body: unknown,
  users: Settings['users'] = [],
): Promise<unknown[][] | null> {
  const settings = testSettings({ integrations: [testIntegration('chat')], users })
  const { context, calls } = fakeContext(ANSWERS, settings)
  const api = createApi({ clock: createTestClock(), authorize }, withContext(OPERATIONS, context))
  const [method = '', path = ''] = route.split(' ')
  const segments = path
    .replaceAll('{address}', 'chat:mallory')
    .replaceAll(/\{\w+\}/g, 'x1')
    .slice(1)
    .split('/')
  const request = { method, headers: { 'content-type': 'application/json' } } as never
  const sent = Buffer.from(JSON.stringify(body ?? {}))
  const query = new URLSearchParams(path === '/api/people/export' ? 'who=chat:mallory' : '')
  const call = { request, segments, query, body: sent, principal, via: 'api' } as const
  const code = await api(call).then(
    () => null,
    (thrown) => thrown.code as string,
  )
  // Other errors of the fake context do not matter here. An invalid body would hide a missing check.
  expect([route, code]).not.toEqual([route, 'input_invalid'])
  if (code === 'forbidden') expect(calls).toEqual([])
  return code === 'forbidden' ? null : calls
}

it('[I14.rights-table] every route has a row, and every row a route', () => {
  expect(Object.keys(RIGHTS).sort()).toEqual(OPERATIONS.map(named).sort())
})

it('[I14.rights-table] [I21.roles] [I14.no-right-by-chorus] [I14.no-right-by-secret] each role passes where the table says and nowhere else', async () => {
  for (const [route, [who, first, ...bodies]] of Object.entries(RIGHTS)) {
    for (const [caller, principal] of Object.entries(CALLERS)) {
      for (const body of [first, ...bodies]) {
        const passed = (await calls(principal, route, body)) !== null
        expect([route, caller, body, passed]).toEqual([route, caller, body, who.includes(caller)])
      }
    }
  }
})

it('[I14.no-right-by-pairing] [I35.b17] whoever may not give rights lets in to talk, or as themselves', async () => {
  const route = 'POST /api/pairings/{code}/approve'
  const ann = { id: 'ann', roles: [], identities: [], notifyTo: null }
  const given = async (caller: string, body?: object, users: Settings['users'] = []) => {
    const made = await calls(CALLERS[caller] as Principal, route, body, users)
    const [, , , granted] = made?.find(([name]) => name === 'approvePairing') ?? []
    return (granted as { readonly rights: readonly string[] } | undefined)?.rights ?? null
  }
  for (const caller of ['admin', 'owner', 'operator']) expect(await given(caller)).toEqual([])
  for (const [body, right] of [
    [{ approver: true }, 'approve'],
    [{ user: 'ann' }, 'user:ann'],
  ] as const) {
    expect(await given('admin', body, [ann])).toEqual([right])
    expect(await given('owner', body, [ann])).toEqual([right])
    expect(await given('operator', body, [ann])).toBeNull()
  }
  expect(await given('admin', { me: true })).toEqual(['user:local'])
  expect(await given('operator', { me: true }, [ann])).toEqual(['user:ann'])
  for (const caller of ['approver', 'viewer', 'nobody', 'agent'])
    expect(await given(caller, { me: true }, [ann])).toBeNull()
})

it('[I14.rights-table] an operator who may talk may let others talk, and no more', async () => {
  const grant = (right: string) => calls(user('operator'), 'POST /api/access/grant', RIGHT(right))
  expect((await grant('talk'))?.map(([name]) => name)).toEqual(['grant'])
  expect(await grant('approve')).toBeNull()
  // The base of the table: the actions that an operator lacks.
  const actions: readonly Action[] = [
    'rights.give',
    'approval.decide',
    'message.send',
    'notify.send',
    'agent.attach',
  ]
  for (const action of actions)
    expect(authorize(user('operator'), action, { kind: 'gateway' }).allowed).toBe(false)
})
