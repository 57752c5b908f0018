// Standard Webhooks against the reference library: each side verifies the other's signatures.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { signStandard, standardKey, verifyStandard } from './standard-webhooks.ts'

const NOW = 1_774_000_000_000
const BODY = '{"type":"invoice.paid","note":"grün"}'
const SECRET = `whsec_${randomBytes(24).toString('base64')}`
const OTHER = `whsec_${randomBytes(24).toString('base64')}`
const keys = (...secrets: string[]) => secrets.map(standardKey)

const theirs = (secret: string, atMs = NOW, id = 'msg_1', body = BODY) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(atMs / 1000)),
  'webhook-signature': new Webhook(secret).sign(id, new Date(atMs), body),
})
const judge = (secrets: string[], headers: Record<string, string | string[]>, body = BODY) =>
  verifyStandard(keys(...secrets), { headers, body, nowMs: NOW })

describe('Standard Webhooks', () => {
  it('[I17.standard-interop] what the reference library signs is taken, with its id', () => {
    expect(judge([SECRET], theirs(SECRET))).toEqual({ ok: true, id: 'msg_1', atMs: NOW })
    const svix = Object.fromEntries(
      Object.entries(theirs(SECRET)).map(([name, value]) => [name.replace('webhook', 'svix'), value]),
    )
    expect(judge([SECRET], svix).ok).toBe(true)
    expect(judge([SECRET], theirs(SECRET), `${BODY} `)).toEqual({ ok: false, problem: 'signature' })
    expect(judge([OTHER], theirs(SECRET))).toEqual({ ok: false, problem: 'signature' })
    expect(judge([], theirs(SECRET)).ok).toBe(false)
  })

  it('[I17.standard-interop] what we sign is taken by the reference library', () => {
    const now = Date.now()
    const headers = signStandard(keys(SECRET), { id: 'o_1', atMs: now, body: BODY })
    expect(new Webhook(SECRET).verify(BODY, { ...headers })).toEqual(JSON.parse(BODY))
    expect(() => new Webhook(OTHER).verify(BODY, { ...headers })).toThrow()
    const plain = Buffer.from('a secret of words').toString('base64')
    const unprefixed = signStandard(keys(plain), { id: 'o_1', atMs: now, body: BODY })
    expect(() => new Webhook(plain).verify(BODY, { ...unprefixed })).not.toThrow()
    const raw = signStandard(keys('not-base64!'), { id: 'o_1', atMs: now, body: BODY })
    expect(() => new Webhook('not-base64!', { format: 'raw' }).verify(BODY, { ...raw })).not.toThrow()
  })

  it('[I17.rotation] several keys: those who have the old one and those who have the new one are understood', () => {
    const rotating = signStandard(keys(OTHER, SECRET), { id: 'o_1', atMs: NOW, body: BODY })
    expect(rotating['webhook-signature'].split(' ')).toHaveLength(2)
    for (const secret of [SECRET, OTHER]) {
      expect(judge([secret], { ...rotating }).ok).toBe(true)
      expect(judge([SECRET, OTHER], theirs(secret)).ok).toBe(true)
    }
    const half = {
      ...theirs(SECRET),
      'webhook-signature': `v1,${'A'.repeat(44)} ${theirs(SECRET)['webhook-signature']}`,
    }
    expect(judge([SECRET], half).ok).toBe(true)
  })

  it('[I17.tolerance] a time of tomorrow, or of ten minutes ago, does not count', () => {
    for (const [atMs, ok] of [
      [NOW - 300_000, true],
      [NOW + 300_000, true],
      [NOW - 301_000, false],
      [NOW + 301_000, false],
      [NOW + 86_400_000, false],
    ] as const)
      expect(judge([SECRET], theirs(SECRET, atMs)).ok).toBe(ok)
    expect(judge([SECRET], theirs(SECRET, NOW - 301_000))).toEqual({ ok: false, problem: 'time' })
  })

  it('[I17.bad-headers] whatever the headers hold, nothing is thrown and nothing is taken', () => {
    const good = theirs(SECRET)
    for (const bad of [
      {},
      { ...good, 'webhook-id': '' },
      { ...good, 'webhook-id': ['msg_1', 'msg_1'] },
      { ...good, 'webhook-timestamp': 'now' },
      { ...good, 'webhook-timestamp': '1e9' },
      { ...good, 'webhook-timestamp': '-1' },
      { ...good, 'webhook-signature': '' },
      { ...good, 'webhook-signature': 'v1' },
      { ...good, 'webhook-signature': 'v1,' },
      { ...good, 'webhook-signature': 'v1,AAAA' },
      { ...good, 'webhook-signature': good['webhook-signature'].replace('v1,', 'v2,') },
      { ...good, 'webhook-signature': `${'v1,AAAA '.repeat(100)}${good['webhook-signature']}` },
    ])
      expect(judge([SECRET], bad).ok).toBe(false)
  })

  it('[I17.ed25519] a pair of keys: one signs, the other verifies, and it alone signs nothing', () => {
    const pair = generateKeyPairSync('ed25519')
    const seed = pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
    const point = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
    const own = `whsk_${Buffer.concat([seed, point]).toString('base64')}`
    const theirKey = `whpk_${point.toString('base64')}`
    const signed = signStandard(keys(own), { id: 'o_1', atMs: NOW, body: BODY })
    expect(signed['webhook-signature']).toMatch(/^v1a,/)
    expect(judge([theirKey], { ...signed }).ok).toBe(true)
    expect(judge([theirKey], { ...signed }, 'other').ok).toBe(false)
    expect(signStandard(keys(theirKey), { id: 'o_1', atMs: NOW, body: BODY })['webhook-signature']).toBe('')
    for (const bad of ['whsec_***', 'whpk_AAAA', 'whsk_AAAA'])
      expect(() => standardKey(bad)).toThrow(TypeError)
  })
})
