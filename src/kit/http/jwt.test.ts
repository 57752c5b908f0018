// Signed JWTs: the algorithms that a key allows, the claims that must hold, and changing keys of an issuer.
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import { createJwtVerifier, type JwtRules } from './jwt.ts'

const ISSUER = 'https://issuer.example.com/'
const NOW_S = 1_800_000_000
const CLAIMS = { iss: ISSUER, aud: 'switchboard', exp: NOW_S + 60, sub: 'miriad' }
const SECRET = 'a shared key of thirty-two bytes'

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const hmac = (bits: number) => (text: Buffer) => createHmac(`sha${bits}`, SECRET).update(text).digest()

function token(head: object, sealed: (text: Buffer) => Buffer, claims: object = CLAIMS): string {
  const text = `${encoded({ typ: 'JWT', ...head })}.${encoded(claims)}`
  return `${text}.${sealed(Buffer.from(text)).toString('base64url')}`
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const published = (key: KeyObject, more: object) => ({ ...key.export({ format: 'jwk' }), ...more })
const byRsa = (text: Buffer) => sign('sha256', text, rsa.privateKey)
const byEc = (text: Buffer) => sign('sha256', text, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
const byEd = (text: Buffer) => sign(null, text, ed.privateKey)

function opened(keys: unknown[], rules: Partial<JwtRules> = {}) {
  const clock = createTestClock(NOW_S * 1_000)
  const list = { keys, status: 200, asked: 0, away: false }
  const fetch: GuardedFetch = async () => {
    list.asked += 1
    if (list.away) throw new SwitchboardError('platform_unavailable', 'away')
    const body = Buffer.from(JSON.stringify({ keys: list.keys }))
    return { status: list.status, headers: {}, body, truncated: false }
  }
  const key = { jwksUrl: 'https://issuer.example.com/jwks' }
  const { judge, problem } = createJwtVerifier(
    { issuer: ISSUER, audience: 'switchboard', key, ...rules },
    { clock, fetch },
  )
  const holds = async (text: string) => (await judge(text)).ok
  return { clock, list, judge, holds, problem }
}

const KEYS = [
  published(rsa.publicKey, { kid: 'r1', use: 'sig' }),
  published(ec.publicKey, { kid: 'e1', alg: 'ES256' }),
  published(ed.publicKey, { kid: 'd1' }),
  published(rsa.publicKey, { kid: 'p1', alg: 'PS256' }),
  published(ec.publicKey, { kid: 'e2' }),
]

describe('[I35.b46-verify] a signed JWT', () => {
  it('holds by RSA, PSS, ECDSA and Ed25519 of the list, named or not', async () => {
    const { holds } = opened(KEYS)
    const pss = (text: Buffer) => sign('sha512', text, { key: rsa.privateKey, padding: 6, saltLength: 64 })
    expect(await holds(token({ alg: 'RS256', kid: 'r1' }, byRsa))).toBe(true)
    expect(await holds(token({ alg: 'PS512', kid: 'r1' }, pss))).toBe(true)
    expect(await holds(token({ alg: 'ES256', kid: 'e1' }, byEc))).toBe(true)
    expect(await holds(token({ alg: 'EdDSA', kid: 'd1' }, byEd))).toBe(true)
    expect(await holds(token({ alg: 'RS256' }, byRsa))).toBe(true)
    const shared = opened([], { key: { secret: SECRET } })
    for (const bits of [256, 384, 512])
      expect(await shared.holds(token({ alg: `HS${bits}` }, hmac(bits)))).toBe(true)
  })

  it('does not choose its own algorithm: not none, not the public key as a shared one, not another key', async () => {
    const { holds } = opened(KEYS)
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const confused = (text: Buffer) => createHmac('sha256', pem).update(text).digest()
    for (const wrong of [
      token({ alg: 'none' }, () => Buffer.from('x')),
      `${encoded({ alg: 'none' })}.${encoded(CLAIMS)}.`,
      token({ alg: 'HS256', kid: 'r1' }, confused),
      token({ alg: 'HS256' }, hmac(256)),
      token({ alg: 'RS256', kid: 'e1' }, byRsa),
      token({ alg: 'ES384', kid: 'e1' }, byEc),
      token({ alg: 'RS256', kid: 'unknown' }, byRsa),
      token({ alg: 'RS256', kid: 'r1', crit: ['b64'] }, byRsa),
      // A key for another algorithm, another curve, and a token that is too long.
      token({ alg: 'RS256', kid: 'p1' }, byRsa),
      token({ alg: 'ES384', kid: 'e2' }, (text) =>
        sign('sha384', text, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
      ),
      token({ alg: 'RS256', kid: 'r1' }, byRsa, { ...CLAIMS, pad: 'x'.repeat(8_000) }),
      token({ alg: ['RS256'], kid: 'r1' }, (text) => Buffer.concat([byRsa(text), Buffer.from('x')])),
      token({ kid: 'r1' }, byRsa),
      'a.b',
      'a.b.c.d',
      '',
      'x'.repeat(10_000),
    ])
      expect([wrong.slice(0, 60), await holds(wrong)]).toEqual([wrong.slice(0, 60), false])
    const shared = opened([], { key: { secret: SECRET } })
    expect(await shared.holds(token({ alg: 'RS256' }, byRsa))).toBe(false)
    expect(
      await shared.holds(
        token({ alg: 'HS256' }, (text) => createHmac('sha256', 'another').update(text).digest()),
      ),
    ).toBe(false)
    // A changed claim under a valid signature.
    const [head, , seal] = token({ alg: 'RS256', kid: 'r1' }, byRsa).split('.')
    expect(await holds(`${head}.${encoded({ ...CLAIMS, sub: 'mallory' })}.${seal}`)).toBe(false)
  })

  it('names this issuer and this audience, and is of now', async () => {
    const { judge } = opened(KEYS)
    const said = async (claims: object) => {
      const verdict = await judge(token({ alg: 'EdDSA', kid: 'd1' }, byEd, claims))
      return verdict.ok ? null : verdict.problem
    }
    expect(await said({ ...CLAIMS, aud: ['other', 'switchboard'] })).toBeNull()
    expect(await said({ ...CLAIMS, exp: NOW_S - 29 })).toBeNull()
    expect(await said({ ...CLAIMS, iss: 'https://issuer.example.com' })).toBe('its issuer is another')
    expect(await said({ ...CLAIMS, aud: 'switchboard2' })).toBe('it is for another audience')
    expect(await said({ ...CLAIMS, aud: undefined })).toBe('it is for another audience')
    expect(await said({ ...CLAIMS, exp: undefined })).toBe('it has no time of expiry')
    expect(await said({ ...CLAIMS, exp: NOW_S - 30 })).toBe('it has expired')
    expect(await said({ ...CLAIMS, nbf: NOW_S + 60 })).toBe('it is not valid yet')
  })
})

describe('[I35.b46-verify] the keys of an issuer', () => {
  it('are asked for once, again for a new key, and not for every token that is made up', async () => {
    const { clock, list, holds } = opened(KEYS.slice(0, 1))
    const good = token({ alg: 'RS256', kid: 'r1' }, byRsa)
    expect(await Promise.all([holds(good), holds(good), holds(good)])).toEqual([true, true, true])
    expect(list.asked).toBe(1)
    list.keys = KEYS
    const byNewKey = token({ alg: 'EdDSA', kid: 'd1' }, byEd)
    for (let n = 0; n < 5; n++) expect(await holds(byNewKey)).toBe(false)
    expect(list.asked).toBe(1)
    await clock.advance(30_000)
    expect(await holds(byNewKey)).toBe(true)
    expect(list.asked).toBe(2)
    // A removed key stops counting.
    list.keys = KEYS.slice(1)
    const claims = { ...CLAIMS, exp: NOW_S + 10_000 }
    const lasting = token({ alg: 'RS256', kid: 'r1' }, byRsa, claims)
    expect(await holds(lasting)).toBe(true)
    await clock.advance(600_001)
    expect(await holds(lasting)).toBe(false)
  })

  it('that cannot be had say nothing about a token; those that are known go on counting', async () => {
    const { clock, list, holds } = opened(KEYS)
    list.away = true
    const good = token({ alg: 'RS256', kid: 'r1' }, byRsa, { ...CLAIMS, exp: NOW_S + 10_000 })
    await expect(holds(good)).rejects.toMatchObject({ code: 'platform_unavailable' })
    list.away = false
    list.status = 500
    await expect(holds(good)).rejects.toMatchObject({ code: 'platform_unavailable' })
    list.status = 200
    expect(await holds(good)).toBe(true)
    list.away = true
    await clock.advance(600_001)
    expect(await holds(good)).toBe(true)
  })

  it('that cannot be had are a problem until they can, also when no other token comes', async () => {
    const { clock, list, holds, problem } = opened(KEYS)
    expect([problem(), list.asked]).toEqual([null, 0])
    list.away = true
    await expect(holds(token({ alg: 'RS256', kid: 'r1' }, byRsa))).rejects.toThrow()
    expect([problem(), list.asked]).toEqual(['the keys of the issuer cannot be had: away', 1])
    list.away = false
    await clock.advance(30_000)
    problem()
    await clock.advance(0)
    expect([problem(), list.asked]).toEqual([null, 2])
  })

  it('that are none, too short or for something else do not count', async () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 })
    const { holds } = opened([
      null,
      'x',
      { kty: 'oct', k: Buffer.from(SECRET).toString('base64url') },
      { kty: 'RSA', n: 'x' },
      published(short.publicKey, { kid: 's1' }),
      published(rsa.publicKey, { kid: 'enc', use: 'enc' }),
    ])
    const byShort = (text: Buffer) => sign('sha256', text, short.privateKey)
    expect(await holds(token({ alg: 'RS256', kid: 's1' }, byShort))).toBe(false)
    expect(await holds(token({ alg: 'RS256', kid: 'enc' }, byRsa))).toBe(false)
    expect(await holds(token({ alg: 'HS256' }, hmac(256)))).toBe(false)
  })
})

it('[I35.b46-verify] the signed example of RFC 8037 (Ed25519) holds by its own key', async () => {
  // Appendix A.1 and A.4: a foreign signer, over a payload that is not a set of claims.
  const key = {
    ...{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  }
  const signer = createPrivateKey({ key, format: 'jwk' })
  const text = Buffer.from('eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc')
  expect(sign(null, text, signer).toString('base64url')).toBe(
    'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  )
  const { d: _, ...published } = key
  const { holds } = opened([published])
  expect(await holds(token({ alg: 'EdDSA' }, (signed) => sign(null, signed, signer)))).toBe(true)
})
