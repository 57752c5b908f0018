// Access tokens from a refresh token, against the test's own token endpoint.
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { createRealClock } from '../../../runtime/real-clock.ts'
import { createAccessTokens } from './oauth.ts'

describe('OAuth2 by refresh token', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })
  const endpoint = async (answer: (asked: URLSearchParams, times: number) => readonly [number, object]) => {
    const asked: URLSearchParams[] = []
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += String(chunk)
      })
      request.on('end', () => {
        asked.push(new URLSearchParams(body))
        const [status, value] = answer(new URLSearchParams(body), asked.length)
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      })
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    let ahead = 0
    const real = createRealClock()
    const clock = { ...real, now: () => real.now() + ahead }
    const login = {
      tokenUrl: `http://127.0.0.1:${port}/token`,
      clientId: 'id',
      clientSecret: 'planted-secret',
      refreshToken: 'planted-refresh',
      scope: 'mail',
    }
    return {
      asked,
      tokens: createAccessTokens(login, clock),
      pass: (ms: number) => {
        ahead += ms
      },
    }
  }

  it('[I19.out-oauth] one token serves all who ask, until shortly before its end, or until a server refused it', async () => {
    const { tokens, asked, pass } = await endpoint((_asked, times) => [
      200,
      { access_token: `token-${times}`, expires_in: 3_600, refresh_token: `next-${times}` },
    ])
    expect(await Promise.all([tokens.get(), tokens.get()])).toEqual(['token-1', 'token-1'])
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({
      grant_type: 'refresh_token',
      client_id: 'id',
      client_secret: 'planted-secret',
      refresh_token: 'planted-refresh',
      scope: 'mail',
    })
    pass(3_530_000)
    expect(await tokens.get()).toBe('token-1')
    pass(20_000)
    expect(await tokens.get()).toBe('token-2')
    // The first answer contained a new refresh token.
    expect(asked[1]?.get('refresh_token')).toBe('next-1')
    tokens.forget()
    expect(await tokens.get()).toBe('token-3')
  })

  it('[I19.out-oauth] a refusal is told in the provider’s word, without any token, and asked again later', async () => {
    const { tokens } = await endpoint((_asked, times) =>
      times === 1
        ? [400, { error: 'invalid_grant', error_description: 'planted-refresh' }]
        : [200, { access_token: 'good' }],
    )
    const failed = await tokens.get().catch((thrown: unknown) => thrown)
    expect(failed).toMatchObject({ code: 'platform_unavailable', message: 'OAuth2: invalid_grant' })
    expect(JSON.stringify([failed, String(failed)])).not.toContain('planted')
    expect(await tokens.get()).toBe('good')
  })
})
