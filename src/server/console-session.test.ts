// Signing in at the console: what a link, a cookie and another page may do. It uses a real listener and real tokens.
import { request as plainRequest } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import type { TokenRow, UserSettings } from '../contract/index.ts'
import { authorize } from '../core/people/authorize.ts'
import { createConsoleLogin } from '../gateway/access/console-login.ts'
import { createTokens } from '../gateway/access/tokens.ts'
import { createTestClock, createTestRandom } from '../testing/test-clock.ts'
import { type Opened, openServer, TOKEN } from './fixtures/open-server.ts'

type Role = UserSettings['roles'][number]
const user = (id: string, ...roles: Role[]): UserSettings => ({ id, identities: [], notifyTo: null, roles })

const open: Opened[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.server.close({ graceMs: 0 })
})

async function scene() {
  const clock = createTestClock(1_700_000_000_000)
  const rows: TokenRow[] = []
  const tokens = createTokens(
    {
      addToken: async (token) => {
        rows.push({ ...token, createdAt: clock.now(), revokedAt: null, lastUsedAt: null })
      },
      tokenByHash: async (hash) => rows.find((row) => row.hash === hash) ?? null,
      revokeToken: async (id) => {
        const at = rows.findIndex((row) => row.id === id && row.revokedAt === null)
        if (at === -1) return false
        rows[at] = { ...(rows[at] as TokenRow), revokedAt: clock.now() }
        return true
      },
    },
    clock,
    createTestRandom(),
  )
  const people = { users: [user('kate', 'owner'), user('otto', 'operator'), user('anna', 'approver')] }
  const door = createConsoleLogin({
    tokens,
    clock,
    users: () => people.users,
    baseUrl: () => 'http://127.0.0.1:4747',
  })
  const opened = await openServer({ console: door, authorize })
  open.push(opened)
  const own = `http://127.0.0.1:${opened.port}`
  const enter = (ticket: string, headers: Record<string, string> = {}) =>
    opened.fetch('/console/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: own, ...headers },
      body: JSON.stringify({ ticket }),
    })
  const ticketFor = async (who?: string) => {
    const { url } = await door.link(who === undefined ? {} : { user: who })
    return new URL(url).hash.slice('#ticket='.length)
  }
  const signIn = async (who?: string) => {
    const answer = await enter(await ticketFor(who))
    return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  }
  const ask = async (path: string, cookie: string, init: RequestInit = {}) =>
    opened.fetch(path, { ...init, headers: { cookie, ...(init.headers as Record<string, string>) } })
  return { ...opened, clock, tokens, people, door, own, enter, ticketFor, signIn, ask, rows }
}

it('[I21.con-link] [I21.con-cookie] [S15.guarded] a link opens a session in a cookie that no script and no other site gets', async () => {
  const { enter, ticketFor, port, ask, door } = await scene()
  const link = await door.link({})
  expect([link.user, link.roles, link.url.startsWith('http://127.0.0.1:4747/#ticket=')]).toEqual([
    'kate',
    ['owner'],
    true,
  ])
  await expect(door.link({ user: 'nobody' })).rejects.toMatchObject({ code: 'not_found' })
  const answer = await enter(await ticketFor())
  const cookie = answer.headers.get('set-cookie') ?? ''
  expect(answer.status).toBe(200)
  expect(cookie).toMatch(new RegExp(`^swb_console_${port}=console_[\\w-]{43}; `))
  for (const flag of ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=604800'])
    expect(cookie).toContain(flag)
  expect(cookie).not.toContain('Secure')
  const over = await enter(await ticketFor(), { origin: 'https://sb.example.com' })
  expect(over.headers.get('set-cookie')).toContain('; Secure')
  const me = await ask('/console/me', cookie.split(';')[0] ?? '')
  expect(await me.json()).toMatchObject({ user: 'kate', roles: ['owner'] })
  expect((await ask('/api/status', cookie.split(';')[0] ?? '')).status).toBe(200)
})

it('[I21.con-link-once] a link that was used, is too old, was made up or is of another kind opens nothing', async () => {
  const { enter, ticketFor, clock, tokens, people } = await scene()
  const once = await ticketFor()
  expect((await enter(once)).status).toBe(200)
  const late = await ticketFor()
  await clock.advance(15 * 60_000 + 1)
  const chat = await tokens.mint({ kind: 'web-ticket', scope: { sender: 'owner' }, ttlMs: 60_000 })
  const agent = await tokens.mint({ kind: 'admin', scope: {}, ttlMs: null })
  const gone = await ticketFor('otto')
  people.users = people.users.filter((one) => one.id !== 'otto')
  for (const ticket of [once, late, chat.token, agent.token, gone, 'console-ticket_made-up', TOKEN]) {
    const answer = await enter(ticket)
    expect([ticket, answer.status, answer.headers.get('set-cookie')]).toEqual([ticket, 410, null])
  }
  // A ticket of another kind is not used up by a try.
  expect(await tokens.find(chat.token)).not.toBeNull()
  expect(await tokens.find(agent.token)).not.toBeNull()
})

it('[I21.con-link-once] of two who follow the same link at once, one is in', async () => {
  const { enter, ticketFor } = await scene()
  const ticket = await ticketFor()
  const answers = await Promise.all([enter(ticket), enter(ticket), enter(ticket)])
  expect(answers.map((one) => one.status).sort()).toEqual([200, 410, 410])
})

it('[I21.con-origin] the cookie is good for our own page only, and a write has to name its Origin', async () => {
  const { signIn, ask, own, enter, ticketFor, port } = await scene()
  const cookie = await signIn()
  const reload = (headers: Record<string, string>) =>
    ask('/api/reload', cookie, { method: 'POST', headers, body: null })
  expect((await reload({ origin: own })).status).toBe(200)
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: own, 'sec-fetch-site': 'same-site' },
    { origin: own, 'sec-fetch-site': 'cross-site' },
  ])
    expect([headers, (await reload(headers)).status]).toEqual([headers, 403])
  // A bare request, because fetch may add headers.
  expect(await bare(port, 'POST', '/api/reload', { cookie })).toBe(403)
  for (const path of ['/api/status', '/events', '/console/me'])
    for (const site of ['same-site', 'cross-site'])
      expect([path, site, await bare(port, 'GET', path, { cookie, 'sec-fetch-site': site })]).toEqual([
        path,
        site,
        403,
      ])
  const foreign = await enter(await ticketFor(), { origin: 'https://evil.example' })
  expect([foreign.status, foreign.headers.get('set-cookie')]).toEqual([403, null])
})

it('[I21.con-cookie-port] the cookie of another port is not asked', async () => {
  const { signIn, ask, port } = await scene()
  const cookie = await signIn()
  const other = cookie.replace(`swb_console_${port}`, `swb_console_${port + 1}`)
  expect((await ask('/console/me', other)).status).toBe(401)
  expect((await ask('/console/me', `${other.replace(/=.*/, '=junk')}; ${cookie}`)).status).toBe(200)
})

it('[I21.con-roles-now] [I21.con-logout] a session is what its user is now, and ends for every copy of it', async () => {
  const { signIn, ask, own, people, enter, ticketFor } = await scene()
  const cookie = await signIn('otto')
  const status = async () => (await ask('/api/status', cookie)).status
  expect(await status()).toBe(200)
  people.users = [user('kate', 'owner'), user('otto', 'approver')]
  expect(await status()).toBe(403)
  expect((await ask('/api/approvals', cookie)).status).toBe(200)
  people.users = [user('kate', 'owner')]
  expect(await status()).toBe(401)
  people.users = [user('kate', 'owner'), user('otto', 'operator')]
  const again = await enter(await ticketFor('otto'), { cookie })
  // The new cookie replaced the old one.
  expect([again.status, await status()]).toEqual([200, 401])
  const fresh = (again.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const left = await ask('/console/logout', fresh, { method: 'POST', headers: { origin: own } })
  expect([left.status, left.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')])
  expect((await ask('/console/me', fresh)).status).toBe(401)
})

it('[I21.con-wrong] wrong links and sessions are put off like wrong tokens', async () => {
  const { enter, ask, port } = await scene()
  const answers: number[] = []
  for (let n = 0; n < 20; n++) answers.push((await enter(`console-ticket_${n}`)).status)
  for (let n = 0; n < 20; n++)
    answers.push((await ask('/console/me', `swb_console_${port}=console_${n}`)).status)
  expect(answers.slice(0, 30).every((status) => status === 410 || status === 401)).toBe(true)
  expect(answers.slice(30).every((status) => status === 429)).toBe(true)
})

it('[I21.con-approver] [I21.con-roles] who is signed in is told what their role may do, and hears no more than that', async () => {
  const { signIn, ask } = await scene()
  const may = async (who: string) => {
    const body = (await (await ask('/console/me', await signIn(who))).json()) as { may: string[] }
    return body.may
  }
  expect(await may('kate')).toEqual(expect.arrayContaining(['admin.read', 'rights.give', 'approval.decide']))
  expect(await may('otto')).toEqual(expect.arrayContaining(['admin.read', 'admin.write', 'approval.read']))
  expect(await may('otto')).not.toEqual(expect.arrayContaining(['approval.decide']))
  expect((await may('anna')).sort()).toEqual(
    expect.arrayContaining(['approval.decide', 'approval.read', 'chat.talk']),
  )
  expect(await may('anna')).not.toContain('admin.read')
  const anna = await signIn('anna')
  for (const path of ['/api/status', '/api/turns', '/api/doctor'])
    expect([path, (await ask(path, anna)).status]).toEqual([path, 403])
  const stream = await ask('/events', anna)
  expect(stream.status).toBe(200)
  await stream.body?.cancel()
})

it('[I21.con-link-once] what is no ticket at all is told so, and nothing but JSON is read', async () => {
  const { fetch, own, enter } = await scene()
  const post = (body: string, type = 'application/json') =>
    fetch('/console/session', { method: 'POST', headers: { 'content-type': type, origin: own }, body })
  const statuses = await Promise.all([
    post('{}'),
    post('null'),
    post('[1]'),
    post('{'),
    post('{"ticket":7}'),
    post('ticket=x', 'text/plain'),
    enter('x'.repeat(600)),
    fetch('/console/session'),
    fetch('/console/nothing'),
  ])
  expect(statuses.map((one) => one.status)).toEqual([400, 400, 400, 400, 400, 415, 400, 405, 404])
})

function bare(port: number, method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = plainRequest({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end()
  })
}
