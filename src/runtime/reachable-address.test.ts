// The address by which a phone reaches the daemon, and the warning if it cannot.
import { describe, expect, it } from 'vitest'
import { reachableAddress } from './reachable-address.ts'

const card = (address: string, more = {}) => ({ address, family: 'IPv4', internal: false, ...more })
const NETWORK = {
  lo: [card('127.0.0.1', { internal: true })],
  en0: [card('fe80::1', { family: 'IPv6' }), card('169.254.3.4'), card('192.168.1.20')],
}

describe('[I18.link-address] another device is led to', () => {
  it.each([
    ['https://sb.example.com', 'https://sb.example.com'],
    ['http://192.168.1.7:4747', 'http://192.168.1.7:4747'],
    ['http://0.0.0.0:4747', 'http://192.168.1.20:4747'],
    ['http://[::]:4747', 'http://192.168.1.20:4747'],
  ])('%s: %s', (base, found) => {
    expect(reachableAddress(base, NETWORK)).toEqual({ base: found, warning: null })
  })
})

describe('[I18.link-unreachable] it is said that nobody else gets in', () => {
  it.each(['http://127.0.0.1:4747', 'http://localhost:4747', 'http://[::1]:4747'])('%s', (base) => {
    const found = reachableAddress(base, NETWORK)
    expect(found.base).toBe(base)
    expect(found.warning).toMatch(/only this machine reaches .*server\.public_url.*server\.host/)
  })

  it('on a machine without a network', () => {
    expect(reachableAddress('http://0.0.0.0:4747', { lo: NETWORK.lo }).warning).toContain('on no network')
  })
})
