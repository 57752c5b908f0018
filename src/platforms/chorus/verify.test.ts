// Deliveries where `verify` requires more than the secret in the URL.
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isReply, type RawRequest } from '../../contract/index.ts'
import { chorusOptions } from './config.ts'
import { fakeDeps, intakeWith, post, seed } from './fixtures/chorus-scene.ts'
import { createChorus } from './index.ts'

const RULES = { issuer: 'https://issuer.example.com', audience: 'kate', secret: 'env:CHORUS_JWT' }
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function opened(verify: object, more: object = {}) {
  const deps = fakeDeps({ verify, ...more })
  const adapter = createChorus(deps, () => Promise.reject(new Error('nothing is fetched here')))
  const intake = intakeWith(deps)
  await adapter.start(intake, null)
  const say = async (given: Partial<RawRequest>) => {
    const outcome = await adapter.endpoint?.verify(post(seed('full'), given))
    if (outcome === undefined) throw new Error('chorus has an inbox')
    return isReply(outcome) ? outcome : adapter.endpoint?.handle(outcome)
  }
  // The fake store of secrets returns the reference itself.
  const token = (claims: object = {}) => {
    const all = { iss: RULES.issuer, aud: RULES.audience, exp: deps.clock.now() / 1_000 + 60, ...claims }
    const text = `${encoded({ alg: 'HS256' })}.${encoded(all)}`
    return `${text}.${createHmac('sha256', RULES.secret).update(text).digest('base64url')}`
  }
  const bearer = (claims?: object) => ({ headers: { authorization: `Bearer ${token(claims)}` } })
  return { adapter, say, bearer, intake, log: deps.log }
}

describe('[I35.b46-verify] a Chorus connection that asks for more', () => {
  it('takes a delivery with a right JWT, and refuses every other as 401 with the reason', async () => {
    const { say, bearer, intake, log } = await opened({ jwt: RULES })
    expect((await say(bearer()))?.status).toBe(200)
    expect(intake.events).toHaveLength(1)
    for (const [headers, why] of [
      [{}, 'a signed JWT is needed'],
      [{ authorization: 'Basic eA==' }, 'a signed JWT is needed'],
      [{ authorization: 'Bearer x' }, 'no signed JWT'],
      [bearer({ iss: 'https://other.example.com' }).headers, 'issuer'],
      [bearer({ aud: 'leo' }).headers, 'audience'],
      [bearer({ exp: 1 }).headers, 'expired'],
      [{ authorization: `${bearer().headers.authorization}x` }, 'signature'],
    ] as const) {
      const reply = await say({ headers })
      expect([why, reply?.status, reply?.headers?.['www-authenticate']]).toEqual([why, 401, 'Bearer'])
      expect(String(reply?.body)).toContain(why)
    }
    expect(intake.events).toHaveLength(1)
    expect(log.lines.join()).not.toContain(RULES.secret)
  })

  it('takes deliveries from the listed addresses alone: 403, also without an address, and before the JWT is asked', async () => {
    const { say, bearer, intake } = await opened({ ip_allow: ['192.0.2.7', '10.0.0.0/8'], jwt: RULES })
    expect((await say({ ...bearer(), address: '10.9.8.7' }))?.status).toBe(200)
    for (const address of ['192.0.2.8', '::1'])
      expect((await say({ ...bearer(), address }))?.status).toBe(403)
    expect((await say(bearer()))?.status).toBe(403)
    expect((await say({ address: '192.0.2.7' }))?.status).toBe(401)
    expect(intake.events).toHaveLength(1)
  })

  it('is down, with the reason, while the keys of the issuer cannot be had', async () => {
    const { secret: _, ...rules } = RULES
    const { adapter, say, bearer } = await opened({
      jwt: { ...rules, jwks_url: 'https://issuer.example.com/keys' },
    })
    expect(adapter.link?.state()).toEqual({ state: 'up' })
    await expect(say(bearer())).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(adapter.link?.state()).toEqual({
      state: 'down',
      detail: expect.stringContaining('the keys of the issuer cannot be had: nothing is fetched here'),
    })
  })

  it('asks the same of a GET that shows the identity', async () => {
    const { say, bearer } = await opened({ jwt: RULES }, { identity: true })
    expect((await say({ method: 'GET', ...bearer() }))?.status).toBe(200)
    expect((await say({ method: 'GET', headers: {} }))?.status).toBe(401)
    expect((await say({ method: 'PUT', ...bearer() }))?.status).toBe(405)
  })

  it.each([
    [{}, 'names "jwt"'],
    [{ ip_allow: [] }, '>=1'],
    [{ ip_allow: ['localhost'] }, 'expected an IP address or a network'],
    [{ jwt: { issuer: 'a', audience: 'b' } }, 'either "jwks_url" or "secret"'],
    [{ jwt: { ...RULES, jwks_url: 'https://a.example' } }, 'either "jwks_url" or "secret"'],
    [{ jwt: { ...RULES, secret: 'plain text' } }, 'never written here'],
    [{ jwt: { ...RULES, audience: undefined } }, 'audience'],
  ])('options that cannot be meant are refused: %j', (verify, why) => {
    const parsed = chorusOptions.safeParse({ verify })
    expect(parsed.success).toBe(false)
    expect(JSON.stringify(parsed.error)).toContain(why.replaceAll('"', '\\\\\\"'))
  })
})
