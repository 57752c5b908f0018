// Requests that no honest client makes: odd methods, paths that two readers read differently, streams asked for by HEAD.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TOKEN } from '../../src/server/fixtures/open-server.ts'
import { type EveryDoor, openEveryDoor } from './fixtures/every-route.ts'

let doors: EveryDoor
beforeAll(async () => {
  doors = await openEveryDoor()
})
afterAll(() => doors.close())

const ADMIN = { authorization: `Bearer ${TOKEN}` }
const status = (method: string, path: string, headers: Record<string, string> = ADMIN, body = '') =>
  doors.ask({ method, path, headers, body })

it('[I14.attack-odd] a path that is spelled another way reaches nothing behind it', async () => {
  const spelled = [
    ...['/%61pi/status', '/ap%69/status', '/API/status', '//api/status', '/api//status', '/./api/status'],
    ...['/api/%73tatus/', '/api/status/', '/api/../api/status', '/api%2fstatus', '/x/../api/status'],
    ...['/%65vents', '/events/', '//events', '/%6detrics', '/metrics/', '/%6dcp', '/%61ttach'],
    ...['/%63hat/me', '/chat/%6de', '/chat//me', '/%68ooks/ci', '//hooks/ci', '/hooks//ci', '/hooks/ci/'],
    ...['/hooks/ci%2fevents', '/hooks/ci/%65vents', 'http://127.0.0.1/api/status', '/api/status%00'],
  ]
  const before = doors.ran.length
  for (const path of spelled)
    expect([path, await status('GET', path)]).toEqual([
      path,
      expect.toSatisfy((code) => [400, 401, 404, 405].includes(code)),
    ])
  expect(doors.ran.slice(before)).toEqual([])
})

it('[I14.attack-odd] a stream that is asked for by HEAD takes no place', async () => {
  for (const path of ['/events', '/chat/stream', '/hooks/ci/events'])
    expect([path, [404, 405, 401].includes(await status('HEAD', path))]).toEqual([path, true])
})

it('[I14.attack-odd] odd methods change nothing, whatever overrides they name', async () => {
  const before = doors.ran.length
  const override = {
    'x-http-method-override': 'POST',
    'x-method-override': 'DELETE',
    'x-original-url': '/api/reload',
  }
  for (const method of ['TRACE', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY'])
    for (const path of [
      '/api/status',
      '/events',
      '/metrics',
      '/chat/me',
      '/hooks/ci',
      '/mcp',
      '/',
      '/healthz',
    ]) {
      const code = await status(method, path, { ...ADMIN, ...override })
      expect([method, path, code >= 400 && code < 500]).toEqual([method, path, true])
    }
  expect(await status('GET', '/healthz', { ...override })).toBe(200)
  expect(doors.ran.slice(before)).toEqual([])
})
